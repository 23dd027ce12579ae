// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import Utter

/// Every sample of the source is in the journal and at the service, once and in order.
@Suite struct TakeEqualityTests {
    /// Replays many takes at once and holds each one's bytes against its samples.
    private func replay(
        _ count: Int, _ format: AudioCodec, upTo frames: Int,
        check: (_ samples: [Int16], _ journal: [UInt8], _ body: [UInt8]) throws -> Void
    ) async throws {
        var random = SeededRandom()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        var takes: [(Take, [Int16])] = []
        for number in 0..<count {
            let length = number == 0 ? 1 : Int.random(in: 1...frames, using: &random)
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
            try check(samples, journal, request.body)
            #expect(Array(journal[format.bodyOffset...]) == request.body, comment)
            #expect(request.framingErrors.isEmpty, comment)
            let account = outcome.account
            #expect(account.capturedFrames == samples.count, comment)
            #expect(account.gapFrames == 0, comment)
            #expect(account.encodedFrames == samples.count, comment)
            #expect(account.encodedBytes == journal.count, comment)
            #expect(account.journaledBytes == journal.count, comment)
            #expect(account.sentBytes == request.body.count, comment)
            #expect(account.sha256.count == 64, comment)
        }
        #expect(server.connectionCount == count)
    }

    @Test func hundredRandomTakesOfPCMAtOnce() async throws {
        try await replay(100, .pcm, upTo: 20_000) { samples, journal, body in
            #expect(body == WAVBytes.pcm(samples))
            #expect(journal.count == 44 + body.count)
        }
    }

    @Test func hundredRandomTakesOfWAVAtOnce() async throws {
        try await replay(100, .wav, upTo: 20_000) { samples, journal, body in
            #expect(Array(body.dropFirst(44)) == WAVBytes.pcm(samples))
            #expect(journal == body)
            // RIFF and data say that their length is not known.
            #expect(Array(body[4..<8]) == [0xFF, 0xFF, 0xFF, 0xFF])
            #expect(Array(body[40..<44]) == [0xFF, 0xFF, 0xFF, 0xFF])
        }
    }

    @Test func randomTakesOfOggOpusDecodeToTheSample() async throws {
        try await replay(20, .oggOpus, upTo: 20_000) { samples, journal, body in
            #expect(journal == body)
            let decoder = OggOpusDecoder()
            var decoded: [Int16] = []
            try decoder.decode(body.span, into: &decoded)
            try decoder.finish(into: &decoded)
            #expect(decoded.count == samples.count)
        }
    }

    @Test func randomTakesOfFLACDecodeToTheSampleThatWasSaid() async throws {
        try await replay(20, .flac, upTo: 20_000) { samples, journal, body in
            #expect(journal == body)
            let decoder = FLACDecoder()
            var decoded: [Int16] = []
            try decoder.decode(body.span, into: &decoded)
            try decoder.finish(into: &decoded)
            #expect(decoded == samples)
        }
    }

    @Test func aVoiceSurvivesOggOpus() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let samples = TestSignal.voice(frames: 32_000, sampleRate: 16_000)
        _ = try await bench.replay(samples, to: server.url(), format: .oggOpus).end()
        let decoder = OggOpusDecoder()
        var decoded: [Int16] = []
        let body = try #require(server.requests.first).body
        try decoder.decode(body.span, into: &decoded)
        try decoder.finish(into: &decoded)
        #expect(decoded.count == samples.count)
        // 24 kbit/s keep the voice, not its waveform.
        #expect(TestSignal.correlation(samples, decoded) > 0.7)
    }

    @Test func whatASpeakerSaysInPiecesArrivesWhole() async throws {
        var random = SeededRandom()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url())
        let samples = random.noise(count: 50_000)
        for piece in random.pieces(of: samples.count, upTo: 2_000) {
            speaker.say(Array(samples[piece]))
            if piece.count.isMultiple(of: 3) {
                _ = await server.wait(untilBytes: piece.lowerBound * 2)
            }
        }
        speaker.fallSilent()
        let outcome = try await take.end()
        #expect(outcome.capture.cause == .finished)
        #expect(
            try #require(await server.finishedRequest()).body == WAVBytes.pcm(samples),
            "seed \(random.seed)")
    }

    @Test func theHeadersNameTheTakeAndTheAttempt() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
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
    }

    @Test func aFieldOfTheServiceReplacesOurs() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let take = try bench.replay([1, 2, 3], to: server.url()) {
            $0.delivery.service.headers = [
                try HeaderField(name: "user-agent", value: "mine"),
                try HeaderField(name: "Idempotency-Key", value: "42"),
            ]
        }
        _ = try await take.end()
        let request = try #require(server.requests.first)
        #expect(request.values(of: "User-Agent") == ["mine"])
        #expect(request.values(of: "Idempotency-Key") == ["42"])
    }
}
