// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import SpeechService
@testable import Utter

/// A service is asked as its profile says, now and when the take is sent once more.
@Suite struct ServiceTakeTests {
    private static let answer = [ServerStep].json(#"{"deep":{"words":"heard"},"text":"else"}"#)
    private static let busy = [ServerStep].answer(status: 503, text: "")

    private static func profile(_ server: RecordingServer) -> String {
        """
        title = "My service"
        url = "\(server.url("/v1/{model}/listen"))"
        answer.text = ["deep.words"]
        [query]
        lang = "{language}"
        [words]
        model = "small"
        language = { values = { en = "en-US" } }
        [[formats]]
        codec = "flac"
        content-type = "audio/x-flac;rate={rate}"
        [[formats]]
        codec = "wav"
        query = { format = "wav" }
        """
    }

    private let bench: Bench

    init() throws { bench = try Bench { _ in "sesame" } }

    /// libcurl would make the request again by itself where it is refused.
    @Test(arguments: [true, false])
    func aServiceThatWantsToBeAskedFirstIs(_ isPleased: Bool) async throws {
        let go = ServerStep.sendRaw(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        let server = try RecordingServer(
            scripts: isPleased ? [] : [[.readHead, .respond(status: 417), .close]],
            otherwise: [.readHead] + (isPleased ? [go] : []) + Self.answer.dropFirst())
        let outcome = try await bench.send(
            by: Self.profile(server), over: "transfer.expect-continue = true")
        #expect(outcome.text == "heard")
        let expected = isPleased ? ["100-continue"] : ["100-continue", nil]
        #expect(server.requests.map { $0["Expect"] } == expected)
        #expect(server.requests.last?.isComplete == true)
    }

    @Test func aByteThatCannotBeReadCostsACharacterAndIsSaid() async throws {
        let body = Array("{\"deep\":{\"words\":\"caf".utf8) + [0xE9] + Array(" noir\"}}".utf8)
        let server = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, .respond(status: 200, body: body)])
        let outcome = try await bench.send(by: Self.profile(server))
        #expect(outcome.text == "caf\u{FFFD} noir")
        let reason = "the answer has a character that cannot be read; it stands as \u{FFFD}"
        #expect(outcome.notices == [.oddAnswer(reason: reason)])
    }

    @Test func aTokenThatWasNotSentElsewhereIsSaidWhenOneIsWanted() async throws {
        let home = try RecordingServer()
        let other = try RecordingServer(otherwise: .answer(status: 401, text: ""))
        var plan = try Bench.plan(by: Self.profile(home), over: "auth.variable = 'MINE_TOKEN'")
        plan.service.url = try ServiceURL(other.url())
        let outcome = try await bench.send(by: plan)
        #expect(
            outcome.text
                == "the service wants a token: 401; none was sent, since the profile's belongs to "
                + home.url(""))
        #expect(home.connectionCount == 0)
    }

    @Test func aKeptTakeMayBeSaidOtherwiseOrGoElsewhere() async throws {
        let server = try RecordingServer(
            scripts: Array(repeating: Self.busy, count: 3), otherwise: Self.answer)
        let take = try await bench.send(by: Self.profile(server), over: "method = 'PUT'")
        _ = try await bench.retry(take, words: ["language": "en"])
        _ = try await bench.retry(take, format: .wav)
        let other = "url = \"\(server.url("/other"))\"\nanswer.text = [\"text\"]"
        let last = try await bench.resend(take, by: Bench.plan(by: other, format: .flac))
        #expect(last.text == "else")
        #expect(
            server.requests.map(\.requestLine) == [
                "PUT /v1/small/listen HTTP/1.1", "PUT /v1/small/listen?lang=en-US HTTP/1.1",
                "PUT /v1/small/listen?lang=en-US&format=wav HTTP/1.1", "POST /other HTTP/1.1",
            ])
        #expect(server.requests[0]["Content-Type"] == "audio/x-flac;rate=16000")
        #expect(server.requests[2]["Content-Type"] == "audio/wav")
        #expect(server.requests[3].body.starts(with: Array("fLaC".utf8)))
    }

    @Test(
        arguments: [
            (.pcm, .wav), (.wav, .pcm), (.pcm, .oggOpus), (.oggOpus, .wav), (.oggOpus, .pcm),
            (.pcm, .flac), (.flac, .wav), (.flac, .pcm), (.oggOpus, .flac),
        ] as [(AudioCodec, AudioCodec)])
    func aTakeIsSentInAnotherForm(_ old: AudioCodec, _ new: AudioCodec) async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 415, text: "")], otherwise: Self.busy)
        let profile = "url = '\(server.url())'"
        let take = try await bench.send(.goForward, by: profile, format: old)
        let audio = try #require(take.audioPath)
        let bytes = try readFile(audio)
        _ = try await bench.retry(take, format: new)
        #expect(server.requests.map { $0["Content-Type"] } == [old.mediaType, new.mediaType])
        let samples = try readFile(Clip.goForward.path).dropFirst(44)
        let body = try #require(server.requests.last?.body)
        switch new {
        case .oggOpus: #expect(body.starts(with: Array("OggS".utf8)))
        case .flac:
            let frames = FLACFile(body).frames
            #expect(frames.last?.endIndex == body.count)
            #expect(frames.count == (samples.count / 2 + 318) / 319)
            #expect(FLACFile.sampleCount(body) == samples.count / 2)
        default:
            let header = new == .wav ? 44 : 0
            #expect(header == 0 || body.starts(with: Array("RIFF".utf8)))
            // As long as it was: Opus keeps the number of samples.
            #expect(body.count - header == samples.count)
            if old != .oggOpus { #expect(body.dropFirst(header) == samples) }
        }
        // What is on the disk is what was recorded.
        #expect(try readFile(audio) == bytes)
    }

    @Test func aTakeGoesThroughItsProxyAgainWithoutBeingTold() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 400, text: "no")], otherwise: .answer(text: "heard"))
        let proxy = try await ProxyServer(login: "name s3cret")
        let bench = try Bench { _ in "name:s3cret" }
        let take = try await bench.send(
            by: "url = '\(server.url())'",
            over: "connection.proxy = '\(proxy.url)'\nconnection.proxy-login-file = '/login'")
        #expect(take.text == "the service refused the recording: 400: no")
        let manifest = try await bench.manifestText(take)
        #expect(manifest.contains(proxy.url))
        #expect(!manifest.contains("s3cret"))
        let again = try await bench.retry(take)
        #expect(again.text == "heard")
        #expect(server.requests.map { $0["Proxy-Authorization"] } == [nil, nil])
        let route = try #require(again.attempts.first?.result.route)
        #expect(route.isByProxy && route.remote == "127.0.0.1:\(proxy.port)")
    }

    /// Its URL and its messages say nothing of it either.
    @Test(arguments: [302, 307, 400, 200])
    func aSecretThatTheServiceRepeatsIsInNoMessageAndNoFile(_ status: Int) async throws {
        for header in [
            TestSupport.HeaderField("Location", "https://other.example/x?key=sesame-4711"),
            TestSupport.HeaderField("Content-Type", "text/plain"),
        ] {
            let server = try RecordingServer(
                otherwise: .answer(
                    status: status, headers: [header],
                    text: "<html><title>bad key sesame-4711</title></html>"))
            let bench = try Bench { _ in "sesame-4711" }
            let take = try await bench.send(
                by: """
                    url = '\(server.url("/x"))'
                    auth = { variable = 'KEY', kind = 'query', parameter = 'key' }
                    """)
            #expect(server.requests.first?.target == "/x?key=sesame-4711")
            #expect(!take.text.contains("sesame-4711"), "\(take.text)")
            _ = try await bench.kept(take)
            for name in try bench.folder.names(in: "state/takes/\(take.id.text)") {
                let bytes = try bench.folder.read("state/takes/\(take.id.text)/\(name)")
                #expect(bytes.firstRange(of: Array("sesame-4711".utf8)) == nil, "\(name)")
            }
        }
    }

    /// Each pipeline has loops that only just start.
    @Test func aRefusalNeverCrashesWhileTheLoopsAreStarting() async throws {
        for _ in 0..<40 {
            var plan = try Bench.plan(by: "url = 'http://127.0.0.1:9/'")
            plan.service.add(Credential(askedOf: .file("missing")))
            let outcome = try await Bench().send(by: plan)
            #expect(
                outcome.text
                    == "the recording was not sent: the program cannot read the file 'missing'")
        }
    }

    // MARK: - Limits

    /// A service that gets no stretches unless told otherwise.
    private func limited(
        _ limits: String, at url: String = "http://127.0.0.1:9/", hasStretches: Bool = false
    ) -> String {
        "url = '\(url)'\nstretches.enabled = \(hasStretches)\n[limits]\n\(limits)"
    }

    /// A recording of 2.4 s has 76,800 bytes of samples, and 8000 in another form.
    ///
    /// A limit of less than a second would break words off: nothing is cut by it.
    @Test(
        arguments: [
            ("seconds = 2", .pcm, false, "is 2.4 s long", "takes 2 s at most"),
            ("seconds = 2", .oggOpus, false, "is 2.4 s long", "takes 2 s at most"),
            ("shortest-seconds = 2.5", .pcm, false, "is 2.4 s long", "wants 2.5 s at least"),
            ("bytes = 76799", .pcm, false, "has 76800 bytes", "takes 76799 at most"),
            ("bytes = 1000", .oggOpus, false, "has 8000 bytes", "takes 1000 at most"),
            ("seconds = 0.01", .pcm, true, "is 2.4 s long", "takes 0.01 s at most"),
            ("seconds = 0.5", .oggOpus, true, "is 2.4 s long", "takes 0.5 s at most"),
            ("bytes = 44", .pcm, true, "has 76800 bytes", "takes 44 at most"),
            ("bytes = 4000", .flac, true, "has 8000 bytes", "takes 4000 at most"),
        ] as [(String, AudioCodec, Bool, String, String)])
    func whatTheServiceDoesNotTakeSaysWhy(
        _ limits: String, _ format: AudioCodec, _ hasStretches: Bool, _ what: String,
        _ limit: String
    ) throws {
        let plan = try Bench.plan(
            by: limited(limits, hasStretches: hasStretches), format: format)
        let byteCount = format.bodyOffset + (format == .pcm ? 76_800 : 8_000)
        let failure = plan.limitFailure(frames: 38_400, byteCount: byteCount)
        let reason = "it \(what), and the service \(limit)"
        #expect(failure == .outsideLimits(reason: reason))
    }

    @Test(arguments: [
        (
            "stretches.enabled = false\nlimits.seconds = 2",
            "it is 2.4 s long, and the service takes 2 s at most"
        ),
        ("limits.bytes = 44", "it has 76800 bytes, and the service takes 44 at most"),
    ])
    func aFileThatTheServiceDoesNotTakeIsKeptUnsent(
        _ lines: String, _ reason: String
    ) async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let url = "url = '\(server.url())'\n"
        let take = try await bench.send(by: url + lines, format: .pcm)
        for outcome in [take, try await bench.retry(take)] {
            #expect(outcome.text == "the recording was not sent: \(reason)")
            // No request was made, and none is told of.
            let known = try #require(try await bench.kept(take).known)
            #expect(known.attempts == 0 && known.history == nil)
        }
        #expect(server.connectionCount == 0)
        // It waits for a service that takes it.
        let other = try Bench.plan(by: url, format: .pcm)
        #expect(try await bench.resend(take, by: other).text == "heard")
    }

    @Test(arguments: ["seconds = 2.4", "bytes = 76800\nshortest-seconds = 2.4"])
    func whatIsWithinTheLimitsIsSent(_ limits: String) async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let outcome = try await bench.send(
            by: limited(limits, at: server.url()), format: .pcm)
        #expect(outcome.text == "heard" && outcome.notices.isEmpty)
    }

    @Test func whatIsRelayedIsKeptWholeAndItsRequestBrokenOff() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let plan = try Bench.plan(
            by: limited("seconds = 0.3", at: server.url()), format: .pcm)
        let outcome = try await bench.start(
            FileReplay(path: Clip.digits.path, pace: .realTime), to: server.url()
        ) { $0.delivery = plan }.end()
        #expect(outcome.text.hasSuffix("and the service takes 0.3 s at most"), "\(outcome.text)")
        #expect(server.requests.count == 1 && server.requests[0].isComplete == false)
        #expect(try readFile(#require(outcome.audioPath)).count >= 76_800)
    }

    @Test(
        arguments: [
            ("seconds = 0.5", nil, .seconds(0.5)),
            // Bytes are a length where the form says so.
            ("bytes = 16000", nil, .seconds(0.5)),
            // Our own limit goes before a longer one.
            ("seconds = 60", 8_000, nil),
        ] as [(String, Int?, Duration?)])
    func aVoiceIsStoppedAtTheLimit(_ limits: String, _ own: Int?, _ limit: Duration?) throws {
        var plan = TakePlan(
            source: Microphone(device: "default"),
            delivery: try Bench.plan(by: limited(limits), format: .pcm))
        plan.capture.longestFrames = own
        #expect(plan.serviceLimit(of: plan.source()) == limit)
        #expect(plan.capture.limited(to: limit).longestFrames == 8_000)
    }
}
