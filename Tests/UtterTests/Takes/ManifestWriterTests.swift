// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import Capture
@testable import SpeechService
@testable import TakeStore
@testable import Utter

/// What the sync thread does for one take, in whatever order the other threads ask for it.
@Suite struct ManifestWriterTests {
    private let folder: TemporaryFolder
    private let take: TakeFolder
    private let journal: Journal
    private let sync: SyncLoop
    private let record: ManifestWriter

    init() throws {
        folder = try TemporaryFolder()
        let store = try TakeStore(stateFolder: folder.path("state"))
        let id = try #require(TakeID("20261121-060000-abcdefghjkmn"))
        take = try store.makeTake(id)
        journal = try take.makeJournal(fileName: "audio.wav")
        sync = try SyncLoop()
        record = ManifestWriter(
            folder: take, journal: journal, store: store, sync: sync,
            manifest: TakeManifest(
                id: id, created: Date(), audio: "audio.wav", format: "wav", source: "default",
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
        try ForeignTool("mkdir").run(["-p", take.path + "/take.json.new/in-the-way"])
        record.settle(outcome("heard"))
        #expect(!record.release(keeping: .zero, nil))
        sync.shutDown()
        #expect(try take.fileNames().contains("audio.wav"))
    }
}
