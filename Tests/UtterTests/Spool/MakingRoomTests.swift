// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import TakeStore
@testable import Utter

@Suite struct MakingRoomTests {
    /// The length of each file, none of which takes room: more than a test's disk has.
    private static let size = 1 << 42

    private let folder: TemporaryFolder
    private let store: TakeStore
    /// Answered takes whose text was handed over, oldest first.
    private let released: [TakeID]
    private let removed: TakeID

    init() throws {
        folder = try TemporaryFolder()
        store = try TakeStore(stateFolder: folder.path("state"))
        released = try (0..<3).map { number in
            try #require(TakeID("2026110\(number + 1)-120000-abcdefghjkmn"))
        }
        removed = try #require(TakeID("20261105-120000-abcdefghjkmn"))
        for id in released + [removed] {
            let take = try store.makeTake(id)
            var manifest = TakeManifest(
                id: id, created: Date(), audio: "audio.wav", format: "pcm", source: "", url: "")
            (manifest.state, manifest.isReleased) = (.answered, true)
            try take.save(manifest)
            let file = try folder.write([], to: "state/takes/\(id.text)/audio.wav")
            try #require(truncate(file, Self.size) == 0)
            take.unlock()
        }
        #expect(try store.setAside(try store.take(removed)))
        Retention(answered: .ages, cancelled: .ages, audio: .ages)
            .sweep(store, by: SpoolLimits(takes: 10, bytes: .max, free: 0))
    }

    /// A pipeline that wants so much more than is free.
    private func pipeline(wanting more: Int) throws -> Pipeline {
        let free = try #require(store.takes.freeByteCount)
        return try Pipeline(
            spool: Spool(
                at: folder.path("state"),
                limits: SpoolLimits(takes: 10, bytes: .max, free: free + more)))
    }

    private var left: [Bool] { released.map { store.audioByteCount(of: $0) != nil } }

    @Test func whoOnlyLooksDeletesNothing() throws {
        let pipeline = try pipeline(wanting: Self.size)
        #expect(pipeline.spool?.shortage == nil)
        pipeline.shutDown()
        #expect(left == [true, true, true])
        #expect(store.removed.map(\.id) == [removed])
    }

    @Test func nothingGoesWhereAllOfItWouldNotDo() throws {
        let pipeline = try pipeline(wanting: 5 * Self.size)
        guard case .free? = pipeline.spool?.shortage else {
            Issue.record("there is no shortage")
            return
        }
        pipeline.shutDown()
        #expect(left == [true, true, true])
        #expect(store.removed.map(\.id) == [removed])
    }

    @Test func aTakeThatBeginsHasTheSyncThreadDeleteWhatCanBeSpared() throws {
        let pipeline = try pipeline(wanting: Self.size)
        let spool = try #require(pipeline.spool)
        pipeline.makeRoom(in: try spool.store(), by: spool.limits)
        pipeline.shutDown()
        // Files without blocks give none back, so all of it goes.
        #expect(left == [false, false, false])
        #expect(store.removed.isEmpty)
    }
}
