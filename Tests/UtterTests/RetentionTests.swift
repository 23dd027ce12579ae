// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import TakeStore
@testable import Utter

@Suite struct RetentionTests {
    private let folder: TemporaryFolder
    private let store: TakeStore
    private let now: Date

    init() throws {
        folder = try TemporaryFolder()
        store = try TakeStore(stateFolder: folder.path("state"))
        now = try Date("2026-11-21T12:00:00Z", strategy: .iso8601)
    }

    @discardableResult
    private func leave(_ name: String, _ state: TakeManifest.State) throws -> TakeID {
        let id = try #require(TakeID(name + "-120000-abcdefghjkmn"))
        let take = try store.makeTake(id)
        var manifest = TakeManifest(
            id: id, created: now, audio: "audio.wav", format: "pcm", source: "default", url: "")
        manifest.state = state
        try take.save(manifest)
        take.unlock()
        return id
    }

    @Test func aTranscriptIsKeptForThirtyDays() throws {
        let old = try leave("20261021", .answered)
        try leave("20261023", .answered)
        #expect(Retention.standard.sweep(store, now: now) == [old])
        #expect(try store.ids().count == 1)
    }

    @Test func aCancelledTakeCanBeBroughtBackForSevenDays() throws {
        let old = try leave("20261113", .cancelled)
        try leave("20261115", .cancelled)
        #expect(Retention.standard.sweep(store, now: now) == [old])
    }

    @Test(arguments: [TakeManifest.State.recording, .sealed, .kept])
    func whatWaitsForItsAnswerIsNeverDeleted(_ state: TakeManifest.State) throws {
        try leave("20160101", state)
        #expect(Retention.standard.sweep(store, now: now) == [])
        // Not even when the clock jumps by ten years.
        #expect(Retention.standard.sweep(store, now: now + 3_650 * 86_400) == [])
        #expect(try store.ids().count == 1)
    }

    @Test func whatCannotBeReadStays() throws {
        let id = try leave("20160101", .answered)
        try folder.write(Array("{".utf8), to: "state/takes/\(id.text)/take.json")
        #expect(Retention.standard.sweep(store, now: now) == [])
    }

    @Test func aTakeInUseStays() throws {
        let id = try leave("20160101", .answered)
        let user = try store.take(id)
        #expect(try user.lock())
        #expect(Retention.standard.sweep(store, now: now) == [])
    }
}
