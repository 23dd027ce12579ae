// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite struct ServicesTests {
    private static let heard: [ServerStep] = .json(#"{"text":"heard"}"#)

    private func profile(_ server: RecordingServer) -> String {
        """
        title = "Mine"
        url = "\(server.url("/v1/{region}"))"
        [auth]
        variable = "MINE_KEY"
        [words.region]
        required = true
        about = "where it is"
        """
    }

    @Test func aNewProfileIsThereToBeFilledIn() async throws {
        let server = try RecordingServer(otherwise: Self.heard)
        let bench = try Bench()
        // As it is, it can be read; each remark is an example that can be used.
        let result = try await bench.here("services", "new", "mine")
        #expect(result.status == .exited(0), "\(result.errorText)")
        let sent = try await bench.run(
            "send", "--service", "mine", "--to", server.url(""), Clip.goForward.path)
        #expect(sent.outputText == "heard\n", "\(sent.errorText)")
        #expect(server.requests.first?.target == "/v1/audio/transcriptions")
    }

    @Test func aCheckSendsHalfASecondAndSaysWhatCameBack() async throws {
        let server = try RecordingServer(
            scripts: [.json(#"{"text":""}"#)],
            otherwise: .answer(status: 401, text: "{\"error\":{\"message\":\"bad token\"}}"))
        let bench = try Bench.withProfiles(["mine": profile(server)])
        func check(_ words: String..., key: String? = "sesame") async throws -> CommandResult {
            try await bench.start(
                ["services", "check", "mine"] + words,
                variables: key.map { ["MINE_KEY": $0] } ?? [:]
            ).result()
        }
        let missing = try await check("--set", "region=eu", key: nil)
        #expect(missing.status == .exited(78))
        #expect(missing.errorText.contains("MINE_KEY is not set"), "\(missing.errorText)")
        let word = try await check()
        #expect(word.status == .exited(64))
        #expect(word.errorText.contains("Mine needs a region"), "\(word.errorText)")
        #expect(server.connectionCount == 0)
        let good = try await check("--set", "region=eu")
        #expect(good.status == .exited(0), "\(good.errorText)")
        #expect(good.outputText.contains("answer    status 200"), "\(good.outputText)")
        #expect(good.outputText.contains("text      none, as is right for a tone"))
        #expect(!good.outputText.contains("sesame"))
        let request = try #require(server.requests.first)
        #expect(request.target == "/v1/eu")
        #expect(request["Authorization"] == "Bearer sesame")
        // Half a second of 16-bit samples behind the header of a WAV file.
        #expect(request.body.count == 44 + 16_000 && request.body.starts(with: "RIFF".utf8))
        // No digital silence.
        #expect(request.body.dropFirst(44).count { $0 == 0 } < 1_000)
        let refused = try await check("--set", "region=eu")
        #expect(refused.status == .exited(77))
        #expect(refused.outputText.contains("answer    status 401"))
        #expect(refused.errorText.contains("bad token"), "\(refused.errorText)")
        #expect(try bench.takes().isEmpty)
    }

    @Test func aServiceThatIsNotReachedIsLookedForInItsFile() async throws {
        let bench = try Bench.withProfiles(["mine": "url = 'http://127.0.0.1:9/x'"])
        let result = try await bench.run("services", "check", "mine")
        #expect(result.status == .exited(75))
        #expect(
            result.errorText.hasSuffix(
                "\nutter: hint: start the service, or edit url in \(bench.profilePath("mine"))\n"),
            "\(result.errorText)")
        let other = try await bench.run(
            "services", "check", "mine", "--to", "http://127.0.0.1:9/y")
        #expect(other.errorText.hasSuffix("utter: hint: check the URL and the network\n"))
        // The file of a shipped profile is not a person's to edit.
        let shipped = try await bench.run(
            "services", "check", "whisper-cpp", "-c", "connection.resolve=localhost:8080:127.0.0.2")
        #expect(
            shipped.errorText.hasSuffix(
                "\nutter: hint: start the service, or name its place: utter config set "
                    + "services.whisper-cpp.url URL\n"), "\(shipped.errorText)")
    }

    @Test func aTerminalBreaksTheListBetweenWords() async throws {
        let bench = try Bench()
        let words = { (text: String) in text.split { $0.isWhitespace } }
        let whole = words(try await bench.here("services").outputText)
        for columns in [40, 60, 80] as [UInt16] {
            let terminal = try PseudoTerminal(columns: columns)
            let shown = try await bench.start(
                ["services"], terminal: terminal, outputOnTerminal: true
            ).result().screenText
            let lines = shown.split(whereSeparator: \.isNewline)
            #expect(lines.allSatisfy { $0.count <= Int(columns) }, "\(shown)")
            #expect(words(shown) == whole)
        }
    }

    @Test func aFileIsTriedWithARecording() async throws {
        let server = try RecordingServer(otherwise: Self.heard)
        let bench = try Bench()
        let path = try bench.folder.write(
            Array("url = \"\(server.url("/x"))\"\n[[formats]]\ncodec = \"pcm\"".utf8),
            to: "draft.toml")
        let result = try await bench.run("services", "test", path, "--with", Clip.goForward.path)
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText.contains("text      heard"))
        #expect(result.outputText.contains("request   POST \(server.url("/x")) with pcm"))
        #expect(try server.requests.first?.body == Clip.goForward.samples)
    }
}
