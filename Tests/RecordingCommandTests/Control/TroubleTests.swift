// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter
@testable import UtterCommands
@testable import UtterControl

/// What a status and the desktop say of a take that gets no text, or is not kept.
@Suite struct TroubleTests {
    private static let refusing: [ServerStep] = [
        .readHead, .readBody(bytes: 3_200), .respond(status: 401, text: "no <b> token"),
    ]

    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.add("notify-send")
    }

    /// What the desktop was told: the arguments of the program.
    private func told() async -> [String] {
        let isTold = await comesTrue { [desk] in desk.text(of: "notify-send") != nil }
        #expect(isTold)
        return desk.arguments(of: "notify-send")
    }

    /// The beginning of a refusal in a status.
    private static let refused = #"{"kind":"refused","reason":""#

    /// Stops what a daemon records once that is refused, and waits for its end.
    private func stopRefused(at bench: ControlBench) async throws {
        #expect(try await bench.ask("follow").hears(Self.refused))
        #expect(try await bench.run("stop").status == .exited(77))
        #expect(try await bench.reaches(.idle))
    }

    @Test(
        arguments: [
            ("refused", Self.refusing, [:], "401: no <b> token"),
            ("offline", Self.refusing, ["UTTER_URL": "http://127.0.0.1:9/"], "cannot connect to"),
            ("unkept", .answer(text: "go"), ["XDG_STATE_HOME": "/dev/null"], "in memory only"),
        ] as [(String, [ServerStep], [String: String], String)])
    func statusSaysWhatIsWrongWhileItIsAndInItsWords(
        _ kind: String, _ script: [ServerStep], _ variables: [String: String], _ words: String
    ) async throws {
        let bench = try ControlBench(RecordingServer(otherwise: script), variables)
        let start = try bench.start("start")
        let bar = try bench.start("status", "--follow", "--waybar")
        #expect(await bar.wait(for: #""class":"\#(kind)""#, in: .output))
        #expect(await bar.wait(for: DesktopNotice.escaped(words), in: .output))
        #expect(try await bench.reaches(.recording))
        let status = try await bench.status()
        let (plain, json) = (status.line(as: .plain), status.line(as: .json))
        #expect(plain.hasPrefix("recording  ") && plain.contains("  \(kind): "), "\(plain)")
        #expect(plain.contains(words), "\(plain)")
        #expect(json.contains(#""troubles":[{"kind":"\#(kind)","reason":""#), "\(json)")
        _ = try await bench.ask("cancel").rest()
        _ = try await start.result()
        #expect(await bar.wait(for: #""class":"idle""#, in: .output))
    }

    @Test func theDesktopIsToldOfARefusalWhileOneSpeaksAndWithoutWords() async throws {
        let server = try RecordingServer(otherwise: Self.refusing)
        let bench = try ControlBench(
            server,
            desk.console.merging(["UTTER_URL": server.url() + "?key=s3cret"]) { $1 })
        let start = try bench.start("start", "--notify")
        let told = await told()
        #expect(told.dropLast() == ["--app-name=utter", "--", "utter"])
        let body =
            #/127.0.0.1:\d+ does not accept the token; send it again with: utter retry \w{6}/#
        let isWhole = told.last?.wholeMatch(of: body) != nil
        #expect(isWhole, "\(told)")
        #expect(!desk.environment(of: "notify-send").contains("s3cret"))
        #expect(try await bench.run("stop").status == .exited(77))
        _ = try await start.result()
    }

    /// The daemon has neither the option nor the setting.
    @Test func aDaemonTellsTheDesktopOfTheTakeWhosePressSaysSo() async throws {
        let bench = try ControlBench(RecordingServer(otherwise: Self.refusing), desk.console)
        let daemon = try await bench.daemon()
        for words in [["start"], ["toggle"], ["toggle", "--notify"]] {
            let press = try await bench.bench.start(words).result()
            #expect(press.status == .exited(0), "\(press.errorText)")
            try await stopRefused(at: bench)
            if words.count == 1 { #expect(desk.text(of: "notify-send") == nil) }
        }
        #expect(await told().last?.contains(" does not accept the token; send it ") == true)
        try await daemon.terminate()
    }

    @Test func aDaemonGivesNoProgramAVariableThatHasBecomeASecrets() async throws {
        let variables = desk.console.merging(["MINE": "s3cret"]) { $1 }
        let bench = try ControlBench(RecordingServer(otherwise: Self.refusing), variables)
        let daemon = try await bench.daemon()
        for isSecret in [false, true] {
            #expect(try await bench.run("start", "--notify").status == .exited(0))
            try await stopRefused(at: bench)
            let isScrubbed = await comesTrue { [desk] in
                let given = desk.environment(of: "notify-send")
                return given.contains("PATH=") && given.contains("s3cret") != isSecret
            }
            #expect(isScrubbed)
            try bench.bench.configure(
                """
                [services.mine]
                profile = "openai"
                token-variable = "MINE"

                """)
        }
        try await daemon.terminate()
    }

    @Test func theDesktopIsToldOfATextThatIsNotTyped() async throws {
        try desk.add("wtype", then: "exit 1")
        let bench = try ControlBench(.hearing("the words"), desk.wayland)
        try bench.bench.configure("[output]\nnotify = true\n")
        let start = try await bench.record()
        let stop = try await bench.run("stop", "--type")
        #expect(stop.status == .exited(74) && stop.outputText == "the words\n")
        _ = try await start.result()
        let body = #/the text by 127.0.0.1:\d+ went nowhere; print it with: utter show \w{6}/#
        let isWhole = await told().last?.wholeMatch(of: body) != nil
        #expect(isWhole)
    }

    @Test(arguments: [["--no-keep"], ["--encrypt-key"]])
    func ofATakeThatIsSecretTheDesktopIsNotTold(_ option: [String]) async throws {
        let bench = try ControlBench(
            RecordingServer(otherwise: Self.refusing), desk.console)
        var words = ["start", "--notify"] + option
        if option == ["--encrypt-key"] {
            words.append(bench.bench.folder.path("key"))
            _ = try await bench.run("key", "new", bench.bench.folder.path("key"))
        }
        let start = try bench.bench.start(words)
        #expect(await bench.isAnswered())
        #expect(try await bench.ask("follow").hears(Self.refused))
        #expect(try await bench.run("stop").status == .exited(77))
        _ = try await start.result()
        #expect(desk.text(of: "notify-send") == nil)
    }
}
