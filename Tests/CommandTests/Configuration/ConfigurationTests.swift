// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import TestSupport
import Testing

@testable import Utter
@testable import UtterCommands

/// What the file of settings changes, and what goes before it.
@Suite struct ConfigurationTests {
    /// How long the audio of a take stays; usually for a day.
    @Test(
        arguments: [
            (nil, nil, nil, .seconds(86_400)), ("0", nil, nil, .zero),
            ("0", "1d", nil, .seconds(86_400)), ("0", "1d", "0", .zero), ("1d", "0", nil, .zero),
            ("1d", "0", "1d", .seconds(86_400)),
        ] as [(String?, String?, String?, Duration)])
    func anOptionGoesBeforeAVariableAndThatBeforeTheFile(
        _ file: String?, _ variable: String?, _ option: String?, _ time: Duration
    ) throws {
        let bench = try Bench(["UTTER_KEEP_AUDIO": variable ?? ""])
        if let file { try bench.configure("[keep]\naudio = '\(file)'\n") }
        let words = option.map { ["--keep-audio", $0] } ?? []
        let found = try bench.within {
            try KeepOptions.parse(words).audioTime ?? KeepOptions.retention.audio
        }
        #expect(found == time)
    }

    @Test func theMicrophoneTheFormatAndTheDetailAreTheFilesUnlessTheyAreGiven() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("spoken"))
        let bench = try Bench(server: server, microphone: card)
        try bench.configure(
            """
            \u{FEFF}device = "attic"\r
            format = "ogg-opus"\r
            output.detail = "quiet"\r

            """)
        let lost = try await bench.run("--for", "300ms")
        #expect(lost.status == .exited(66))
        #expect(lost.errorText.contains("'attic'"))
        let quiet = try await bench.run("--for", "300ms", "--device", "default")
        #expect(quiet.status == .exited(0) && quiet.error.isEmpty)
        let verbose = try await bench.run(
            "--for", "300ms", "--device", "default", "--format", "pcm", "-v")
        #expect(verbose.status == .exited(0) && !verbose.error.isEmpty)
        // Without a microphone a request may have begun, and is empty.
        let beginnings = server.requests.filter { !$0.body.isEmpty }.map {
            String(decoding: $0.body.prefix(4), as: UTF8.self)
        }
        #expect(beginnings.map { $0 == "OggS" } == [true, false])
    }

    @Test func theLongestRecordingIsTheFilesUnlessItIsGiven() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("spoken"))
        let bench = try Bench(server: server, microphone: card)
        try bench.configure("recording = { max = '300ms', tail = '0s' }\n")
        for words in [[], ["--for", "600ms"]] {
            #expect(try await bench.start(words).result().status == .exited(0))
        }
        #expect(server.requests.map(\.body.count) == [9_600, 19_200])
    }

    @Test func theKeyOfTakesIsTheFilesAndItsPathBeginsBesideTheFile() async throws {
        let bench = try Bench(server: .hearing("heard"), ["UTTER_KEEP_AUDIO": "1d"])
        try bench.configure("[encryption]\nkey-file = 'disk key'\n")
        let key = bench.folder.path(".config/utter/disk key")
        #expect(try await bench.here("key", "new", key).status == .exited(0))
        #expect(try await bench.run("send", Clip.goForward.path).status == .exited(0))
        let take = try #require(try bench.onlyTake())
        #expect(take.names.contains("audio.wav.encrypted"))
        #expect(try await bench.here("last").outputText == "heard\n")
        try bench.configure("")
        #expect(try await bench.here("last").status == .exited(78))
    }

    @Test func theLimitsAreTheFilesUnlessTheyAreGiven() throws {
        let bench = try Bench()
        try bench.configure("[limits]\ntakes = 1\n")
        func limit(_ words: String...) throws -> Int {
            try bench.within {
                _ = try ServiceOptions.parse(words)
                return try KeepOptions.standard.limits.takes
            }
        }
        #expect(try limit() == 1)
        #expect(try limit("-c", "limits.takes=9") == 9)
    }

    @Test(arguments: ["device = 'typed'", "device = 3"])
    func theEditorGetsTheFileAndThenItIsChecked(_ line: String) async throws {
        let bench = try Bench()
        let script = #"cp "$2" "$2.seen"; echo "$NEW" >"$2""#
        let editor = try bench.folder.write(Array(script.utf8), to: "editor")
        let variables = ["VISUAL": "sh \(editor) -x", "EDITOR": "false", "NEW": line]
        let result = try await bench.start(["config", "edit"], variables: variables).result()
        let isRight = line.hasSuffix("'")
        #expect(result.status == .exited(isRight ? 0 : 78))
        #expect(result.errorText.contains(isRight ? "is valid" : "config.toml:1:10: "))
        #expect(try bench.folder.read(".config/utter/config.toml") == Array((line + "\n").utf8))
        // The first time there is a file that says nothing, and what it could say, for its owner.
        let seen = String(
            decoding: try bench.folder.read(".config/utter/config.toml.seen"), as: UTF8.self)
        #expect(seen.contains("# device = \"default\"\n") && seen.contains("\n[limits]\n"))
        var status = stat()
        #expect(stat(bench.configurationPath, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(bench.folder.path(".config"), &status) == 0 && status.st_mode & 0o777 == 0o700)
        try bench.configure(seen)
        #expect(try await bench.here("config", "check").status == .exited(0))
    }

    @Test func changesAtTheSameTimeAreAllWritten() async throws {
        let bench = try Bench()
        let words = ["language", "model", "prompt", "device"]
        let runs = try words.map { try bench.start(["config", "set", $0, "x"]) }
        for run in runs { #expect(try await run.result().status == .exited(0)) }
        for word in words {
            #expect(try await bench.here("config", "get", word).outputText == "x\n")
        }
    }
}
