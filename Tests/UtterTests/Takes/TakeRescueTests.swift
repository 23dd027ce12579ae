// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import AudioCodecs
@testable import Capture
@testable import LinuxPlatform
@testable import SpeechService
@testable import TakeStore
@testable import Utter

/// Takes that the disk, or this program, has let down.
@Suite struct TakeRescueTests {
    private func run(on bench: Bench) throws -> TakeRun {
        let plan = try DeliveryPlan(
            service: RecognitionService(url: try ServiceURL("http://127.0.0.1:9/")), format: .wav)
        let delivery = TakeDelivery(
            start: plan.format.bodyOffset, exchange: plan.makeExchange(hasToken: false))
        return TakeRun(
            id: TakeID("20261121-060000-abcdefghjkmn"), plan: plan,
            machine: TakeMachine(delivery), pipeline: bench.pipeline)
    }

    @Test func aRecordingOfWhichTheBeginningCannotBeReadIsSavedAsAFileThatPlays() throws {
        let bench = try Bench()
        let run = try run(on: bench)
        let path = bench.folder.path("audio.wav")
        let file = FailingFile(
            try Folder.make(at: bench.folder.path).createFile("audio.wav"))
        let journal = Journal(file: file, path: path)
        run.hold(journal)
        let voice = TestSignal.voice(frames: 16_000, sampleRate: 16_000)
        let header = AudioCodec.wav.header
        try journal.append((header + WAVBytes.pcm(voice)).span)
        file.faults.writeError = EIO
        file.faults.room = 0
        file.faults.readableByteCount = 0
        try journal.append(WAVBytes.pcm(voice).span)
        journal.seal()
        let copy = bench.folder.path("copy.wav")
        let silence = try Take(run: run).writeAudio(to: copy)
        #expect(silence > .seconds(1) && silence < .milliseconds(1_010))
        let silent = [UInt8](repeating: 0, count: 32_000)
        #expect(try readFile(copy) == header + silent + WAVBytes.pcm(voice))
    }

    @Test func aRequestWithoutAJournalEndsTheTake() async throws {
        let bench = try Bench()
        let run = try run(on: bench)
        run.handle(.opened(nil))
        run.handle(.captured(CaptureEnd(cause: .finished), isEmpty: false))
        run.handle(.sealed(JournalSeal(byteCount: 1_000, sha256: "", loss: nil)))
        let outcome = try await Take(run: run).end()
        guard case .failure(.notDelivered(.unprepared, _)) = outcome.result else {
            Issue.record("\(outcome.result)")
            return
        }
    }

    @Test func takesThatCannotBeWrittenForWeeksDoNotFillMemory() throws {
        let unwritten = UnwrittenTakes()
        var generator = SystemRandomNumberGenerator()
        var ids: [TakeID] = []
        for _ in 0...UnwrittenTakes.limit {
            let id = TakeID(at: Date(), after: ids.last, using: &generator)
            ids.append(id)
            unwritten.note(id, SystemError(call: "write", code: EIO))
        }
        #expect(unwritten.all.map(\.id) == Array(ids.dropFirst()))
    }
}

/// What the sync thread does for one take, in whatever order the other threads ask for it.
@Suite struct ManifestWriterTests {
    private let left: LeftTake
    private let take: TakeFolder
    private let journal: Journal
    private let sync: SyncLoop
    private let record: ManifestWriter

    init() throws {
        left = try LeftTake()
        take = try left.store.makeTake(left.id)
        journal = try take.makeJournal(fileName: "audio.wav")
        sync = try SyncLoop()
        record = ManifestWriter(
            folder: take, journal: journal, store: left.store, sync: sync,
            manifest: TakeManifest(
                id: left.id, created: Date(), audio: "audio.wav", format: "wav", source: "default",
                url: "http://service"),
            onSave: { _ in })
    }

    private func outcome(_ text: String) -> TakeOutcome {
        var transcript = Transcript()
        transcript.apply(Hypothesis(text: text, isFinal: true))
        return TakeOutcome(
            id: take.id, result: .success(transcript), capture: CaptureEnd(cause: .finished),
            account: TakeAccount(
                CaptureAccount(encodedFrames: 1, gapFrames: 0, encodedBytes: 2), nil,
                bodyOffset: 0, nil),
            attempts: [], takenCount: 0, notices: [])
    }

    @Test func aLaterChangeDoesNotKeepTheAudioOfAnAnsweredTake() async throws {
        journal.seal()
        record.settle(outcome("heard"))
        let (isSettled, isAsked) = (Gate(), Gate())
        sync.perform {
            isSettled.open()
            // The sync thread waits until both are asked for.
            _ = isAsked.waitBlocking()
        }
        #expect(await isSettled.wait())
        #expect(!record.release(keeping: .zero, nil))
        record.save { _ in }
        isAsked.open()
        sync.shutDown()
        #expect(try take.manifest().transcript == "heard")
        #expect(try take.fileNames() == ["take.json"])
    }

    @Test func theAudioStaysWhenTheAnswerCannotBeWritten() async throws {
        journal.seal()
        // A folder in the place of the file that is to become the manifest.
        for name in ["take.json.new", "take.json.new/in-the-way"] {
            try #require(mkdir("\(take.path)/\(name)", 0o700) == 0)
        }
        record.settle(outcome("heard"))
        #expect(!record.release(keeping: .zero, nil))
        sync.shutDown()
        #expect(try take.fileNames().contains("audio.wav"))
    }
}
