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
        run.hold(journal, nil)
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
