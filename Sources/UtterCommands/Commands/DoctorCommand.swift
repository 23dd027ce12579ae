// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import Utter
internal import UtterTerminal

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check microphone, service, settings, recordings and installation.",
        discussion: """
            Two seconds of the microphone are listened to, and kept nowhere. The service gets
            half a second of a quiet tone, as a recording would be sent; some charge for it.
            An archive is asked for uploads that began more than a day ago and never ended; at a
            terminal, doctor offers to drop them. The exit status is 0 unless something is broken.
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

    /// All of them, in the order in which they are made.
    private var all: [any Check] {
        [
            MicrophoneCheck(options: microphone), ServiceCheck(options: service),
            ConfigurationCheck(), StateCheck(asks: !json && Dialogue.isPossible),
            InstallationCheck(),
        ]
    }

    private struct Row {
        var check: String
        var findings: [Finding]
    }

    func validate() throws {
        let names = all.map(\.name)
        if let unknown = checks.first(where: { !names.contains($0) }) {
            throw ValidationError(
                "there is no check '\(unknown)'; there are \(names.joined(separator: ", ")).")
        }
    }

    func run() async throws {
        var rows: [Row] = []
        for check in all where checks.isEmpty || checks.contains(check.name) {
            let row = Row(check: check.name, findings: await check.run())
            rows.append(row)
            // As soon as it is known: some take seconds.
            if !json { try say(Self.text(row)) }
        }
        let isBroken = rows.contains { $0.findings.contains { $0.verdict == .bad } }
        if json { try say(Self.json(rows, isGood: !isBroken)) }
        if isBroken { throw ExitStatus.configuration.code }
    }

    private func say(_ text: String) throws {
        try StandardOutput.show(text)
    }

    private static func text(_ row: Row) -> String {
        row.findings.map { finding in
            let mark =
                switch finding.verdict {
                case .good: "ok"
                case .warning: "warning"
                case .bad: "broken"
                }
            let line =
                TextWidth.padded(row.check, to: 14) + TextWidth.padded(mark, to: 9)
                + TerminalText.singleLine(finding.text)
            let indent = "\n" + String(repeating: " ", count: 23)
            return line + (finding.hint.map { indent + $0 } ?? "")
        }.joined(separator: "\n")
    }

    private static func json(_ rows: [Row], isGood: Bool) -> String {
        let checks = rows.map { row -> JSONObject in
            ["check": row.check, "findings": row.findings.map(\.object)]
        }
        return JSONOutput.text(["isGood": isGood, "checks": checks] as JSONObject)
    }
}
