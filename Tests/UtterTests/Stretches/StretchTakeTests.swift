// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore
@testable import SpeechService
@testable import TakeStore
@testable import Utter

/// A recording that is too long for its service comes back as one text.
@Suite struct StretchTakeTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    /// A service that reads tones, and refuses what is longer than it takes.
    private static func server(
        _ format: AudioCodec, seconds: Double, status: Int = 400, tellsTimes: Bool = true,
        breaking: Set<Int> = [], by steps: [ServerStep] = .answer(status: 503, text: "busy")
    ) throws -> RecordingServer {
        let answer: @Sendable (RecordedRequest) -> ServerAnswer = { request in
            let samples: [Int16]
            do {
                samples = try ToneSpeech.samples(of: request.body, format)
            } catch {
                return ServerAnswer(status: 400, text: "it cannot be read: \(error)")
            }
            guard Double(samples.count) <= seconds * 16_000 else {
                return ServerAnswer(status: status, text: "it is too long")
            }
            let words = ToneSpeech.read(samples)
            let text = words.map { $0.number < 0 ? "?" : $0.text }.joined(separator: " ")
            let times = tellsTimes ? words.map(\.json).joined(separator: ",") : ""
            return ServerAnswer(
                headers: [TestSupport.HeaderField("Content-Type", "application/json")],
                text: #"{"text":"\#(text)","words":[\#(times)]}"#)
        }
        let all: [ServerStep] = [.readHead, .readBodyToEnd, .respondBy(answer)]
        return try RecordingServer(
            scripts: (0..<((breaking.max() ?? -1) + 1)).map {
                breaking.contains($0) ? steps : all
            }, otherwise: all)
    }

    private static func profile(_ server: RecordingServer, _ limits: String) -> String {
        """
        url = "\(server.url())"
        limits = { \(limits) }
        answer.text = ["text"]
        answer.words = { path = "words", text = "word", start = "start", end = "end" }
        """
    }

    private func send(
        _ speech: ToneSpeech, to server: RecordingServer, _ limits: String,
        _ format: AudioCodec = .pcm, over lines: String = "", retry: RetryPolicy = .never
    ) async throws -> TakeOutcome {
        let plan = try Bench.plan(
            by: Self.profile(server, limits), over: lines, format: format, retry: retry)
        let take = try bench.replay(speech.samples, to: server.url()) {
            ($0.delivery, $0.isCompleteSoon) = (plan, true)
        }
        return try await take.end()
    }

    private static func speech(
        _ seconds: Int, pauses: ClosedRange<Int>, using random: inout SeededRandom
    ) -> ToneSpeech {
        var speech = ToneSpeech()
        while speech.samples.count < seconds * 16_000 {
            let number = Int.random(in: 0..<ToneSpeech.wordCount, using: &random)
            // Without a pause, two of the same would be one.
            if pauses.upperBound == 0, speech.words.last?.number == number { continue }
            speech.say(number)
            speech.pause(.random(in: pauses, using: &random), using: &random)
        }
        return speech
    }

    /// Each word begins where it was said.
    private func checkTimes(
        _ outcome: TakeOutcome, _ speech: ToneSpeech, _ random: SeededRandom
    ) throws {
        for (word, said) in zip(try outcome.result.get().words, speech.words) {
            let start = try #require(word.start)
            #expect(
                abs(start - Double(said.frames.lowerBound) / 16_000) < 0.06, "seed \(random.seed)")
        }
    }

    @Test(arguments: [.pcm, .wav, .flac, .oggOpus] as [AudioCodec])
    func aRecordingIsCutInItsPauses(_ format: AudioCodec) async throws {
        var random = SeededRandom()
        // Less than 200 ms is no pause, and the last quarter of a stretch may have none that is longer.
        let speech = Self.speech(30, pauses: 4_800...9_600, using: &random)
        let server = try Self.server(format, seconds: 8.02)
        let outcome = try await send(speech, to: server, "seconds = 8", format)
        #expect(outcome.text == speech.text, "seed \(random.seed)")
        #expect(server.requests.count >= 4 && server.requests.count <= 6)
        #expect(outcome.stretches.count == server.requests.count)
        let starts = outcome.stretches.map(\.start.frame).sorted()
        #expect(outcome.attempts.compactMap(\.stretchStart).sorted() == starts)
        #expect(outcome.stretches.allSatisfy { $0.overlap == 0 })
        #expect(try outcome.result.get().words.count == speech.words.count)
        try checkTimes(outcome, speech, random)
    }

    /// Silence, or a service that drops an answer: nobody can tell one from the other.
    @Test(
        arguments: [
            .answer(text: #"{"text": ""}"#), [.readHead, .readBodyToEnd, .respond(status: 204)],
        ] as [[ServerStep]])
    func whereNothingIsHeardInAStretchThatIsSaid(_ answer: [ServerStep]) async throws {
        var random = SeededRandom()
        let speech = Self.speech(30, pauses: 4_800...9_600, using: &random)
        let server = try Self.server(.pcm, seconds: 8.02, breaking: [1], by: answer)
        let outcome = try await send(speech, to: server, "seconds = 8")
        let unheard = outcome.stretches.filter(\.isUnheard)
        #expect(unheard.count == 1 && !outcome.text.isEmpty)
        let place = try #require(unheard.first)
        let end = try #require(place.ending)
        guard case .oddAnswer(let reason)? = outcome.notices.last else {
            Issue.record("\(outcome.notices)")
            return
        }
        let numbers = reason.split(separator: " ").compactMap { Double($0) }
        #expect(reason.hasPrefix("the service heard nothing from "))
        #expect(numbers == [place.beginning, end].map { ($0 * 10).rounded() / 10 })
    }

    @Test(arguments: [.pcm, .flac, .oggOpus] as [AudioCodec])
    func aLimitOfBytesIsKept(_ format: AudioCodec) async throws {
        var random = SeededRandom()
        let speech = Self.speech(20, pauses: 800...9_600, using: &random)
        let server = try Self.server(format, seconds: 20)
        let most = format == .oggOpus ? 30_000 : 150_000
        let outcome = try await send(speech, to: server, "bytes = \(most)", format)
        #expect(outcome.text == speech.text)
        let sizes = server.requests.map(\.body.count)
        #expect(sizes.count > 1 && sizes.allSatisfy { $0 <= most }, "\(sizes), seed \(random.seed)")
    }

    @Test(.timeLimit(.minutes(5))) func tenMinutesWithoutAPauseAreOneText() async throws {
        var random = SeededRandom()
        let speech = Self.speech(600, pauses: 0...0, using: &random)
        let server = try Self.server(.pcm, seconds: 60, tellsTimes: false)
        let outcome = try await send(speech, to: server, "seconds = 60")
        #expect(outcome.text == speech.text)
        #expect((11...15).contains(server.requests.count), "\(server.requests.count)")
        #expect(outcome.stretches.dropFirst().allSatisfy { $0.overlap == 32_000 })
    }

    /// The first words are there while the speaker speaks on.
    @Test(arguments: [.pcm, .wav, .oggOpus] as [AudioCodec])
    func whatWasSaidFirstIsTextBeforeTheEnd(_ format: AudioCodec) async throws {
        var random = SeededRandom()
        var speech = ToneSpeech()
        speech.say([3, 5, 3, 7], pause: 2_400, using: &random)
        let server = try Self.server(format, seconds: 1.3)
        let (speaker, take, log) = try bench.speak(
            by: Bench.plan(by: Self.profile(server, "seconds = 1.2"), format: format))
        speaker.say(speech.samples)
        #expect(await log.hears { !$0.finals.isEmpty })
        for number in [1, 9] { speech.say(number) }
        speaker.say(Array(speech.samples.suffix(2 * ToneSpeech.wordFrames)))
        speaker.fallSilent()
        let outcome = try await take.end()
        #expect(outcome.text == speech.text)
        #expect(server.requests.allSatisfy { $0.isComplete })
    }

    /// Says words, and pauses for longer than a request should wait.
    ///
    /// - Returns: the take in its pause, once the words before it are text.
    private func pause(
        _ words: [Int], _ format: AudioCodec, on server: RecordingServer,
        using random: inout SeededRandom
    ) async throws -> (Take, Speaker, ToneSpeech) {
        var speech = ToneSpeech()
        speech.say(words, pause: 2_400, using: &random)
        let (speaker, take, log) = try bench.speak(
            by: Bench.plan(by: Self.profile(server, ""), format: format))
        speaker.say(speech.samples)
        let count = speech.samples.count
        #expect(await comesTrue { take.run.account.capturedFrames == count })
        take.pause()
        #expect(await log.wait { if case .paused = $0 { true } else { false } })
        // Five seconds, as far as the take knows.
        take.run.handle(.pauseLasts(frame: count))
        #expect(await log.hears { !$0.finals.isEmpty })
        #expect(server.requests.count == 1)
        #expect(server.requests.first?.isComplete == true)
        return (take, speaker, speech)
    }

    @Test(arguments: [.pcm, .wav, .flac, .oggOpus] as [AudioCodec])
    func whatWasSaidBeforeAPauseIsTextBeforeItsEnd(_ format: AudioCodec) async throws {
        var random = SeededRandom()
        let server = try Self.server(format, seconds: 60)
        var (take, speaker, speech) = try await pause(
            [3, 5, 9, 7], format, on: server, using: &random)
        take.resume()
        let first = speech.samples.count
        speech.say([1, 8], pause: 2_400, using: &random)
        speaker.say(Array(speech.samples[first...]))
        speaker.fallSilent()
        let outcome = try await take.end()
        #expect(outcome.text == speech.text)
        #expect(outcome.stretches.count == 2 && server.requests.count == 2)
        #expect(outcome.capture.pauses.map(\.start) == [first])
        let kept = try await bench.kept(outcome).manifest.get()
        #expect(kept.pauses?.map(\.frame) == [first] && kept.pauses?.first?.ended != nil)
    }

    /// The request of what was said before the pause is the only one.
    @Test(arguments: [.pcm, .flac, .oggOpus] as [AudioCodec])
    func aTakeMayEndInItsPause(_ format: AudioCodec) async throws {
        var random = SeededRandom()
        let server = try Self.server(format, seconds: 60)
        let (take, _, speech) = try await pause([3, 5, 9, 7], format, on: server, using: &random)
        take.stop()
        let outcome = try await take.end()
        #expect(outcome.text == speech.text)
        #expect(server.requests.count == 1)
    }

    /// A stretch that is answered is not asked for again, whatever becomes of the rest.
    @Test(arguments: [.pcm, .flac, .oggOpus] as [AudioCodec])
    func aStretchThatIsAnsweredIsNeverAskedForAgain(_ format: AudioCodec) async throws {
        var random = SeededRandom()
        let speech = Self.speech(14, pauses: 800...9_600, using: &random)
        let server = try Self.server(format, seconds: 4.02, breaking: [1, 3])
        let lines = "exchange.parallel = 1"
        var outcome = try await send(speech, to: server, "seconds = 4", format, over: lines)
        var (tries, known) = (1, [UInt8]())
        let loudness = PowerTrack()
        loudness.add(speech.samples.span)
        while case .failure(let failure) = outcome.result, tries < 5 {
            #expect(failure.description == "the service cannot answer now: 503: busy")
            let kept = try await bench.kept(outcome).manifest.get().progress
            let noted = try #require(kept?.values["loudness"].flatMap { Data(base64Encoded: $0) })
            // Each run keeps what the run before has noted, and adds how loud decoded Opus is.
            #expect(!noted.isEmpty && noted.starts(with: known))
            if format.isLossless || tries == 1 { #expect(loudness.summary.starts(with: noted)) }
            known = Array(noted)
            outcome = try await bench.retry(outcome, over: lines)
            tries += 1
        }
        #expect(tries == 3 && outcome.text == speech.text, "seed \(random.seed)")
        let keys = server.requests.map { $0["Idempotency-Key"] ?? "" }
        // Two were asked for twice.
        #expect(keys.count == Set(keys).count + 2, "\(keys)")
        #expect(!outcome.mayBeDoubled)
        // The manifest of an answered take says where it was cut, and holds no words beside its text.
        let progress = try #require(try await bench.kept(outcome).manifest.get().progress)
        #expect(Array(progress.values.keys) == ["stretches"])
        #expect(progress.values["stretches"]?.split(separator: "\n").count == keys.count - 2)
    }

    /// A service that had all of a stretch and did not answer may have taken it twice.
    @Test func aStretchThatIsSentTwiceIsTold() async throws {
        var random = SeededRandom()
        let speech = Self.speech(14, pauses: 4_800...9_600, using: &random)
        let server = try Self.server(
            .pcm, seconds: 4.02, breaking: [1], by: [.readHead, .readBodyToEnd, .close])
        var policy = RetryPolicy.standard
        policy.pausesAfterRelease = [.zero]
        let outcome = try await send(speech, to: server, "seconds = 4", retry: policy)
        #expect(outcome.text == speech.text)
        #expect(server.requests.count == outcome.stretches.count + 1)
        #expect(outcome.mayBeDoubled && outcome.isRepeated)
    }

    /// A service that does not say how much it takes says it by its refusals.
    @Test func aRefusalTeachesALimit() async throws {
        var random = SeededRandom()
        let speech = Self.speech(60, pauses: 800...9_600, using: &random)
        let server = try Self.server(.pcm, seconds: 17, status: 413)
        let outcome = try await send(speech, to: server, "", over: "exchange.parallel = 1")
        #expect(outcome.text == speech.text)
        let sizes = server.requests.map { $0.body.count / 32_000 }
        // The whole and a half are refused; each stretch behind them is a quarter at most.
        #expect(sizes.prefix(2) == [60, sizes[1]] && sizes[1] > 17, "\(sizes)")
        #expect(sizes.dropFirst(2).allSatisfy { $0 <= 15 }, "\(sizes)")
        #expect((6...9).contains(sizes.count), "\(sizes)")
        // The next take is cut before anything of it is refused, until a person has it forgotten.
        #expect(await bench.flush())
        let spool = try bench.spool
        #expect(spool.learnedLimits().map(\.url) == [server.url()])
        _ = try await send(speech, to: server, "")
        let second = server.requests.dropFirst(sizes.count).map(\.body.count)
        #expect(second.allSatisfy { $0 <= 15 * 32_000 }, "\(second)")
        try spool.forgetLearnedLimits()
        _ = try await send(speech, to: server, "")
        #expect(server.requests.contains { $0.body.count > 17 * 32_000 })
    }

    @Test func aServiceThatRefusesEverySizeIsRefused() async throws {
        var random = SeededRandom()
        let speech = Self.speech(60, pauses: 800...9_600, using: &random)
        let server = try Self.server(.pcm, seconds: 0, status: 413)
        let outcome = try await send(speech, to: server, "", over: "exchange.parallel = 1")
        #expect(outcome.text == "the service refused the recording: 413: it is too long")
        // The whole, a half, and then what is as short as a stretch may be, twice; a half that is cut
        // early leaves another step between.
        let sizes = server.requests.map { Double($0.body.count) / 32_000 }
        #expect((4...5).contains(sizes.count), "\(sizes)")
        let shortest = sizes.suffix(2)
        #expect(shortest.first == shortest.last && shortest.allSatisfy { $0 <= 10 }, "\(sizes)")
        let kept = try await bench.kept(outcome).manifest.get()
        #expect(kept.isWaiting && kept.isHeld == true)
        // A page of a network that wants a login says the same, and teaches nothing.
        #expect(await bench.flush())
        #expect(try bench.spool.learnedLimits().isEmpty)
    }

    /// Long silence is left out, wherever it is, and the times of the words stay true.
    @Test(
        arguments: [.pcm, .wav, .flac, .oggOpus] as [AudioCodec], ["", "seconds = 8"])
    func silenceIsNotSent(_ format: AudioCodec, _ limits: String) async throws {
        var random = SeededRandom()
        var speech = ToneSpeech()
        speech.pause(80_000, using: &random)
        speech.say([3, 5, 9], pause: 9_600, using: &random)
        speech.pause(64_000, using: &random)
        speech.say(7)
        speech.pause(48_100, using: &random)
        let server = try Self.server(format, seconds: 20)
        let skip = "stretches.skip-silence = 2"
        let outcome = try await send(speech, to: server, limits, format, over: skip)
        #expect(outcome.text == "w3 w5 w9 w7", "seed \(random.seed)")
        try checkTimes(outcome, speech, random)
        let lengths = try server.requests.map {
            Double(try ToneSpeech.samples(of: $0.body, format).count) / 16_000
        }.sorted()
        // A word of 0.2 s, and three with 0.6 s between them, each with a quarter of a second around.
        #expect(lengths.count == 2 && (0.6...0.8).contains(lengths[0]), "\(lengths)")
        #expect((2.1...2.4).contains(lengths.last ?? 0), "\(lengths)")
    }

    /// A recording without a word goes as it is: the service says that nothing was said.
    @Test func aSilentRecordingIsSentWhole() async throws {
        var random = SeededRandom()
        var speech = ToneSpeech()
        speech.pause(80_000, using: &random)
        let server = try Self.server(.pcm, seconds: 20)
        let outcome = try await send(speech, to: server, "", over: "stretches.skip-silence = 2")
        #expect(outcome.text == "" && server.requests.map(\.body.count) == [160_000])
        #expect(outcome.stretches.isEmpty)
    }

    /// 204 recordings lose no word, and double none.
    @Test(
        .timeLimit(.minutes(5)), arguments: [800...9_600, 0...0, 800...2_400], [true, false])
    func noWordIsLostOrDoubled(_ pauses: ClosedRange<Int>, _ tellsTimes: Bool) async throws {
        var random = SeededRandom()
        var (lost, doubled, broken) = (0, 0, 0)
        for _ in 0..<34 {
            let speech = Self.speech(9, pauses: pauses, using: &random)
            let server = try Self.server(.pcm, seconds: 4, tellsTimes: tellsTimes)
            let outcome = try await send(speech, to: server, "seconds = 4")
            let text = outcome.text.split(separator: " ").map(String.init)
            let (missing, extra) = difference(text, from: speech.words.map(\.text))
            (lost, doubled) = (lost + missing, doubled + extra)
            broken += text.count { $0 == "?" }
            if missing + extra > 0 {
                Issue.record("\(speech.words.map(\.text))\n\(outcome.text)")
            }
        }
        #expect(lost == 0 && doubled == 0 && broken == 0, "seed \(random.seed)")
    }
}
