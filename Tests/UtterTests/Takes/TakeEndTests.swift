// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Utter

@Suite struct TakeEndTests {
    private let period = TestSignal.voice(frames: 320, sampleRate: 16_000)

    /// A take of which the service has the first period, and which goes on.
    private func takeUnderWay(
        _ bench: Bench, _ speaker: Speaker, _ server: RecordingServer
    ) async throws -> Take {
        let take = try bench.start(speaker.source, to: server.url())
        speaker.say(period)
        _ = await server.wait(untilBytes: 640)
        return take
    }

    @Test func aCancelSendsNoLastChunkAndKeepsTheAudio() async throws {
        let (server, bench, speaker) = (try RecordingServer(), try Bench(), try Speaker())
        let take = try await takeUnderWay(bench, speaker, server)
        take.cancel()
        let outcome = try await take.end()
        #expect(outcome.result == .failure(.cancelled))
        #expect(outcome.capture.cause == .cancelled)
        #expect(try #require(await server.finishedRequest()).lastChunkAt == nil)
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
        let bench = try Bench()
        let take = try bench.replay(period, to: server.url())
        _ = await server.request(0) { $0.lastChunkAt != nil }
        take.cancel()
        let outcome = try await take.end()
        #expect(outcome.result == .failure(.cancelled))
        #expect(outcome.capture.cause == .finished)
    }

    @Test func aCancelBeforeAnythingLeavesNothing() async throws {
        let server = try RecordingServer()
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url())
        take.cancel()
        #expect(try await take.end().result == .failure(.cancelled))
        #expect(await bench.flush())
        #expect(try bench.folder.names(in: "state/takes") == [])
    }

    @Test func aTakeThatIsLeftIsKept() async throws {
        let (server, bench, speaker) = (try RecordingServer(), try Bench(), try Speaker())
        let take = try await takeUnderWay(bench, speaker, server)
        take.leave()
        let outcome = try await take.end()
        #expect(outcome.result == .failure(.left))
        #expect(outcome.capture.cause == .finished)
        #expect(try #require(await server.finishedRequest()).lastChunkAt == nil)
        let manifest = try await bench.manifest(of: take)
        #expect(manifest.state == .kept)
        #expect(manifest.byteCount == 44 + 640)
        #expect(manifest.sha256 == outcome.account.sha256)
    }

    @Test(arguments: [true, false])
    func neitherCancelNorLeaveEverEndsABody(isCancel: Bool) async throws {
        // The end of the recording and that of the transfer race each other on three threads; in
        // which orders is `TakeMachineTests`' affair.
        let bench = try Bench()
        for turn in 0..<10 {
            let server = try RecordingServer(otherwise: .answer(text: "heard"))
            let speaker = try Speaker()
            let take = try bench.start(speaker.source, to: server.url())
            speaker.say(period)
            _ = await server.wait(untilBytes: 640)
            if isCancel { take.cancel() } else { take.leave() }
            _ = try await take.end()
            let request = try #require(await server.finishedRequest())
            #expect(request.lastChunkAt == nil, "turn \(turn)")
        }
    }

    @Test func anAnsweredTakeKeepsItsAudioUntilItIsReleased() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "go forward"))
        let bench = try Bench()
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
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
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
        let bench = try Bench()
        let take = try bench.replay(period, to: server.url())
        take.release()
        _ = try await take.end()
        take.release()
        #expect(try await bench.files(of: take) == ["audio.wav", "take.json"])
    }

    @Test func theLastManifestIsTheOneThatStays() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
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
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
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
        let server = try RecordingServer()
        let bench = try Bench()
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

    @Test func theOutcomeIsForEverybodyWhoAsks() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url())
        async let one = take.end()
        async let two = take.end()
        async let three = take.end()
        speaker.say(period)
        speaker.fallSilent()
        let outcomes = try await [one, two, three, take.end()]
        for outcome in outcomes { #expect(try outcome.result.get().text == "heard") }
        #expect(Set(outcomes.map(\.id)) == [take.id])
    }

    @Test func theEventsComeInOrderAndEnd() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url())
        let log = EventLog(take)
        speaker.say(period)
        #expect(await log.wait { $0.isConnected })
        _ = await server.wait(untilBytes: 640)
        speaker.fallSilent()
        _ = try await take.end()
        let events = try await log.all()
        #expect(events.filter { $0.isListening }.count == 1)
        let captured = try #require(events.firstIndex { $0.isCaptured })
        #expect(try #require(events.firstIndex { $0.isListening }) < captured)
        #expect(captured < (try #require(events.firstIndex { $0.isHeard })))
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
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url()) {
            $0.delivery.service.detectsEnd = true
        }
        let log = EventLog(take)
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
        let bench = try Bench()
        let speaker = try Speaker()
        let take = try bench.start(speaker.source, to: server.url()) {
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
}
