// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import OperatorMetrics
internal import UtterTerminal

package struct MetricsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Tell numbers there for Prometheus, such as 127.0.0.1:9464 or unix:/run/utter.sock.",
            valueName: "place"))
    var metrics: String?

    @Option(
        help: ArgumentHelp(
            "A file with the token that a reader of the numbers must show.", valueName: "file"),
        completion: .file())
    var metricsTokenFile: String?

    package init() {}

    package func validate() throws {
        guard let metrics else {
            if metricsTokenFile == nil { return }
            throw ValidationError("--metrics-token-file needs --metrics.")
        }
        guard let place = MetricsPlace(metrics) else {
            throw ValidationError(
                "--metrics must be an address in digits and a port, such as 127.0.0.1:9464, "
                    + "or unix: and a path.")
        }
        guard metricsTokenFile != nil || !place.isOpen else {
            throw ValidationError(
                "--metrics needs --metrics-token-file where other machines can reach it.")
        }
    }

    /// Tells the numbers from now on; nil when that is not wanted.
    package func serve(
        _ source: MetricsServer.Source
    ) throws(CommandFailure) -> MetricsServer? {
        guard let place = metrics.flatMap({ MetricsPlace($0) }) else { return nil }
        let token = try metricsTokenFile.map { path throws(CommandFailure) in
            try SecretFile.read(path, option: "--metrics-token-file")
        }
        guard token?.isEmpty != true else {
            throw CommandFailure(
                "the token of --metrics-token-file is empty", status: .configuration)
        }
        let server = try explained(
            "--metrics", hint: "choose another place", status: .configuration
        ) {
            try MetricsServer(at: place, token: token, source)
        }
        if case .port(let address, 0) = place {
            StandardError.line("numbers at http://\(address):\(server.port)/metrics")
        }
        return server
    }
}
