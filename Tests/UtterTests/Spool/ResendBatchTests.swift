// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import TakeStore
@testable import Utter

/// Kept takes are sent again, some at a time, and none holds up another.
@Suite struct ResendBatchTests {
    private let bench: SpoolBench
    private let pipeline: Pipeline
    /// Answers each request at once.
    private let server: RecordingServer

    init() throws {
        bench = try SpoolBench()
        pipeline = try bench.pipeline()
        server = try RecordingServer(otherwise: .answer(text: "heard"))
    }

    private func words(_ takes: [KeptTake], jobs: Int = 1) async -> [String] {
        await words(of: pipeline.resend(takes, jobs: jobs))
    }

    private func words(of batch: ResendBatch) async -> [String] {
        var words: [String] = []
        for await resent in batch { words.append(resent.word) }
        return words
    }

    /// Takes that wait for a service that answers when `mayAnswer` opens, and is waited for at
    /// `isSent`.
    private func keepForSlowService(
        _ count: Int
    ) throws -> (takes: [KeptTake], server: RecordingServer, isSent: Gate, mayAnswer: Gate) {
        let (isSent, mayAnswer) = (Gate(), Gate())
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBodyToEnd, .open(isSent), .stallUntil(mayAnswer),
                    .respond(status: 200, text: "slow"),
                ]
            ], otherwise: .answer(text: "heard"))
        let takes = try (1...count).map { try bench.keep($0, for: server.url()) }
        return (takes, server, isSent, mayAnswer)
    }

    @Test func aTakeIsSentToWhereItWasMeantToGo() async throws {
        let kept = try bench.keep(1, for: server.url("/there"))
        let take = try await pipeline.resend(kept)
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "heard")
        #expect(outcome.isWhole)
        #expect(take.id == kept.id)
        #expect(server.requests.map(\.target) == ["/there"])
        #expect(server.requests.map(\.body) == [WAVBytes.pcm(SpoolBench.samples)])
        take.release()
        await pipeline.settled()
        let answered = try #require(try bench.spool.takes().first)
        #expect(answered.state == .answered && answered.audioPath == nil)
        await #expect(throws: TakeStoreError.audioGone(take: kept.id.text, wasAnswered: true)) {
            try await pipeline.resend(answered)
        }
    }

    @Test func takesShareAConnection() async throws {
        let takes = try (1...8).map { try bench.keep($0, for: server.url()) }
        #expect(await words(takes, jobs: 3) == Array(repeating: "heard", count: 8))
        #expect(server.requests.count == 8)
        #expect(server.connectionCount < 4)
    }

    @Test func whatAKillHasCutIsNotWhole() async throws {
        let kept = try bench.keep(1, for: server.url("/there")) { $0.isPart = true }
        let outcome = try await pipeline.resend(kept).end()
        #expect(try outcome.result.get().text == "heard")
        #expect(!outcome.isWhole)
    }

    @Test(arguments: [1, 3, 9])
    func endingsComeInTheOrderGivenHoweverManyAreSentAtOnce(_ jobs: Int) async throws {
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd,
                .respondBy { ServerAnswer(status: 200, text: $0["Idempotency-Key"] ?? "") },
            ])
        let takes = try (1...6).map { try bench.keep($0, for: server.url()) }
        #expect(await words(takes, jobs: jobs) == takes.map { "\"\($0.id.text)\"" })
        #expect(server.requests.count == 6)
    }

    @Test(arguments: [("/500", 3, 0), ("/401", 1, 0), ("/404", 3, 3), ("/redirect", 1, 1)])
    func aServiceThatFailsKeepsNoOtherFromItsTakes(
        path: String, tries: Int, heldCount: Int
    ) async throws {
        let server = try RecordingServer(
            otherwise: [
                .readHead, .readBodyToEnd,
                .respondBy { request in
                    switch request.target {
                    case "/ok": ServerAnswer(status: 200, text: "heard")
                    case "/redirect":
                        ServerAnswer(
                            status: 307,
                            headers: [HeaderField("Location", "https://other.example/")], text: "")
                    default:
                        ServerAnswer(status: Int(request.target.dropFirst()) ?? 404, text: "no")
                    }
                },
            ])
        let takes = try (1...6).map { try bench.keep($0, for: server.url($0 > 3 ? "/ok" : path)) }
        var texts: [String] = []
        let batch = pipeline.resend(takes, jobs: 1) { take throws(TakeStoreError) in
            var plan = try DeliveryPlan(of: take)
            plan.retry = .never
            return plan
        }
        for await resent in batch {
            if let text = resent.text { texts.append(text) }
        }
        #expect(texts == ["heard", "heard", "heard"])
        #expect(server.requests.count { $0.target == path } == tries)
        await pipeline.settled()
        // What was refused for good is not sent again unasked.
        let held = try bench.spool.takes(where: .waiting).filter { $0.obstacle() == .held }
        #expect(held.count == heldCount)
    }

    @Test func theFailureThatClosesAServiceIsMarkedAndTheRestSaysWhy() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 401, text: "who are you"))
        let takes = try (1...3).map { try bench.keep($0, for: server.url()) }
        var all: [ResentTake] = []
        for await resent in pipeline.resend(takes, jobs: 1) { all.append(resent) }
        #expect(all.map(\.closesService) == [true, false, false])
        let reason = try #require(all.first?.failure).description
        #expect(all.dropFirst().map(\.skipReason) == [reason, reason])
        #expect(server.requests.count == 1)
    }

    @Test func ofTwoBatchesAtOnceEachTakeIsSentByOne() async throws {
        let (takes, server, isSent, mayAnswer) = try keepForSlowService(3)
        let first = Task { await words(takes) }
        #expect(await isSent.wait())
        let other = try bench.pipeline()
        var second: [String] = []
        for await resent in other.resend(takes, jobs: 1) {
            second.append(resent.word)
            if case .outcome(_, let take) = resent.ending { take.release() }
        }
        #expect(second == ["elsewhere", "heard", "heard"])
        await other.settled()
        mayAnswer.open()
        #expect(await first.value == ["slow", "elsewhere", "elsewhere"])
        #expect(server.requests.count == 3)
    }

    @Test func aTakeThatWasRemovedMeanwhileIsElsewhere() async throws {
        let kept = try bench.keep(1)
        try bench.spool.remove(kept.id)
        #expect(await words([kept]) == ["elsewhere"])
    }

    @Test func aTakeThatCannotBeReadFailsAlone() async throws {
        let takes = [
            try bench.keep(1) { $0.delivery = nil }, try bench.keep(2, for: server.url()),
        ]
        let words = await words(takes)
        #expect(words.first?.contains("it does not know where it was meant to go") == true)
        #expect(words.last == "heard")
    }

    @Test(arguments: [false, true])
    func aBatchThatIsLeftKeepsWhatRunsAndSendsNoMore(byCancelling: Bool) async throws {
        let (takes, server, isSent, _) = try keepForSlowService(3)
        let batch = pipeline.resend(takes, jobs: 1)
        let endings = Task { await words(of: batch) }
        #expect(await isSent.wait())
        if byCancelling { endings.cancel() } else { batch.leave() }
        let ended = await endings.value
        // A cancelled listener hears the endings that come before it knows, in their order.
        let all = [TakeFailure.left.description, "left", "left"]
        #expect(byCancelling ? all.starts(with: ended) : ended == all, "\(ended)")
        // The take that ran comes to rest by itself.
        if !byCancelling { await pipeline.settled() }
        let rest = try await bench.takes { $0.allSatisfy { $0.state == .kept } }
        #expect(rest.map(\.state) == [.kept, .kept, .kept])
        // A request of the batch would be there before the answer to a later take.
        let later = try bench.keep(4, for: server.url("/later"))
        #expect(await words([later]) == ["heard"])
        #expect(server.requests.map(\.target) == ["/", "/later"])
    }

    @Test func aCancelledTaskThatWaitsForAnOutcomeLeavesItsTakeAlone() async throws {
        let (takes, server, isSent, mayAnswer) = try keepForSlowService(1)
        let take = try await pipeline.resend(takes[0])
        let task = Task { await take.outcome }
        #expect(await isSent.wait())
        task.cancel()
        mayAnswer.open()
        #expect(try await task.value.result.get().text == "slow")
        #expect(server.requests.count == 1)
    }

    @Test func aTaskThatIsCancelledWhileItResendsLeavesTheTakeWaitingOrSent() async throws {
        let kept = try bench.keep(1, for: server.url())
        let task = Task { try await pipeline.resend(kept) }
        task.cancel()
        #expect(try await task.value.end().result.get().text == "heard")
    }

    // MARK: - Secrets

    @Test func aRememberedSecretIsAskedForAndGoesToItsOrigin() async throws {
        let questions = Mutex<[SecretQuestion]>([])
        let pipeline = try bench.pipeline { question in
            questions.withLock { $0.append(question) }
            return "sesame"
        }
        let origin = try ServiceURL(server.url()).origin
        let kept = try bench.keep(1, for: server.url()) { manifest in
            var own = DeliveryManifest.Secret(
                header: "Authorization", form: "Token {}", origin: origin.description)
            own.command = "pass speech"
            // It was given for another service, and goes there alone.
            var foreign = DeliveryManifest.Secret(
                header: "X-Key", form: "{}", origin: "https://other.example")
            foreign.command = "pass other"
            manifest.delivery?.secrets = [own, foreign]
        }
        #expect(try await pipeline.resend(kept).end().result.get().text == "heard")
        let request = try #require(server.requests.first)
        #expect(request["Authorization"] == "Token sesame" && request["X-Key"] == nil)
        #expect(
            questions.withLock { $0 } == [
                SecretQuestion(source: .command("pass speech"), origin: origin, isRefused: false)
            ])
    }

    @Test func anotherServiceGetsItsOwnSecretsNeverTheOldOnes() async throws {
        let kept = try bench.keep(1) { manifest in
            var secret = DeliveryManifest.Secret(
                header: "Authorization", form: "Bearer {}", origin: "http://127.0.0.1:9")
            secret.command = "pass old"
            manifest.delivery?.secrets = [secret]
        }
        let service = try RecognitionService(url: ServiceURL(server.url()))
        let take = try await pipeline.resend(kept, by: DeliveryPlan(service: service))
        #expect(try await take.end().result.get().text == "heard")
        #expect(try #require(server.requests.first)["Authorization"] == nil)
        pipeline.shutDown()
        let answered = try #require(try bench.spool.takes().first)
        #expect(answered.known?.delivery?.secrets == nil)
    }

    @Test func aPipelineThatIsDroppedInTheMidstOfATakeLosesNothing() async throws {
        let server = try RecordingServer(otherwise: [.readHead, .readOn])
        let voice = TestSignal.voice(frames: 320, sampleRate: 16_000)
        let speaker = try Speaker()
        do {
            let pipeline = try Pipeline(spool: bench.spool)
            _ = pipeline.start(
                TakePlan(
                    source: speaker.source,
                    delivery: DeliveryPlan(
                        service: try RecognitionService(url: ServiceURL(server.url())),
                        retry: .never)))
        }
        speaker.say(voice)
        _ = try #require(await server.wait(untilBytes: 640))
        // It runs on: no recovery touches it.
        #expect(try bench.spool.recover().isEmpty)
        #expect(try bench.spool.takes().map(\.state) == [.recording])
        speaker.say(voice)
        _ = try #require(await server.wait(untilBytes: 1_280))
        server.stop()
        speaker.fallSilent()
        let kept = try #require(await bench.takes { $0.first?.state == .kept }.first)
        #expect(kept.length == .milliseconds(40))
        #expect(try bench.samples(of: kept) == voice + voice)
    }
}
