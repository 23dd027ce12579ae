// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import TakeStore

extension TakeStore {
    /// The takes that have audio, as far as they are looked at.
    fileprivate var audioTakes: [TakeID] {
        get throws {
            try ids().filter { noted.mayHaveAudio($0.text) && audioByteCount(of: $0) != nil }
        }
    }
}

/// How full the folder of takes gets, and what goes then.
@Suite struct SpoolShortageTests: SpoolOfTest {
    let scratch: TemporaryFolder
    let store: TakeStore

    init() throws {
        scratch = try TemporaryFolder()
        store = try TakeStore(stateFolder: scratch.path + "/utter")
    }

    private func rules(takes: Int = 1_000, bytes: Int = .max, free: Int = 0) -> SpoolRules {
        SpoolRules(SpoolLimits(takes: takes, bytes: bytes, free: free))
    }

    @Test func takesThatWaitAreCountedAndAnsweredOnesAreNot() throws {
        for number in 0..<3 { try leave(number) }
        for number in 3..<9 { try leave(number, audio: nil) }
        #expect(rules(takes: 4).shortage(of: store) == nil)
        #expect(rules(takes: 3).shortage(of: store) == .takes(limit: 3))
    }

    @Test func theBytesAreThoseOfTheLastMeasurementUntilTheyMatter() throws {
        try leave(0, audio: 600)
        try leave(1, audio: 500)
        #expect(rules(bytes: 1_000).shortage(of: store) == nil)
        SpoolRules().sweep(store)
        #expect(rules(bytes: 1_000).shortage(of: store) == .bytes(1_100, limit: 1_000))
        #expect(rules(bytes: 1_101).shortage(of: store) == nil)
        // A hint that is too high is not believed.
        try store.remove(try store.take(try id(0)))
        #expect(rules(bytes: 1_000).shortage(of: store) == nil)
    }

    @Test func aLimitThatIsNearIsSaid() throws {
        for number in 0..<9 { try leave(number, audio: 100) }
        #expect(rules(takes: 11).nearness(of: store) == nil)
        #expect(rules(takes: 10).nearness(of: store) == .takes(limit: 10))
        // A tenth of few is none.
        #expect(rules(takes: 9).nearness(of: store) == nil)
        SpoolRules().sweep(store)
        #expect(rules(bytes: 1_000).nearness(of: store) == .bytes(900, limit: 1_000))
        #expect(rules(bytes: 1_100).nearness(of: store) == nil)
        // A take that is being recorded is in no note yet.
        try leave(9, audio: 100)
        #expect(rules(bytes: 1_100).nearness(of: store) == nil)
        #expect(
            rules(bytes: 1_100).nearness(of: store, recording: 100) == .bytes(1_000, limit: 1_100))
    }

    @Test(arguments: [
        "", "x", "-5", "99999999999999999999999", "9223372036854775807", "5\n\n", "5 zzz\nzzz",
        "\u{0}", "5 5 5",
    ])
    func aDamagedNoteHidesNoTake(_ text: String) throws {
        try scratch.write(Array(text.utf8), to: "utter/takes-with-audio")
        try leave(0)
        #expect(rules(bytes: 6).shortage(of: store) == nil)
        #expect(rules(takes: 1).shortage(of: store) == .takes(limit: 1))
    }

    @Test func answeredTakesAreLookedAtOnceAnHour() throws {
        for number in 0..<200 { try leave(number, audio: number % 20 == 0 ? 10 : nil) }
        let now = Date()
        SpoolRules().sweep(store, at: ClockReading(now))
        let audio = try (0..<10).map { try id($0 * 20) }
        #expect(try store.audioTakes == audio)
        // A new one is always looked at, and what has gone is found to have gone.
        try leave(200)
        try store.remove(try store.take(audio[0]))
        #expect(try store.audioTakes == audio.dropFirst() + [try id(200)])
        // One that comes back is found later.
        let back = try id(1)
        try scratch.write([1, 2], to: "utter/takes/\(back.text)/audio.wav")
        SpoolRules().sweep(store, at: ClockReading(now + 60))
        #expect(rules(takes: 10).shortage(of: store) == .takes(limit: 10))
        SpoolRules().sweep(store, at: ClockReading(now + 3_601))
        #expect(try store.audioTakes == [back] + audio.dropFirst() + [try id(200)])
        #expect(rules(bytes: 102).shortage(of: store) == .bytes(102, limit: 102))
    }

    @Test func aTakeThatIsBackCountsAtOnce() throws {
        for number in 0..<40 { try leave(number, audio: number == 0 ? 700 : nil) }
        #expect(try store.setAside(try store.take(try id(0))))
        SpoolRules().sweep(store)
        #expect(rules(bytes: 700).shortage(of: store) == nil)
        _ = try store.restore(try id(0))
        #expect(try store.audioTakes == [try id(0)])
        #expect(rules(bytes: 700).shortage(of: store) == .bytes(700, limit: 700))
    }

    @Test func whatThisProcessHasMadeCountsAtOnce() throws {
        try leave(0, audio: 600)
        SpoolRules().sweep(store)
        try leave(1, audio: 500)
        #expect(rules(bytes: 1_000).shortage(of: store) == nil)
        store.hasGrown(by: 500)
        #expect(rules(bytes: 1_000).shortage(of: store) == .bytes(1_100, limit: 1_000))
        // What has gone meanwhile is found to have gone.
        try store.remove(try store.take(try id(0)))
        #expect(rules(bytes: 1_000).shortage(of: store) == nil)
        store.hasGrown(by: 400)
        #expect(rules(bytes: 1_000).shortage(of: store) == nil)
        #expect(rules(bytes: 500).shortage(of: store) == .bytes(500, limit: 500))
    }

    @Test func whatIsMeasuredDuringASweepIsNotTakenOffTwice() throws {
        let rules = rules(bytes: 1_000)
        try leave(0, audio: 600)
        rules.sweep(store)
        try leave(1, audio: 500)
        store.hasGrown(by: 500)
        var sweep = Sweep(of: store, by: rules)
        // Another thread begins a take, of which the limit is near, while takes are looked at.
        try store.remove(try store.take(try id(0)))
        #expect(rules.shortage(of: store) == nil)
        while sweep.step() {}
        try leave(2, audio: 500)
        store.hasGrown(by: 500)
        #expect(rules.shortage(of: store) == .bytes(1_000, limit: 1_000))
    }

    @Test func whatIsAddedDuringASweepOrAMeasurementStillCounts() {
        var growth = SpoolGrowth()
        growth.total = 700
        growth.total += 40
        growth.noteSweep(at: 700)
        #expect(growth.bytes(behind: 0) == 40)
        growth.total += 2
        growth.note(90, behind: 100, at: 740)
        #expect(growth.bytes(behind: 100) == -8)
        // The measurement was of another note.
        #expect(growth.bytes(behind: 90) == 42)
    }

    /// Leaves an answered take whose text was handed over, and whose audio is still there.
    private func leaveReleased(_ number: Int, audio: Int = 10) throws -> TakeID {
        let take = try leave(number, audio: audio)
        var manifest = try take.manifest()
        (manifest.state, manifest.isReleased) = (.answered, true)
        try take.save(manifest)
        return take.id
    }

    @Test func audioWhoseTextWasHandedOverKeepsNoTakeFromTheDiskAndStays() throws {
        for number in 0..<3 { try leave(number) }
        let released = try (3..<8).map { try leaveReleased($0) }
        // Whether a note says so, or the takes themselves.
        for _ in 0..<2 {
            let fresh = try TakeStore(stateFolder: scratch.path + "/utter")
            #expect(rules(takes: 4, bytes: 31).shortage(of: fresh) == nil)
            #expect(rules(takes: 3).shortage(of: fresh) == .takes(limit: 3))
            #expect(released.allSatisfy { fresh.audioByteCount(of: $0) != nil })
            SpoolRules().sweep(store)
        }
        #expect(rules(bytes: 30).shortage(of: store) == .bytes(30, limit: 30))
    }

    @Test func nothingGoesWhereThatDoesNotHelp() throws {
        for number in 0..<3 { try leave(number) }
        let released = try (3..<8).map { try leaveReleased($0) }
        rules(takes: 3, bytes: 30).sweep(store)
        #expect(released.allSatisfy { store.audioByteCount(of: $0) != nil })
        // Now it does: as much goes as is needed, the oldest first.
        try store.remove(try store.take(try id(0)))
        rules(takes: 5).sweep(store)
        #expect(
            released.map { store.audioByteCount(of: $0) != nil } == [
                false, false, true, true, true,
            ])
        rules(bytes: 35).sweep(store)
        #expect(
            released.map { store.audioByteCount(of: $0) != nil } == [
                false, false, false, true, true,
            ])
    }

    @Test func aNoteOfManyTakesIsRead() throws {
        let ids = try (0..<5_000).map { try id($0) }
        let noted = AudioNote(
            names: ids.map(\.text), waiting: Array(ids.prefix(4_000)), released: [ids[4_000]],
            byteCount: 77)
        store.note(noted.bytes, as: .audio)
        #expect(noted.bytes.count > 100_000)
        #expect(store.noted == noted)
    }

    @Test func aDiskThatIsNearlyFullIsNoticed() throws {
        guard case .free = rules(free: .max).shortage(of: store) else {
            Issue.record("there is no disk with that much room")
            return
        }
    }

    @Test func aShortageNamesTheLimitAsItIsTyped() {
        #expect(
            SpoolShortage.free(204_000, limit: 64 << 20).description
                == "the disk has only 204 kB left, less than 64M")
        let bytes = SpoolShortage.bytes(4_300_000_000, limit: 4 << 30).description
        #expect(bytes == "takes fill 4300 MB already, and 4G is the limit")
        #expect(SpoolShortage.free(0, limit: 1_000).description.hasSuffix("less than 1000 bytes"))
    }
}
