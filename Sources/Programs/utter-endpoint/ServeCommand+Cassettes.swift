// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Cassettes
import RecognitionEndpoint
import Utter
import UtterCommands
internal import UtterTerminal

extension ServeCommand {
    func replay() async throws {
        var cassettes: [Cassette] = []
        do throws(CassetteError) {
            for path in cassette { cassettes += try Cassette.load(path) }
        } catch {
            var hint: String? = "make one with: utter send --cassette FOLDER FILE"
            if case .file(_, let error) = error { hint = Hints.ofFile(error) }
            throw CommandFailure(
                "--cassette: \(error.description)", hint: hint, status: .configuration)
        }
        let server = CassetteServer.make(
            cassettes, host: host, port: port, speed: speed,
            onRequest: { [verbose, quiet] in
                // A reader that is too slow misses lines; the server does not wait for it.
                guard StandardError.isWritable else { return }
                Self.tell($0, verbose: verbose, quiet: quiet)
            })
        let target = cassettes[0].request.target
        try await serve(server) { [host, quiet] port in
            guard !quiet else { return }
            StandardError.line("listening on \(Self.url(host, port))\(Self.safe(target))")
        }
    }

    private static func tell(_ served: CassetteServer.Served, verbose: Bool, quiet: Bool) {
        let name = "cassette \(served.number + 1), \(safe(served.name))"
        if !served.differences.isEmpty {
            let lines = served.differences.map(safe).joined(separator: "; ")
            StandardError.line("\(name): \(lines)")
        } else if verbose {
            StandardError.line("\(name): answered, \(served.byteCount) bytes came")
        }
    }

    private static func safe(_ text: String) -> String {
        TerminalText.singleLine(TerminalText.sanitized(text))
    }
}

extension CassetteServer.Speed: ExpressibleByArgument {
    package init?(argument: String) {
        if argument == "max" {
            self = .max
        } else if let factor = Double(argument), factor >= 0.01, factor <= 1_000 {
            self = .factor(factor)
        } else {
            return nil
        }
    }
}
