// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import TakeStore

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
        _ name: String, _ state: TakeManifest.State, audio: Int? = nil, age: TimeInterval? = nil
    ) throws -> TakeID {
        let id = try #require(TakeID(name + "-120000-abcdefghjkmn"))
        let take = try store.makeTake(id)
        var manifest = TakeManifest(
            id: id, created: now, audio: "audio.wav", format: "pcm", source: "default", url: "")
        manifest.state = state
        manifest.isReleased = audio != nil
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

    @Test func aTranscriptIsKeptForThirtyDays() throws {
        let old = try leave("20261021", .answered)
        try leave("20261023", .answered)
        #expect(Retention.standard.sweep(store, at: ClockReading(now)) == [old])
        #expect(try store.ids().count == 1)
    }

    @Test func aCancelledTakeCanBeBroughtBackForSevenDays() throws {
        let old = try leave("20261113", .cancelled)
        try leave("20261115", .cancelled)
        #expect(Retention.standard.sweep(store, at: ClockReading(now)) == [old])
    }

    @Test func whatWasAnsweredLateIsAsYoungAsItsAnswer() throws {
        try leave("20261001", .answered, age: 86_400)
        #expect(Retention.standard.sweep(store, at: ClockReading(now)) == [])
    }

    @Test(arguments: [TakeManifest.State.recording, .sealed, .sending, .kept])
    func whatWaitsForItsAnswerIsNeverDeleted(_ state: TakeManifest.State) throws {
        try leave("20160101", state)
        #expect(Retention.standard.sweep(store, at: ClockReading(now)) == [])
        // Not even when the clock jumps by ten years.
        #expect(Retention.standard.sweep(store, at: ClockReading(now + 3_650 * 86_400)) == [])
        #expect(try store.ids().count == 1)
    }

    @Test(arguments: [3_650.0, -3_650])
    func aClockThatJumpsByTenYearsDeletesNothingEarly(_ days: Double) throws {
        let day = 86_400.0
        try leave("20261115", .answered)
        try leave("20161115", .cancelled)
        let jumped = now + days * day
        #expect(Retention.standard.sweep(store, at: ClockReading(now - 300 * day + 1)) == [])
        #expect(Retention.standard.sweep(store, at: ClockReading(jumped)) == [])
        #expect(Retention.standard.sweep(store, at: ClockReading(jumped + 6 * day)) == [])
        // And back again.
        #expect(Retention.standard.sweep(store, at: ClockReading(now)) == [])
        #expect(Retention.standard.sweep(store, at: ClockReading(now + 6 * day)) == [])
        #expect(try store.ids().count == 2)
        // A month of an ordinary clock later all is over.
        #expect(Retention.standard.sweep(store, at: ClockReading(now + 31 * day)).count == 2)
    }

    @Test func aNameInTheFutureIsNoAge() throws {
        // Recorded while the clock was ten years ahead, without being noticed.
        let id = try leave("20361121", .answered, age: 40 * 86_400)
        #expect(Retention.standard.sweep(store, at: ClockReading(now)) == [id])
    }

    @Test func whatCannotBeReadStays() throws {
        let id = try leave("20160101", .answered)
        try folder.write(Array("{".utf8), to: "state/takes/\(id.text)/take.json")
        #expect(Retention.standard.sweep(store, at: ClockReading(now + 40 * 86_400)) == [])
    }

    @Test func aTakeInUseStays() throws {
        let id = try leave("20160101", .answered)
        let user = try store.take(id)
        #expect(try user.lock())
        #expect(Retention.standard.sweep(store, at: ClockReading(now)) == [])
    }

    private func names(_ id: TakeID) throws -> [String] { try store.take(id).fileNames() }

    @Test func releasedAudioIsKeptForItsTime() throws {
        let old = try leave("20261116", .answered, audio: 10)
        let young = try leave("20261119", .answered, audio: 10)
        let waiting = try leave("20261110", .kept, audio: 10)
        var retention = Retention.standard
        retention.audio = .seconds(4 * 86_400)
        #expect(retention.sweep(store, at: ClockReading(now)) == [])
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
        retention.sweep(store, at: ClockReading(now))
        #expect(try ids.map { try names($0).count } == [1, 2, 2])
    }
}
