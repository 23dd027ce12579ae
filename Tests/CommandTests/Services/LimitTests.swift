// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What a service takes of a recording is known before it is sent, and nothing is lost by it.
@Suite struct LimitTests {
    private func bench(
        _ server: RecordingServer, _ limits: String, microphone: VirtualMicrophone? = nil
    ) throws -> Bench {
        let bench = try Bench(server: server, microphone: microphone)
        try bench.writeProfile(
            """
            url = "\(server.url())"
            formats = [{ codec = "pcm" }, { codec = "wav" }, { codec = "ogg-opus" }]
            [limits]
            \(limits)
            """, to: "small")
        return bench
    }

    /// 2.40 s, 76,800 bytes.
    @Test(arguments: [
        ("seconds = 2", "pcm", "it is 2.4 s long, and the service takes 2 s at most"),
        ("seconds = 2", "ogg-opus", "it is 2.4 s long, and the service takes 2 s at most"),
        ("shortest-seconds = 2.5", "pcm", "it is 2.4 s long, and the service wants 2.5 s at least"),
        ("bytes = 76799", "pcm", "it has 76800 bytes, and the service takes 76799 at most"),
        ("bytes = 1000", "ogg-opus", "bytes, and the service takes 1000 at most"),
    ])
    func aFileThatTheServiceDoesNotTakeIsKeptUnsent(
        _ limits: String, _ format: String, _ reason: String
    ) async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try bench(server, limits)
        let arguments = ["send", "--service", "small", "--format", format, Clip.digits.path]
        for arguments in [arguments, ["retry", "last"]] {
            let result = try await bench.start(arguments).result()
            #expect(result.status == .exited(69))
            #expect(result.errorText.contains("the recording was not sent: "))
            #expect(result.errorText.contains(reason), "\(result.errorText)")
        }
        #expect(server.connectionCount == 0)
        // It waits for a service that takes it.
        let other = try await bench.run("retry", "last", "--service", "utter", "--to", server.url())
        #expect(other.outputText == "heard\n", "\(other.errorText)")
    }

    @Test(arguments: ["seconds = 2.4", "bytes = 76800\nshortest-seconds = 2.4"])
    func whatIsWithinTheLimitsIsSent(_ limits: String) async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let result = try await bench(server, limits).run(
            "send", "-q", "--service", "small", Clip.digits.path)
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        #expect(result.errorText == "")
    }

    @Test func whatIsRelayedIsKeptWholeAndItsRequestBrokenOff() async throws {
        let server = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, .respond(status: 200, text: "heard")])
        let bench = try bench(server, "seconds = 0.3")
        let result = try await bench.run(
            "send", "--service", "small", "--pace", "8", Clip.digits.path)
        #expect(result.errorText.contains("and the service takes 0.3 s at most"))
        #expect(result.outputText == "")
        #expect(server.requests.allSatisfy { !$0.isComplete })
        let take = try #require(try bench.onlyTake())
        #expect(try readFile("\(take.path)/audio.wav").count >= 76_800)
    }

    @Test(
        arguments: [
            ("seconds = 0.5", [], true),
            // Bytes are a length where the form says so.
            ("bytes = 16000", [], true),
            // Our own limit goes before a longer one.
            ("seconds = 60", ["--max", "500ms"], false),
        ] as [(String, [String], Bool)])
    func aVoiceIsStoppedAndSentAtTheLimit(
        _ limits: String, _ words: [String], _ isTheServices: Bool
    ) async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("heard"))
        let bench = try bench(server, limits, microphone: card)
        let result = try await bench.start(["--service", "small"] + words).result()
        #expect(result.outputText == "heard\n", "\(result.errorText)")
        let text = "the recording ends and is sent: the service takes 0.5 s at most"
        #expect(result.errorText.contains(text) == isTheServices, "\(result.errorText)")
        #expect(result.errorText.contains("the service takes") == isTheServices)
        #expect(server.requests.first?.body == RecordTests.samples(8_000))
    }

    @Test func aPersonIsWarnedTenSecondsBefore() async throws {
        let (card, server) = (try VirtualMicrophone(), try RecordingServer.hearing("heard"))
        let bench = try bench(server, "seconds = 10.4", microphone: card)
        let run = try bench.start(["--service", "small"])
        #expect(await run.wait(for: "are left: the service takes 10.4 s at most", in: .error))
        run.signal(2)
        let result = try await run.result()
        #expect(result.errorText.ranges(of: "are left").count == 1, "\(result.errorText)")
    }
}
