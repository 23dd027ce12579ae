// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import TakeStore
@testable import Utter

@Suite struct TakeEndTests {
    private let server: RecordingServer
    private let bench: Bench
    private let period = TestSignal.voice(frames: 320, sampleRate: 16_000)

    init() throws {
        server = try RecordingServer(otherwise: .answer(text: "heard"))
        bench = try Bench()
    }

    /// A take of which the service has the first period, and which goes on.
    private func takeUnderWay(_ number: Int = 0) async throws -> Take {
        let (speaker, take, _) = try bench.speak(to: server.url())
        speaker.say(period)
        _ = await server.wait(untilBytes: 640, ofRequest: number)
        return take
    }

    @Test func aCancelKeepsTheAudio() async throws {
        let take = try await takeUnderWay()
        take.cancel()
        let outcome = try await take.end()
        #expect(outcome.result == .failure(.cancelled))
        #expect(outcome.capture.cause == .cancelled)
        // What was sent is in the account, although the take was cancelled.
        #expect(outcome.attempts.map(\.result.ending) == [.cancelled])
        #expect(outcome.account.sentBytes == 640)
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.state == .cancelled)
        #expect(manifest.attempts == 1)
        #expect(try readFile(try #require(outcome.audioPath)).count == 44 + 640)
    }

    @Test func aCancelWhileTheAnswerIsAwaitedCountsToo() async throws {
        let server = try RecordingServer(scripts: [[.readHead, .readBodyToEnd, .readOn]])
        let take = try bench.replay(period, to: server.url())
        _ = await server.request(0) { $0.lastChunkAt != nil }
        take.cancel()
        let outcome = try await take.end()
        #expect(outcome.result == .failure(.cancelled))
        #expect(outcome.capture.cause == .finished)
    }

    @Test func aCancelBeforeAnythingLeavesNothing() async throws {
        let take = try bench.speak(to: server.url()).take
        take.cancel()
        #expect(try await take.end().result == .failure(.cancelled))
        #expect(await bench.flush())
        #expect(try bench.folder.names(in: "state/takes") == [])
    }

    @Test func aTakeThatIsLeftIsKept() async throws {
        let take = try await takeUnderWay()
        take.leave()
        let outcome = try await take.end()
        #expect(outcome.result == .failure(.left))
        #expect(outcome.capture.cause == .finished)
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.state == .kept)
        #expect(manifest.byteCount == 44 + 640)
        #expect(manifest.sha256 == outcome.account.sha256)
    }

    @Test(arguments: [true, false])
    func neitherCancelNorLeaveEverEndsABody(isCancel: Bool) async throws {
        // The end of the recording and that of the transfer race each other on three threads; in
        // which orders is `TakeMachineTests`' affair.
        for turn in 0..<10 {
            let take = try await takeUnderWay(turn)
            if isCancel { take.cancel() } else { take.leave() }
            _ = try await take.end()
            let request = try #require(await server.finishedRequest(turn))
            #expect(request.lastChunkAt == nil, "turn \(turn)")
        }
    }

    @Test func anAnsweredTakeKeepsItsAudioUntilItIsReleased() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "go forward"))
        let take = try bench.replay(period, to: server.url("/listen?key=secret"))
        _ = try await take.end()
        #expect(try await bench.files(of: take) == ["audio.wav", "take.json"])
        take.release()
        #expect(try await bench.files(of: take) == ["take.json"])
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.state == .answered)
        #expect(manifest.transcript == "go forward")
        #expect(manifest.format == "pcm")
        #expect(!manifest.url.contains("secret"))
    }

    @Test func aReleaseRightAfterTheOutcomeIsHeard() async throws {
        let takes = try (0..<40).map { _ in try bench.replay(period, to: server.url()) }
        await withTaskGroup { group in
            for take in takes {
                group.addTask {
                    _ = await take.outcome
                    take.release()
                }
            }
        }
        for take in takes { #expect(try await bench.files(of: take) == ["take.json"]) }
    }

    @Test func aTakeWithoutAnAnswerIsNotReleased() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 500, text: ""))
        let take = try bench.replay(period, to: server.url())
        take.release()
        _ = try await take.end()
        take.release()
        #expect(try await bench.files(of: take) == ["audio.wav", "take.json"])
    }

    @Test func theLastManifestIsTheOneThatStays() async throws {
        // The seal and the answer save at nearly the same time, on two threads.
        let takes = try (0..<60).map { _ in try bench.replay([1, 2, 3], to: server.url()) }
        for take in takes { _ = try await take.end() }
        for take in takes {
            let manifest = try await bench.manifest(of: take)
            #expect(manifest.state == .answered)
            #expect(manifest.transcript == "heard")
            #expect(manifest.byteCount == 50)
        }
    }

    @Test func withoutAFolderATakeLivesInMemoryAndSaysSo() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write([], to: "file")
        let bench = try Bench(stateFolder: file + "/state")
        let take = try bench.replay(period, to: server.url())
        let log = EventLog(take)
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "heard")
        #expect(outcome.audioPath == nil)
        #expect(outcome.unprotected != nil)
        #expect(try await log.all().contains { $0.isUnprotected })
        #expect(try #require(await server.finishedRequest()).body == WAVBytes.pcm(period))
    }

    @Test func aSourceThatCannotBeOpenedIsTheOutcomeAndLeavesNothing() async throws {
        let take = try bench.start(
            FileReplay(path: "/nowhere/voice.wav", pace: .unpaced), to: server.url())
        let log = EventLog(take)
        guard case .failure(.capture(.cannotOpen)) = try await take.end().result else {
            Issue.record("the file was opened")
            return
        }
        #expect(!(try await log.all()).contains { $0.isListening })
        #expect(await bench.flush())
        #expect(try bench.folder.names(in: "state/takes") == [])
    }

    @Test func theEventsComeInOrderAndTheOutcomeIsForEverybodyWhoAsks() async throws {
        let (speaker, take, log) = try bench.speak(to: server.url())
        async let one = take.end()
        async let two = take.end()
        speaker.say(period)
        #expect(await log.wait { $0.isConnected })
        _ = await server.wait(untilBytes: 640)
        speaker.fallSilent()
        let outcomes = try await [one, two, take.end()]
        for outcome in outcomes { #expect(try outcome.result.get().text == "heard") }
        #expect(Set(outcomes.map(\.id)) == [take.id])
        let events = try await log.all()
        let captured = try #require(events.firstIndex { $0.isCaptured })
        #expect(captured < (try #require(events.firstIndex { $0.isHeard })))
        #expect(events.count { $0.isListening } == 1)
        #expect(try #require(events.firstIndex { $0.isListening }) < captured)
        let progress = events.compactMap { event -> TakeProgress? in
            if case .progress(let progress) = event { progress } else { nil }
        }
        let last = try #require(progress.last)
        #expect(last.journaledByteCount == 44 + 640)
        #expect(last.elapsed == .milliseconds(20))
    }

    @Test func anEarlySuccessOfAServiceThatFindsTheEndEndsTheRecording() async throws {
        let isRead = Gate()
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBody(bytes: 640), .respond(status: 200, text: "enough"),
                    .stallUntil(isRead), .reset,
                ]
            ])
        let (speaker, take, log) = try bench.speak(to: server.url()) {
            $0.delivery.service.detectsEnd = true
        }
        speaker.say(period)
        #expect(await log.wait { $0.isHeard })
        isRead.open()
        _ = await server.finishedRequest()
        speaker.say(period)
        // The speaker goes on: the service has heard enough.
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "enough")
        #expect(outcome.capture.cause == .finished)
    }

    @Test func aServiceThatHasHeardTheEndEndsTheRecording() async throws {
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBody(bytes: 640),
                    .beginResponse(
                        status: 200,
                        headers: [TestSupport.HeaderField("Content-Type", "application/json")]),
                    .sendBodyChunk(text: #"{"PartialTranscript":"so","SafeToStopAudio":true}"#),
                    .readBodyToEnd, .sendBodyChunk(text: #"{"text":"so be it"}"#), .endResponse,
                ]
            ])
        let (speaker, take, _) = try bench.speak(to: server.url()) {
            var values = ValueRule(
                textPaths: [JSONPath(dotted: "PartialTranscript"), JSONPath(dotted: "text")],
                selectors: [])
            values.stop = JSONPath(dotted: "SafeToStopAudio")
            $0.delivery.service.answer = AnswerRule(framing: .sequence, values: values)
        }
        speaker.say(period)
        // The speaker does not say that this is the end.
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "so be it")
        #expect(outcome.capture.cause == .finished)
        #expect(outcome.attempts.count == 1)
    }

    // MARK: - A pipeline that ends leaves no caller waiting

    @Test func theOutcomeOfATakeThatStillRunsIsLeft() async throws {
        let server = try RecordingServer(otherwise: [.readHead, .readOn])
        let (speaker, take, _) = try bench.speak(to: server.url())
        speaker.say(period)
        _ = try #require(await server.wait(untilBytes: 640))
        // The service may hear it before it has its folder.
        #expect(try await bench.manifest(of: take).state == .recording)
        await onOwnThread { bench.pipeline.shutDown() }
        let outcome = try await take.end()
        #expect(outcome.result == .failure(.left))
        #expect(outcome.imbalance == nil)
        // What it captured is there for the next recovery.
        #expect(try readFile(try #require(outcome.audioPath)).count == 44 + 640)
        #expect(!outcome.isWhole)
    }

    @Test func nothingBeginsAfterTheEnd() async throws {
        let server = try RecordingServer(otherwise: .answer(status: 400, text: ""))
        let kept = try await bench.replay(period, to: server.url()).end()
        let id = try #require(try bench.spool.takes().first).id
        await onOwnThread { bench.pipeline.shutDown() }
        let late = try await bench.replay(period, to: server.url()).end()
        #expect(late.result == .failure(.left))
        #expect(late.account.capturedFrames == 0 && server.requests.count == 1)
        #expect(kept.id == id)
        await #expect(throws: TakeStoreError.self) {
            _ = try await bench.pipeline.resend(try bench.spool.take(id.text))
        }
        // The take waits as before.
        #expect(try bench.spool.take(id.text).state == .kept)
    }

    @Test func aTakeThatIsOnItsWayIsKeptAndNotCancelled() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, .stallUntil(gate)])
        let take = try bench.replay(period, to: server.url())
        let log = EventLog(take)
        #expect(await log.wait { $0.isSent })
        bench.pipeline.shutDown()
        #expect(try await take.end().result == .failure(.left))
        #expect(try bench.spool.store().take(take.id).manifest().state == .kept)
    }
}
