// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
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
        // The clock has been seen before, and has not jumped since.
        _ = SpoolAge(in: store, at: ClockReading(now - 300 * 86_400), isNoted: true)
    }

    /// Leaves a take of that day behind, whose manifest was written then.
    @discardableResult
    private func leave(
        _ name: String, _ state: TakeManifest.State, audio: Int? = nil, age: TimeInterval? = nil,
        progress: ExchangeProgress? = nil
    ) throws -> TakeID {
        let id = try #require(TakeID(name + "-120000-abcdefghjkmn"))
        let take = try store.makeTake(id)
        var manifest = TakeManifest(
            id: id, created: now, audio: "audio.wav", format: "pcm", source: "default", url: "")
        manifest.state = state
        (manifest.isReleased, manifest.progress) = (audio != nil, progress)
        try take.save(manifest)
        if let audio {
            try folder.write(
                [UInt8](repeating: 1, count: audio), to: "state/takes/\(id.text)/audio.wav")
        }
        let written = age.map { now - $0 } ?? id.date ?? now
        var times = [timespec](repeating: timespec(), count: 2)
        for index in 0..<2 { times[index].tv_sec = Int(written.timeIntervalSince1970) }
        let path = folder.path("state/takes/\(id.text)/take.json")
        try #require(utimensat(AT_FDCWD, path, times, 0) == 0)
        take.unlock()
        return id
    }

    /// What is deleted after so many days of an ordinary clock.
    @discardableResult
    private func sweep(
        _ retention: Retention = .standard, after days: Double = 0
    ) -> [TakeID] {
        SpoolRules(retention: retention).sweep(store, at: ClockReading(now + days * 86_400))
    }

    @Test(
        arguments: [
            // A transcript is kept for thirty days.
            ("20261021", .answered, nil, true), ("20261023", .answered, nil, false),
            // A cancelled take can be brought back for seven days.
            ("20261113", .cancelled, nil, true), ("20261115", .cancelled, nil, false),
            // What was answered late is as young as its answer.
            ("20261001", .answered, 1, false),
            // Recorded while the clock was ten years ahead: a name in the future is no age.
            ("20361121", .answered, 40, true),
        ] as [(String, TakeManifest.State, Double?, Bool)])
    func whatIsOverItsTimeIsDeleted(
        _ name: String, _ state: TakeManifest.State, daysSinceItsAnswer: Double?, isOver: Bool
    ) throws {
        let id = try leave(name, state, age: daysSinceItsAnswer.map { $0 * 86_400 })
        #expect(sweep() == (isOver ? [id] : []))
        #expect(try store.ids() == (isOver ? [] : [id]))
    }

    /// The service is told first, in the time that an answered take has.
    @Test func aCancelledTakeOfWhichAServiceHasAPartLosesItsAudioAlone() throws {
        let progress = ExchangeProgress(step: "upload", values: [:], plan: "")
        let id = try leave("20261113", .cancelled, audio: 10, progress: progress)
        #expect(sweep() == [])
        #expect(store.audioByteCount(of: id) == nil)
        #expect(sweep(after: 40) == [id])
    }

    @Test(arguments: [TakeManifest.State.recording, .sealed, .sending, .kept])
    func whatWaitsForItsAnswerIsNeverDeleted(_ state: TakeManifest.State) throws {
        try leave("20160101", state)
        #expect(sweep() == [])
        // Not even when the clock jumps by ten years.
        #expect(sweep(after: 3_650) == [])
        #expect(try store.ids().count == 1)
    }

    @Test(arguments: [3_650.0, -3_650])
    func aClockThatJumpsByTenYearsDeletesNothingEarly(_ days: Double) throws {
        try leave("20261115", .answered)
        try leave("20161115", .cancelled)
        let noted = ClockReading(now - 300 * 86_400 + 1)
        #expect(SpoolRules().sweep(store, at: noted) == [])
        // The clock jumps, and jumps back.
        for day in [days, days + 6, 0, 6] { #expect(sweep(after: day) == []) }
        #expect(try store.ids().count == 2)
        // A month of an ordinary clock later all is over.
        #expect(sweep(after: 31).count == 2)
    }

    @Test func whatCannotBeReadStays() throws {
        let id = try leave("20160101", .answered)
        try folder.write(Array("{".utf8), to: "state/takes/\(id.text)/take.json")
        #expect(sweep(after: 40) == [])
    }

    @Test func aTakeInUseStays() throws {
        let id = try leave("20160101", .answered)
        let user = try store.take(id)
        #expect(try user.lock())
        #expect(sweep() == [])
    }

    private func names(_ id: TakeID) throws -> [String] { try store.take(id).fileNames() }

    @Test func releasedAudioIsKeptForItsTime() throws {
        let old = try leave("20261116", .answered, audio: 10)
        let young = try leave("20261119", .answered, audio: 10)
        let waiting = try leave("20261110", .kept, audio: 10)
        var retention = Retention.standard
        retention.audio = .seconds(4 * 86_400)
        #expect(sweep(retention) == [])
        #expect(try names(old) == ["take.json"])
        #expect(try names(young) == ["audio.wav", "take.json"])
        #expect(try names(waiting) == ["audio.wav", "take.json"])
    }

    @Test func theOldestAudioGoesFirstWhenThereIsTooMuch() throws {
        let ids = try ["20261117", "20261118", "20261119"].map {
            try leave($0, .answered, audio: 400)
        }
        var retention = Retention.standard
        retention.audio = .seconds(20 * 86_400)
        retention.audioBytes = 1_000
        sweep(retention)
        #expect(try ids.map { try names($0).count } == [1, 2, 2])
    }
}

@Suite struct MakingRoomTests {
    /// The length of each file, none of which takes room: more than a test's disk has.
    private static let size = 1 << 42

    private let bench: SpoolBench
    private let store: TakeStore
    /// Answered takes whose text was handed over, oldest first.
    private let released: [TakeID]
    private let removed: TakeID

    init() throws {
        let bench = try SpoolBench()
        let ids = try (0...3).map { number in
            let take = try bench.keep(number) { ($0.state, $0.isReleased) = (.answered, true) }
            let file = try #require(take.audioPath)
            // Nothing is left of its blocks.
            try #require(truncate(file, 0) == 0 && truncate(file, Self.size) == 0)
            return take.id
        }
        (self.bench, store) = (bench, try bench.spool.store())
        (released, removed) = (Array(ids.dropLast()), ids[3])
        #expect(try store.setAside(try store.take(removed)))
        SpoolRules(
            SpoolLimits(takes: 10, bytes: .max, free: 0),
            retention: Retention(answered: .ages, cancelled: .ages, audio: .ages)
        ).sweep(store)
    }

    /// A pipeline that wants so much more than is free.
    private func pipeline(wanting more: Int) throws -> Pipeline {
        let free = try #require(store.takes.freeByteCount)
        return try Pipeline(
            spool: Spool(
                at: bench.folder.path("state"),
                limits: SpoolLimits(takes: 10, bytes: .max, free: free + more)))
    }

    private var left: [Bool] { released.map { store.audioByteCount(of: $0) != nil } }

    /// There is a shortage where all that can be spared would not do.
    @Test(arguments: [(1, false), (5, true)])
    func lookingDeletesNothing(missingFiles: Int, isShort: Bool) throws {
        let pipeline = try pipeline(wanting: missingFiles * Self.size)
        switch pipeline.spool?.shortage {
        case nil: #expect(!isShort)
        case .free?: #expect(isShort)
        case let other?: Issue.record("\(other)")
        }
        pipeline.shutDown()
        #expect(left == [true, true, true])
        #expect(store.removed.map(\.id) == [removed])
    }

    @Test func aTakeThatBeginsHasTheSyncThreadDeleteWhatCanBeSpared() throws {
        let pipeline = try pipeline(wanting: Self.size)
        let spool = try #require(pipeline.spool)
        spool.rules.makeRoom(in: try spool.store(), on: pipeline.sync)
        pipeline.shutDown()
        // Files without blocks give none back, so all of it goes.
        #expect(left == [false, false, false])
        #expect(store.removed.isEmpty)
    }
}
