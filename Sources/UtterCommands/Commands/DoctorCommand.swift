// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import Utter
internal import UtterSettings
internal import UtterTerminal

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check microphone, service, settings, recordings and installation.",
        discussion: """
            Two seconds of the microphone are listened to, and kept nowhere. The service gets
            half a second of a quiet tone, as a recording would be sent; some charge for it.
            An archive, and stores to which takes went, are asked for uploads that began more than
            a day ago and never ended; at a terminal, doctor offers to drop them, and to forget
            the length of recordings that a service has refused. The exit status is 0 unless
            something is broken.
            """)

    @Argument(
        help:
            "What to check: microphone, service, settings, recordings, installation. (default: all)"
    )
    var checks: [String] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup(title: "Microphone")
    var microphone: MicrophoneOptions

    @OptionGroup(title: "Service")
    var service: ServiceOptions

    private var all: [any Check] {
        [
            MicrophoneCheck(options: microphone), ServiceCheck(options: service),
            ConfigurationCheck(), StateCheck(asks: !json && Dialogue.isPossible),
            InstallationCheck(),
        ]
    }

    func validate() throws {
        let names = all.map(\.name)
        if let unknown = checks.first(where: { !names.contains($0) }) {
            throw ValidationError(
                "there is no check '\(unknown)'; there are \(names.joined(separator: ", ")).")
        }
    }

    func run() async throws {
        // The check of the settings says what is wrong with them.
        Configuration.doWithout(isDone: checks.isEmpty || checks.contains("settings"))
        var rows: [JSONObject] = []
        var isBroken = false
        for check in all where checks.isEmpty || checks.contains(check.name) {
            let findings = await check.run()
            rows.append(["check": check.name, "findings": findings.map(\.object)])
            if findings.contains(where: { $0.verdict == .bad }) { isBroken = true }
            // As soon as it is known: some take seconds.
            if !json { try StandardOutput.show(Self.text(findings, of: check.name)) }
        }
        if json {
            let report: JSONObject = ["isGood": !isBroken, "checks": rows]
            try StandardOutput.show(JSONOutput.text(report))
        }
        if isBroken { throw ExitStatus.configuration.code }
    }

    private static func text(_ findings: [Finding], of check: String) -> String {
        findings.map { finding in
            let mark =
                switch finding.verdict {
                case .good: "ok"
                case .warning: "warning"
                case .bad: "broken"
                }
            let head = TextWidth.padded(check, to: 14) + TextWidth.padded(mark, to: 9)
            return StandardOutput.folded(
                [finding.text, finding.hint].compactMap { $0.map(TerminalText.singleLine) },
                behind: head)
        }.joined(separator: "\n")
    }
}
