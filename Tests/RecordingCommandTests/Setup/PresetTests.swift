// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Settings under a name: how far they reach.
@Suite struct PresetTests {
    private static let key = "utter-key-" + String(repeating: "0123456789abcdef", count: 4)

    /// All takes of a recorder are stored in one way.
    @Test func aDaemonRefusesAPresetThatStoresTakesInAnotherWay() async throws {
        let bench = try ControlBench(.hearing("between us"))
        let key = try bench.bench.folder.write(Array(Self.key.utf8), to: "key")
        try bench.bench.configure(
            """
            [presets.secret]
            encryption.key-file = "\(key)"
            [presets.strict]
            keep.required = true
            [presets.stored]
            archive.to = "s3://voices/{id}.{ext}"

            """)
        let open = try await bench.daemon()
        for (preset, setting) in [
            ("secret", "encryption.key-file"), ("strict", "keep.required"),
            ("stored", "archive.to"),
        ] {
            let refused = try await bench.run("start", "--preset", preset)
            #expect(refused.status == .exited(64))
            let words = """
                the preset '\(preset)' says \(setting), and the utter that records stores all takes \
                as it was told when it began
                utter: hint: begin that one with the preset, such as: utter daemon --preset \(preset)

                """
            #expect(refused.errorText.contains(words), "\(refused.errorText)")
        }
        try await open.terminate()
        #expect(try bench.bench.takes().isEmpty)
        let daemon = try await bench.daemon("--preset", "secret")
        #expect(try await bench.run("start", "--preset", "secret").status == .exited(0))
        _ = try #require(await bench.server.wait(untilBytes: 8_000))
        #expect(try await bench.run("cancel").status == .exited(0))
        try await daemon.terminate()
        let take = try #require(try bench.bench.onlyTake())
        #expect(take.names == ["audio.wav.encrypted", "take.json"])
    }

    /// The key of a preset goes before that of a variable, as its other settings do.
    @Test func theKeyOfAPresetGoesBeforeThatOfAVariable() async throws {
        let bench = try Bench(["UTTER_ENCRYPT_KEY_FILE": "/no/such/key"])
        let key = try bench.folder.write(Array(Self.key.utf8), to: "key")
        try bench.configure("[presets.secret]\nencryption.key-file = \"\(key)\"\n")
        let take = try await bench.keep(.goForward, "--preset", "secret")
        #expect(take.names == ["audio.wav.encrypted", "take.json"])
    }

    /// As `--keep-audio` does: the audio of earlier takes stays as long as it was to.
    @Test func aPresetSaysHowLongTheAudioOfItsOwnTakesStays() async throws {
        let bench = try ControlBench(.hearing("heard"), ["UTTER_KEEP_AUDIO": "1d"])
        try bench.bench.configure("[presets.short]\nkeep.audio = \"0\"\n")
        let preset = ["--preset", "short"]
        var ids: [String] = []
        func note() throws { ids += try bench.bench.takes().map(\.id).filter { !ids.contains($0) } }
        for options in [[], preset, ["-c", "keep.audio=0"]] {
            let file = try bench.bench.fresh(.goForward)
            let sent = try await bench.bench.start(["send"] + options + [file]).result()
            #expect(sent.outputText == "heard\n", "\(sent.errorText)")
            try note()
        }
        let daemon = try await bench.daemon()
        for options in [[], preset] {
            let number = bench.server.requests.count
            let start = try await bench.bench.start(["start"] + options).result()
            #expect(start.status == .exited(0), "\(start.errorText)")
            _ = try #require(await bench.server.wait(untilBytes: 8_000, ofRequest: number))
            #expect(try await bench.run("stop").outputText == "heard\n")
            try note()
        }
        try await daemon.terminate()
        let audible = try bench.bench.takes().filter { try $0.samples != nil }.map(\.id)
        #expect(ids.map(audible.contains) == [true, false, false, true, false])
    }

    /// The voice goes where the daemon's options say, unless the preset says where.
    @Test func aPresetThatNamesNoServiceLeavesThatOfTheDaemon() async throws {
        let own = try RecordingServer.hearing("as usual")
        let bench = try ControlBench(.hearing("elsewhere"))
        try bench.bench.configure(
            """
            [presets.german]
            language = "de"
            output.filter = "tr a-z A-Z"
            [presets.other]
            service = "other"
            [services.other]
            profile = "whisper-cpp"
            url = "\(bench.server.url())"

            """)
        let daemon = try await bench.daemon(
            "--service", "whisper-cpp", "--to", own.url(), "--language", "en")
        for (preset, server, text) in [
            ("german", own, "AS USUAL\n"), ("other", bench.server, "elsewhere\n"),
        ] {
            let start = try await bench.run("start", "--preset", preset)
            #expect(start.status == .exited(0), "\(start.errorText)")
            _ = try #require(await server.wait(untilBytes: 8_000))
            #expect(try await bench.run("stop").outputText == text)
        }
        try await daemon.terminate()
        let body = try #require(own.requests.first).body
        #expect(!body.ranges(of: Array("name=\"language\"\r\n\r\nde\r\n".utf8)).isEmpty)
        #expect(own.requests.count == 1 && bench.server.requests.count == 1)
    }
}
