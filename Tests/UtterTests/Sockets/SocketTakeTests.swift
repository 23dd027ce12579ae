// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AudioCodecs
@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// Takes over a WebSocket, to services that speak as their documentation says.
@Suite(.timeLimit(.minutes(5))) struct SocketTakeTests {
    private let bench: Bench
    private let service: SocketService
    private let mark: String

    init() async throws {
        bench = try Bench()
        service = try await SocketService.running.value
        mark = "of=\(bench.folder.path.suffix(6))"
    }

    static let patient = RetryPolicy(
        pausesWhileSpeaking: [.milliseconds(10)],
        pausesAfterRelease: Array(repeating: .milliseconds(10), count: 3),
        longestRetryAfter: .seconds(1), unknownOutcome: .resend)
    private static let words = [3, 5, 7, 9, 11, 2, 4]
    private static let dialects = [
        "deepgram", "assemblyai", "openai", "soniox", "deepgram-flux", "vosk-server",
        "vllm-realtime",
    ]

    private func plan(
        _ dialect: String, _ asked: String = "", over lines: String = "",
        retry: RetryPolicy = .never
    ) throws -> DeliveryPlan {
        let query = asked.isEmpty ? mark : "\(asked)&\(mark)"
        return try service.plan(dialect, query, over: lines, retry: retry)
    }

    private func sessions(_ count: Int) async throws -> [SocketService.Session] {
        try await service.sessions(count, of: mark)
    }

    private func send(_ words: [Int] = words, by plan: DeliveryPlan) async throws -> TakeOutcome {
        try await bench.replay(SocketService.samples(words), by: plan).end()
    }

    @Test(arguments: dialects) func aRecordingComesBackAsText(_ dialect: String) async throws {
        let outcome = try await send(by: plan(dialect))
        #expect(outcome.text == SocketService.text(Self.words))
        let session = try #require(try await sessions(1).first)
        let seconds = Double(Self.words.count) * 0.3
        let rate = dialect == "openai" ? 24_000 : 16_000.0
        #expect(session.audio == 2 * Int(seconds * rate))
        // Flux closes without a code.
        #expect(session.closed == (dialect == "deepgram-flux" ? nil : 1000))
        #expect(outcome.attempts.map(\.result.status) == [101])
        #expect(outcome.attempts.allSatisfy { $0.result.isBodyComplete })
        // Silence is no failure.
        let still = [Int16](repeating: 0, count: 8_000)
        let silence = try await bench.replay(still, by: plan(dialect)).end()
        #expect(try silence.result.get().text == "", "\(silence.text)")
    }

    @Test(arguments: dialects) func wordsAreThereWhileTheSpeakerSpeaks(_ dialect: String)
        async throws
    {
        let plan = try plan(dialect)
        let (speaker, take, log) = try bench.speak(by: plan)
        speaker.say(SocketService.samples([3, 5]))
        #expect(await log.hears { $0.displayText.contains("w3") })
        speaker.say(SocketService.samples([7]))
        speaker.fallSilent()
        #expect(try await take.end().text == "w3 w5 w7")
    }

    /// The connection breaks within a word, and the next session goes on behind the last final one.
    @Test(arguments: [9_600, 20_000, 33_333, 52_000])
    func aSessionThatBreaksGoesOnBehindItsFinals(_ byteCount: Int) async throws {
        let plan = try plan("deepgram", "drop=\(byteCount)", retry: Self.patient)
        let (speaker, take, log) = try bench.speak(by: plan)
        // Each word is heard before the next one is said.
        for (index, word) in Self.words.enumerated() {
            speaker.say(SocketService.samples([word]))
            let wanted = SocketService.text(Array(Self.words[...index]))
            #expect(await log.hears { $0.text == wanted }, "\(wanted)")
        }
        speaker.fallSilent()
        let outcome = try await take.end()
        #expect(outcome.text == SocketService.text(Self.words))
        let sessions = try await sessions(2)
        // The second session gets no sound of the words that are final.
        let all = 2 * Self.words.count * 4_800
        #expect(sessions.count == 2 && sessions[1].audio < all, "\(sessions)")
        #expect(sessions[0].audio + sessions[1].audio <= all + 9_600 + 8_192, "\(sessions)")
        let sent = outcome.attempts.map(\.result.sentByteCount).reduce(0, +)
        #expect(outcome.resentByteCount == sent - all)
        // The text on the screen has never lost a word that was final.
        var most = 0
        for event in try await log.all() {
            guard case .heard(let words) = event else { continue }
            let count = words.text.split(separator: " ").count
            #expect(count >= most)
            most = max(most, count)
        }
    }

    @Test func aServiceWithoutTimesIsAskedAgainFromTheBeginning() async throws {
        let outcome = try await send(by: plan("openai", "drop=30000", retry: Self.patient))
        #expect(outcome.text == SocketService.text(Self.words))
        #expect(try await sessions(2).map(\.words).last == Self.words.map { "w\($0)" })
        #expect(outcome.resentByteCount == outcome.attempts.first?.result.sentByteCount)
    }

    @Test(arguments: [
        (1011, "", true), (1012, "", true), (1013, "", true), (4000, "", true), (1000, "", false),
        (1003, "", false), (1007, "", false), (1008, "", false),
        // A profile may name others.
        (1008, "retry.close-codes = [1008]", true), (1011, "retry.close-codes = [1008]", false),
    ])
    func aCloseCodeSaysWhetherItIsTriedAgain(
        _ code: Int, _ lines: String, _ isTriedAgain: Bool
    ) async throws {
        let plan = try plan(
            "deepgram", "close-after=9600&code=\(code)", over: lines, retry: Self.patient)
        let outcome = try await send(by: plan)
        let count = isTriedAgain ? 2 : 1
        #expect(try await sessions(count).count == count)
        #expect(outcome.attempts.count == count)
        if isTriedAgain {
            #expect(outcome.text == SocketService.text(Self.words))
        } else {
            #expect(outcome.text.contains("the service ended the session: \(code) as asked"))
            #expect(try await bench.kept(outcome).manifest.get().state == .kept)
        }
    }

    @Test func whatTheServiceSaysOfAnErrorIsTold() async throws {
        let outcome = try await send(by: plan("openai", "error-after=9600&always=1"))
        #expect(outcome.text.contains("no more"), "\(outcome.text)")
        #expect(try await sessions(1).count == 1)
    }

    /// The service wishes for another session, and gets one behind what is final.
    @Test func anErrorThatPassesBeginsAnotherSession() async throws {
        let plan = try plan(
            "soniox", "error-after=24000", over: "transfer.catch-up = '100x'", retry: Self.patient)
        let outcome = try await send(by: plan)
        #expect(outcome.text == SocketService.text(Self.words))
        #expect(outcome.attempts.count == 2)
    }

    @Test func aBusyServiceIsAskedWhenItSays() async throws {
        let outcome = try await send(by: plan("deepgram", "status=429&retry-after=20"))
        #expect(outcome.attempts.map(\.result.retryAfter) == [.seconds(20)])
    }

    @Test(arguments: [(401, true), (403, true), (429, false), (503, false)])
    func aRefusalOfTheHandshakeMeansWhatItMeans(_ status: Int, _ isOfToken: Bool) async throws {
        let outcome = try await send(by: plan("deepgram", "status=\(status)"))
        #expect(outcome.text.contains("no such key"), "\(outcome.text)")
        #expect(outcome.attempts.map(\.result.status) == [status])
        switch outcome.result {
        case .failure(.tokenRefused(status, "no such key"?, _)): #expect(isOfToken)
        case .failure(.unavailable(status, "no such key"?)): #expect(!isOfToken)
        default: Issue.record("\(outcome.result)")
        }
    }

    @Test func theTokenGoesIntoTheHandshake() async throws {
        var plan = try plan("deepgram")
        plan.service.add(try Credential(place: .header("Authorization"), secret: "Token sesame"))
        #expect(try await send([3], by: plan).text == "w3")
        #expect(try await sessions(1).first?.authorization == "Token sesame")
    }

    @Test func aGreetingThatNeverComesEndsTheAttempt() async throws {
        let plan = try plan("assemblyai", "ungreeted=1", over: "transfer.stall-seconds = 1")
        let outcome = try await send([3, 5], by: plan)
        #expect(outcome.attempts.map(\.result.ending) == [.timedOut(.stall)])
        #expect(try await sessions(1).first?.audio == 0)
    }

    /// A silent speaker is not cut off: a message keeps the session awake.
    @Test func silenceIsKeptAwake() async throws {
        let service = try await SocketService()
        let plan = try service.plan("deepgram", over: "socket.keep-alive-seconds = 0.05")
        let (speaker, take, log) = try bench.speak(by: plan)
        speaker.say(SocketService.samples([3]))
        #expect(await log.hears { $0.text == "w3" })
        #expect(await service.hears(#"{"type":"KeepAlive"}"#))
        speaker.say(SocketService.samples([5]))
        speaker.fallSilent()
        #expect(try await take.end().text == "w3 w5")
        let texts = try #require(try await service.sessions(1).first).texts
        #expect(texts.contains(#"{"type":"KeepAlive"}"#))
        #expect(texts.last == #"{"type":"CloseStream"}"#)
    }

    /// Each session is as long as the service allows, and ends at a pause.
    @Test func aLongRecordingHasSeveralSessions() async throws {
        let words = (0..<20).map { $0 % 11 + 1 }
        let plan = try plan("deepgram", over: "limits.seconds = 2")
        let outcome = try await send(words, by: plan)
        #expect(outcome.text == SocketService.text(words))
        #expect(try await sessions(4).allSatisfy { $0.audio <= 64_000 })
    }

    /// A take that is kept is sent again over a WebSocket, too.
    @Test func aKeptTakeIsSentAgain() async throws {
        let plan = try plan("deepgram", "drop=9600")
        let outcome = try await send(by: plan)
        #expect(throws: TakeFailure.self) { try outcome.result.get() }
        let again = try await bench.retry(outcome)
        #expect(again.text == SocketService.text(Self.words))
    }

    /// Realtime failed while the person spoke: the recording goes by an upload, to the same service.
    @Test(arguments: ["drop=9600", "close-after=9600&code=1008"])
    func whatWasSpokenIsUploadedLater(_ fault: String) async throws {
        let server = try RecordingServer(otherwise: .answer(text: "from the upload"))
        let profile = """
            url = '\(server.url("/upload"))'
            auth.optional = true
            formats = [{ codec = "wav" }]
            [live]
            url = '\(service.url("deepgram?\(fault)&\(mark)"))'
            formats = [{ codec = "pcm" }]
            [live.socket]
            finish = '{"type":"CloseStream"}'
            """
        let plan = try Bench.plan(by: [.speaking, ProfileText(name: "mine", text: profile)])
        let outcome = try await send(by: plan)
        #expect(outcome.attempts.map(\.result.status) == [101])
        #expect(try await bench.kept(outcome).obstacle() == nil)
        let again = try await bench.retry(outcome)
        #expect(again.text == "from the upload")
        let sound = WAVBytes.pcm(SocketService.samples(Self.words))
        let isWhole = server.requests.map { Array($0.body.suffix(sound.count)) } == [sound]
        #expect(isWhole && server.requests[0].body.starts(with: "RIFF".utf8))
        #expect(try await sessions(1).count == 1)
    }

    /// Three sessions in which the service says nothing are a refusal.
    @Test func aServiceThatClosesAtOnceIsLeft() async throws {
        let plan = try plan("deepgram", "close-after=0&code=1011&always=1", retry: Self.patient)
        let outcome = try await send(by: plan)
        #expect(outcome.attempts.count == 3)
        #expect(outcome.text.contains("says nothing"), "\(outcome.text)")
    }

    @Test func aServiceThatIsNotThereIsNamedByItsURL() async throws {
        let profile = "url = 'ws://127.0.0.1:9/'\nsocket.finish = 'end'\nretry.never = true"
        let outcome = try await send([3], by: Bench.plan(by: profile, format: .pcm))
        #expect(outcome.text.hasPrefix("cannot connect to ws://127.0.0.1:9: "), "\(outcome.text)")
    }

    @Test func messagesAreCounted() async throws {
        let outcome = try await send(by: plan("openai"))
        let counts = try #require(outcome.attempts.first?.result.messages)
        let session = try #require(try await sessions(1).first)
        // The session's settings, the audio, its end.
        #expect(session.texts.count == 2)
        #expect(counts.sent == session.texts.count + session.audioMessages)
        #expect(counts.received > 2)
    }
}
