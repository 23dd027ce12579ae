// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import Utter

/// The voice is at the service while it is being spoken, once and in order.
@Suite struct TakeStreamingTests {
    private let server: RecordingServer
    private let bench: Bench
    private let period = TestSignal.voice(frames: 320, sampleRate: 16_000)

    init() throws {
        server = try RecordingServer(otherwise: .answer(text: "heard"))
        bench = try Bench()
    }

    @Test func partialTextComesBeforeTheBodyIsClosed() async throws {
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBody(bytes: 640),
                    .beginResponse(
                        status: 200, headers: [HeaderField("Content-Type", "application/json")]),
                    .sendBodyChunk(text: "{\"type\":\"partial\",\"text\":\"go\"}\n"),
                    .readBodyToEnd,
                    .sendBodyChunk(text: "{\"type\":\"final\",\"text\":\"go forward\"}\n"),
                    .endResponse,
                ]
            ])
        let (speaker, take, log) = try bench.speak(to: server.url())
        speaker.say(period)
        #expect(await log.hears { $0.partial == "go" })
        #expect(server.requests.first?.lastChunkAt == nil)
        speaker.say(period)
        speaker.fallSilent()
        #expect(try await take.end().result.get().text == "go forward")
        let texts = try await log.all().compactMap { event -> String? in
            if case .heard(let transcript) = event { transcript.displayText } else { nil }
        }
        #expect(texts == ["go", "go forward"])
    }

    @Test func aDiskThatDoesNotSyncHoldsNothingUp() async throws {
        let blocked = Gate()
        let release = Gate()
        // The thread that waits for the disk now waits for us, as it would in fdatasync.
        bench.pipeline.sync.perform {
            blocked.open()
            _ = release.waitBlocking()
        }
        #expect(await blocked.wait())
        let (speaker, take, _) = try bench.speak(to: server.url())
        for turn in 1...10 {
            speaker.say(period)
            #expect(await server.wait(untilBytes: turn * 640) != nil)
        }
        speaker.fallSilent()
        // Even the answer is here before the disk has synced a byte.
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "heard")
        #expect(!release.isOpen)
        release.open()
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.state == .answered)
        #expect(manifest.byteCount == 44 + 6_400)
    }

    @Test func aPutIsAPutEachTimeAndIsRemembered() async throws {
        // The length of the second request is known once the recording is sealed.
        let isSealed = Gate()
        let server = try RecordingServer(
            scripts: [
                [.readHead, .readBodyToEnd, .stallUntil(isSealed), .respond(status: 503, text: "")]
            ], otherwise: .answer(text: "put"))
        let (speaker, take, _) = try bench.speak(to: server.url(), retry: .standard) {
            $0.delivery.service.method = .put
            $0.delivery.retry.pausesAfterRelease = [.milliseconds(1)]
        }
        speaker.say([1, 2, 3])
        speaker.fallSilent()
        #expect(await bench.wait(untilSealOf: take))
        isSealed.open()
        #expect(try await take.end().result.get().text == "put")
        #expect(server.requests.map(\.requestLine) == ["PUT / HTTP/1.1", "PUT / HTTP/1.1"])
        #expect(server.requests.map { $0["Transfer-Encoding"] } == ["chunked", nil])
        #expect(server.requests.map { $0["Content-Length"] } == [nil, "6"])
        #expect(
            server.requests.map(\.body) == [WAVBytes.pcm([1, 2, 3]), WAVBytes.pcm([1, 2, 3])])
        let manifest = try await bench.manifest(of: take)
        let record = try #require(manifest.delivery)
        #expect(try DeliveryPlan(record).service.method == .put)
    }

    @Test func noProgressIsToldWhereItIsNotWanted() async throws {
        let take = try bench.replay([Int16](repeating: 1, count: 32_000), to: server.url()) {
            $0.delivery.reportsProgress = false
        }
        let events = try await EventLog(take).all()
        #expect(!events.contains { if case .progress = $0 { true } else { false } })
        #expect(events.contains { $0.isHeard })
    }

    // MARK: - Every sample of the source is in the journal and at the service, once and in order

    @Test(
        arguments: [
            (.pcm, 100), (.wav, 100), (.oggOpus, 20), (.flac, 20),
        ] as [(AudioCodec, Int)])
    func randomTakesAtOnceArriveToTheSample(_ format: AudioCodec, count: Int) async throws {
        var random = SeededRandom()
        var takes: [(Take, [Int16])] = []
        for number in 0..<count {
            let length = number == 0 ? 1 : Int.random(in: 1...20_000, using: &random)
            let samples = random.noise(count: length)
            takes.append((try bench.replay(samples, to: server.url(), format: format), samples))
        }
        for (take, samples) in takes {
            let outcome = try await take.end()
            let comment: Comment = "seed \(random.seed), \(samples.count) frames"
            #expect(try outcome.result.get().text == "heard", comment)
            let journal = try readFile(try #require(outcome.audioPath))
            let request = try #require(
                server.requests.first { $0["Idempotency-Key"] == "\"\(take.id.text)\"" })
            let body = request.body
            switch format {
            case .pcm: #expect(body == WAVBytes.pcm(samples), comment)
            case .wav:
                #expect(Array(body.dropFirst(44)) == WAVBytes.pcm(samples), comment)
                // RIFF and data say that their length is not known.
                #expect(Array(body[4..<8]) == [0xFF, 0xFF, 0xFF, 0xFF])
                #expect(Array(body[40..<44]) == [0xFF, 0xFF, 0xFF, 0xFF])
            case .flac: #expect(try format.samples(of: body) == samples, comment)
            default: #expect(try format.samples(of: body).count == samples.count, comment)
            }
            #expect(Array(journal.dropFirst(format == .pcm ? 44 : 0)) == body, comment)
            #expect(request.framingErrors.isEmpty, comment)
            let account = outcome.account
            #expect(account.capturedFrames == samples.count, comment)
            #expect(account.gapFrames == 0, comment)
            #expect(account.encodedFrames == samples.count, comment)
            #expect(account.encodedBytes == journal.count, comment)
            #expect(account.journaledBytes == journal.count, comment)
            #expect(account.sentBytes == body.count, comment)
            #expect(account.sha256.count == 64, comment)
        }
        #expect(server.connectionCount == count)
    }

    @Test func theHeadersNameTheTakeAndTheAttempt() async throws {
        let take = try bench.replay([1, 2, 3], to: server.url("/listen"), format: .wav)
        _ = try await take.end()
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.target == "/listen")
        #expect(request["Content-Type"] == "audio/wav")
        #expect(request["Idempotency-Key"] == "\"\(take.id.text)\"")
        #expect(request["Utter-Attempt"] == "1")
        #expect(request["User-Agent"]?.hasPrefix("utter/") == true)
        #expect(request["Expect"] == nil)
        #expect(request["Transfer-Encoding"] == "chunked")
        // A field of the service replaces ours.
        let fields = [("user-agent", "mine"), ("Idempotency-Key", "42")]
        let other = try bench.replay([1, 2, 3], to: server.url()) {
            $0.delivery.service.headers = try fields.map { try HeaderField(name: $0, value: $1) }
        }
        _ = try await other.end()
        let last = try #require(server.requests.last)
        for (name, value) in fields { #expect(last.values(of: name) == [value]) }
    }
}
