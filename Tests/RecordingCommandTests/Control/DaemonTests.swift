// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Utter
@testable import UtterControl

/// `utter daemon`: the same commands find it, and what it keeps ready.
@Suite struct DaemonTests {
    @Test func theSameCommandsFindItAndItGoesOn() async throws {
        let bench = try ControlBench(
            RecordingServer(
                scripts: [.answer(text: "one"), .answer(text: "two")],
                otherwise: .answer(text: "three")))
        let daemon = try await bench.daemon()
        for (number, text) in ["one", "two"].enumerated() {
            #expect(try await bench.dictate(number).outputText == "\(text)\n")
        }
        #expect(try await bench.run("toggle").status == .exited(0))
        _ = try #require(await bench.server.wait(untilBytes: 8_000, ofRequest: 2))
        #expect(try await bench.run("toggle").outputText == "three\n")
        #expect(try await bench.run("stop").status == .exited(67))
        let status = try ParsedJSON(await bench.run("status", "--json").output)
        #expect(status["isDaemon"] == .bool(true))
        #expect(status["process"] == .number(Double(daemon.processIdentifier)))
        try await daemon.terminate()
        #expect(!bench.hasSocket)
        // Without metrics no request is traced.
        #expect(bench.server.requests.allSatisfy { $0["traceparent"] == nil })
        // The card is closed between takes.
        #expect(bench.card.account.opens == 3)
        #expect(bench.card.account.closes == 3)
    }

    @Test func optionsThatWouldNotCountAreRefused() async throws {
        let bench = try ControlBench(.hearing("not for it"))
        let daemon = try await bench.daemon()
        for words in [
            ["start", "--to", "http://127.0.0.1:9/"], ["toggle", "--to", "http://127.0.0.1:9/"],
            ["start", "--service", "./mine.toml"], ["start", "--device", "other"],
            ["start", "-c", "recording.min=0"], ["start", "--no-keep"],
            ["start", "--encrypt-key", "key"],
            ["start", "--service", "deepgram", "--model", "nova-3"],
        ] {
            let result = try await bench.bench.start(words).result()
            #expect(result.status == .exited(64), "\(words)")
            #expect(
                result.errorText.hasPrefix(
                    "utter: error: 'utter daemon' records, and knows nothing of these options\n"
                        + "utter: hint: leave them out, but for -q, --service and --preset with a name, "
                        + "and --copy, --type and --notify at the same machine; give them to that command when it begins, or "
                        + "write them into its settings: utter config edit\n"))
        }
        // What counts where the command is, and nothing, are no such options.
        #expect(try await bench.run("start", "-q").status == .exited(0))
        #expect(try await bench.run("cancel").status == .exited(0))
        try await daemon.terminate()
        #expect(bench.card.account.opens <= 1)
    }

    @Test func aRequestNamesAServiceOfTheDaemonsSettings() async throws {
        let other = try RecordingServer.hearing("another service")
        let bench = try ControlBench(.hearing("usual"))
        try bench.bench.configure(
            """
            [services.other]
            profile = "whisper-cpp"
            url = "\(other.url())"

            """)
        let daemon = try await bench.daemon()
        let words = [
            ["start", "--service", "other"], ["toggle"], ["toggle", "--service", "other"],
        ]
        for (number, words) in words.enumerated() {
            let start = try await bench.bench.start(words).result()
            #expect(start.status == .exited(0), "\(start.errorText)")
            let isUsual = words.count == 1
            _ = try #require(
                await (isUsual ? bench.server : other).wait(
                    untilBytes: 6_400, ofRequest: isUsual ? 0 : number / 2))
            let text = isUsual ? "usual\n" : "another service\n"
            #expect(try await bench.run("stop").outputText == text)
        }
        for name in ["none-such", "--help"] {
            let unknown = try await bench.run("start", "--service=\(name)")
            #expect(unknown.status == .exited(64))
            #expect(unknown.errorText.contains(name))
        }
        // By name alone, whoever asks.
        let client = try bench.ask("start", #","service":"/tmp/a.toml""#)
        #expect(try await client.rest().contains("cannot be the name of a service"))
        #expect(try await bench.status().phase == .idle)
        try await daemon.terminate()
        #expect(other.requests.count == 2 && bench.server.requests.count == 1)
    }

    @Test func aStartComesBackOnceSomethingIsRecordedAndSigtermSavesIt() async throws {
        let bench = try ControlBench(.hearing("never"))
        let daemon = try await bench.daemon()
        bench.card.setHanging()
        let start = try bench.start("start")
        #expect(try await bench.reaches(.arming))
        #expect(start.status == nil && !start.errorText.contains("recording take"))
        bench.card.setHanging(false)
        #expect(try await start.result().status == .exited(0))
        #expect(try await bench.status().phase == .recording)
        _ = try #require(await bench.server.wait(untilBytes: 16_000))
        try await daemon.terminate()
        #expect(!bench.hasSocket)
        let take = try #require(try bench.bench.onlyTake())
        #expect(try take.manifest["state"] == .string("kept"))
        #expect(try #require(try take.samples).count >= 16_000)
    }

    /// A filter of the preset is a command of this machine, and for those who press here.
    @Test(arguments: [false, true])
    func aRequestNamesAPreset(_ hasDaemon: Bool) async throws {
        let bench = try ControlBench(.hearing("as usual"), ["UTTER_FOREGROUND": "false"])
        // A link into the folder where a person keeps such files: a change is one of the file.
        let own = try bench.bench.folder.write([], to: "dotfiles.toml")
        bench.bench.makeConfigurationFolder()
        #expect(symlink(own, bench.bench.configurationPath) == 0)
        try bench.bench.configure("[presets.loud]\noutput.filter = \"tr a-z A-Z\"\n")
        let daemon = hasDaemon ? try await bench.daemon() : nil
        var texts: [String] = []
        for (number, options) in [["--preset", "loud"], [], ["--preset", "loud"]].enumerated() {
            let start = try await bench.bench.start(["start"] + options).result()
            #expect(start.status == .exited(0), "\(start.errorText)")
            _ = try #require(await bench.server.wait(untilBytes: 6_400, ofRequest: number))
            texts.append(try await bench.run("stop").outputText)
        }
        #expect(texts == ["AS USUAL\n", "as usual\n", "AS USUAL\n"])
        let unknown = try await bench.run("start", "--preset=none-such")
        #expect(unknown.status == .exited(78))
        #expect(unknown.errorText.contains("the settings have 'loud'"))
        guard let daemon else { return }
        let client = try bench.ask("start", #","preset":"loud""#)
        _ = try #require(await bench.server.wait(untilBytes: 6_400, ofRequest: 3))
        #expect(try await bench.run("stop").outputText == "as usual\n")
        _ = try await client.rest()
        // A change that a press with a preset has found first counts for all.
        try bench.bench.configure(
            "[output]\nfilter = \"sed s/as/AS/\"\n[presets.loud]\nlanguage = \"en\"\n")
        for (number, options) in [["--preset", "loud"], []].enumerated() {
            _ = try await bench.bench.start(["start"] + options).result()
            _ = try #require(await bench.server.wait(untilBytes: 6_400, ofRequest: 4 + number))
            #expect(try await bench.run("stop").outputText == "AS usual\n")
        }
        try await daemon.terminate()
    }

    @Test func theFileOfSettingsIsReadAgainWhenItHasChanged() async throws {
        let bench = try ControlBench(.hearing("as told"))
        bench.bench.makeConfigurationFolder()
        let daemon = try await bench.daemon()
        for (number, (format, beginning)) in [("wav", "RIFF"), ("flac", "fLaC")].enumerated() {
            try bench.bench.configure("format = \"\(format)\"\n")
            #expect(try await bench.dictate(number).outputText == "as told\n")
            let request = try #require(bench.server.requests.last)
            #expect(Array(request.body.prefix(4)) == Array(beginning.utf8))
        }
        try bench.bench.configure("no-such-thing = 1\n")
        let wrong = try await bench.run("start")
        #expect(wrong.status == .exited(78))
        #expect(wrong.errorText.contains("no-such-thing"))
        try await daemon.terminate()
    }

    @Test func aPreRollBeginsBeforeTheKey() async throws {
        let bench = try ControlBench(.hearing("before"))
        let daemon = try await bench.daemon("--pre-roll", "500ms")
        #expect(await comesTrue { bench.card.account.captured >= 16_000 })
        let captured = bench.card.account.captured
        #expect(try await bench.dictate(bytes: 20_000).outputText == "before\n")
        let body = try #require(await bench.server.finishedRequest()).body
        let samples = (0..<body.count / 2).map {
            Int16(truncatingIfNeeded: Int(body[2 * $0]) | Int(body[2 * $0 + 1]) << 8)
        }
        let begin = try #require(
            (0..<480_000).first { start in
                samples.indices.allSatisfy {
                    samples[$0] == VirtualMicrophone.sample(at: start + $0)
                }
            })
        // What it had when start was called is at most 500 ms before that, and not from the first;
        // the period in hand may not have been read.
        #expect(begin > 0)
        #expect(begin > captured - 8_000 - 320)
        #expect(bench.card.account.opens == 1)
        try await daemon.terminate()
        #expect(bench.card.account.closes == 1)
    }
}
