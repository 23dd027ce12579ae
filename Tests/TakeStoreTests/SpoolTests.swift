// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import TakeStore

/// What the folder of takes refuses, and how takes leave it.
@Suite struct SpoolTests: SpoolOfTest {
    let scratch: TemporaryFolder
    let store: TakeStore

    init() throws {
        scratch = try TemporaryFolder()
        store = try TakeStore(stateFolder: scratch.path + "/utter")
    }

    // MARK: - Whose folder it is

    @Test(arguments: ["utter", "utter/takes"])
    func aSymbolicLinkIsRefusedAndItsTargetUntouched(_ name: String) throws {
        let scratch = try TemporaryFolder()
        let victim = try scratch.folder("victim")
        try scratch.write([7], to: "victim/file")
        if name != "utter" { _ = try scratch.folder("utter") }
        try #require(symlink(victim.path, scratch.path + "/" + name) == 0)
        let error = #expect(throws: TakeStoreError.self) {
            try TakeStore(stateFolder: scratch.path + "/utter")
        }
        #expect(error?.description.hasSuffix("/\(name)': it is a symbolic link") == true)
        #expect(try victim.names() == ["file"])
    }

    @Test(arguments: ["utter", "utter/takes"], [0o777, 0o770, 0o702] as [mode_t])
    func aFolderInWhichOthersMayWriteIsRefused(_ name: String, _ mode: mode_t) throws {
        try #require(chmod(scratch.path + "/" + name, mode) == 0)
        let error = #expect(throws: TakeStoreError.self) {
            try TakeStore(stateFolder: scratch.path + "/utter")
        }
        #expect(error?.description.contains("others may write in it (mode 0") == true)
        #expect(try scratch.mode(name) == mode)
    }

    @Test(arguments: ["utter", "utter/takes"])
    func aFolderThatOthersMayReadIsClosedToThem(_ name: String) throws {
        try #require(chmod(scratch.path + "/" + name, 0o755) == 0)
        _ = try TakeStore(stateFolder: scratch.path + "/utter")
        #expect(try scratch.mode(name) == 0o700)
    }

    @Test(.enabled(if: geteuid() == 0))
    func aFolderOfSomebodyElseIsRefused() throws {
        try #require(chown(scratch.path + "/utter/takes", 12_345, 12_345) == 0)
        let error = #expect(throws: TakeStoreError.self) {
            try TakeStore(stateFolder: scratch.path + "/utter")
        }
        #expect(error?.description.hasSuffix("it belongs to another user") == true)
    }

    @Test func whatIsNoTakeIsNamed() throws {
        try leave(1)
        try scratch.write([1], to: "utter/takes/notes.txt")
        _ = try Folder.make(at: store.path + "/copy")
        #expect(try store.foreignNames() == ["copy", "notes.txt"])
    }

    // MARK: - How takes leave it

    @Test func aRemovalThatWasKilledIsFinished() throws {
        let take = try leave(0)
        let hidden = store.path + "/.removed-" + take.id.text
        try #require(rename(take.path, hidden) == 0)
        #expect(try store.ids() == [])
        #expect(try store.foreignNames() == [])
        store.clearLeftovers()
        #expect(access(hidden, F_OK) != 0)
    }

    @Test func aTakeThatGoesWhileItIsOpenIsGoneAndNotUnreadable() throws {
        let gone = TakeStoreError.noSuchTake(try id(0).text)
        // As `remove` goes: renamed, then empty, then gone.
        for step in 0..<4 {
            let take = try leave(0)
            let manifest = try take.manifest()
            let hidden = store.path + "/.removed-" + take.id.text
            if step > 0 { try #require(rename(take.path, hidden) == 0) }
            if step > 1 {
                let folder = try store.takes.openFolder(".removed-" + take.id.text)
                TakeFolder(id: take.id, folder: folder).removeFiles()
            }
            if step > 2 { try #require(rmdir(hidden) == 0) }
            guard step > 0 else {
                try store.remove(take)
                continue
            }
            #expect(throws: gone) { try store.take(take.id) }
            #expect(throws: gone) { try store.remove(take) }
            if step > 1 {
                #expect(throws: gone) { try take.manifest() }
                #expect(throws: gone) { try take.openAudio(of: manifest) }
            }
            store.clearLeftovers()
        }
    }

    @Test func aTakeThatIsHeldWhileItWaitsToBeRemovedStaysWhole() throws {
        let take = try leave(0)
        let sender = try store.take(take.id)
        #expect(try sender.lock())
        #expect(throws: TakeStoreError.self) { try store.remove(take) }
        #expect(try sender.fileNames() == ["audio.wav", "take.json"])
        sender.unlock()
        try store.remove(take)
        #expect(throws: TakeStoreError.noSuchTake(take.id.text)) { try sender.manifest() }
    }

    @Test func aTakeWithSomethingUnknownIsNotRemoved() throws {
        let take = try leave(0)
        try scratch.write([1], to: "utter/takes/\(take.id.text)/notes.txt")
        #expect(throws: TakeStoreError.self) { try store.remove(take) }
        #expect(try take.fileNames() == ["audio.wav", "notes.txt", "take.json"])
    }

    @Test func aTakeInUseIsNotRemovedAndItsHolderNamed() throws {
        let take = try leave(0)
        var manifest = try take.manifest()
        manifest.state = .sending
        manifest.holder = 4_711
        try take.save(manifest)
        let sender = try store.take(take.id)
        #expect(try sender.lock())
        let error = #expect(throws: TakeStoreError.self) { try store.remove(take) }
        #expect(
            error?.description
                == "take \(take.id.text) is being sent by another utter (process 4711)")
        #expect(
            TakeStoreError.inUse(take: "a", by: getpid()).description
                == "take a is being recorded or sent already")
    }

    // MARK: - The manifest

    @Test(arguments: [1 << 16, (1 << 16) + 1, 5_000_000])
    func aTranscriptOfAnyLengthIsReadAsItWasSaved(_ length: Int) throws {
        let take = try leave(0)
        var manifest = try take.manifest()
        // The worst that JSON can make of a byte.
        manifest.transcript = String(repeating: "\u{01}", count: length)
        try take.save(manifest)
        #expect(try take.manifest() == manifest)
        let size = try take.folder.byteCount(of: "take.json")
        #expect(size <= TakeFolder.manifestLimit)
        manifest.transcript = "short"
        try take.save(manifest)
        #expect(try take.manifest() == manifest)
        try store.remove(take)
        #expect(try store.ids() == [])
    }

    @Test func aManifestThatIsTooLongNeverReplacesOneThatIsNot() throws {
        let take = try leave(0)
        let before = try take.manifest()
        var manifest = before
        manifest.source = String(repeating: "x", count: TakeFolder.manifestLimit)
        #expect(throws: SystemError.self) { try take.save(manifest) }
        #expect(try take.manifest() == before)
        #expect(try take.fileNames() == ["audio.wav", "take.json"])
    }

    @Test func onlyTheNewestTransfersAreRemembered() throws {
        let take = try leave(0)
        var manifest = try take.manifest()
        for number in 1...40 { manifest.beginTransfer(number, at: Date(), to: manifest.url) }
        manifest.endTransfer(40, "lost", at: Date(), status: nil, wasWhole: true)
        try take.save(manifest)
        let history = try #require(try take.manifest().history)
        #expect(history.map(\.number) == Array(25...40))
        #expect(history.last?.ending == "lost")
        #expect(manifest.attempts == 40)
    }

    @Test(arguments: [
        (#""byteCount" : 5"#, #""byteCount" : -5"#),
        (#""byteCount" : 5"#, #""byteCount" : 9223372036854775807"#),
        (#""attempts" : 0"#, #""attempts" : 9223372036854775807"#),
        (#""audio" : "audio.wav""#, #""audio" : "../x""#),
        ("abcdefghjkmn", "abcdefghjkmp"),
    ])
    func aManifestThatWeCannotHaveWrittenIsDamaged(_ change: (String, String)) throws {
        let take = try leave(0)
        var manifest = try take.manifest()
        manifest.byteCount = 5
        try take.save(manifest)
        let name = "utter/takes/\(take.id.text)/take.json"
        let text = String(decoding: try scratch.read(name), as: UTF8.self)
        let changed = text.replacing(change.0, with: change.1)
        #expect(changed != text)
        try scratch.write(Array(changed.utf8), to: name)
        let error = #expect(throws: TakeStoreError.self) { try take.manifest() }
        guard case .damaged = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    // MARK: - How takes come into it

    /// Leaves what a program leaves that is killed while it makes a take.
    private func leaveUnborn(_ number: Int, minutesAgo: Int = 60) throws -> String {
        let take = try leave(number, audio: nil)
        let hidden = store.path + "/.new-" + take.id.text
        try #require(rename(take.path, hidden) == 0)
        var times = [timespec](repeating: timespec(), count: 2)
        for index in 0..<2 { times[index].tv_sec = time(nil) - minutesAgo * 60 }
        try #require(utimensat(AT_FDCWD, hidden, times, 0) == 0)
        return hidden
    }

    @Test(arguments: [2, 60 * 24 * 3_650, -60 * 24 * 3_650])
    func whatDiedBeforeItHadItsNameIsRemoved(_ minutesAgo: Int) throws {
        let hidden = try leaveUnborn(0, minutesAgo: minutesAgo)
        #expect(try store.ids() == [])
        #expect(try store.foreignNames() == [])
        store.clearLeftovers()
        #expect(access(hidden, F_OK) != 0)
    }

    @Test func whatIsBeingMadeIsLeftAlone() throws {
        let young = try leaveUnborn(0, minutesAgo: 0)
        let locked = try leaveUnborn(1)
        let maker = try Folder.make(at: locked)
        try #require(try maker.lock())
        store.clearLeftovers()
        #expect(access(young, F_OK) == 0)
        #expect(access(locked, F_OK) == 0)
    }

    @Test func audioWithoutItsTakesNameIsATake() throws {
        let hidden = try leaveUnborn(0, minutesAgo: 0)
        let file = "utter/takes/.new-\(try id(0).text)/audio.wav"
        try scratch.write([1, 2, 3], to: file)
        store.clearLeftovers()
        #expect(try store.ids() == [id(0)])
        #expect(try store.take(id(0)).audioByteCount(fileName: "audio.wav") == 3)
        #expect(access(hidden, F_OK) != 0)
    }

    @Test func nothingTakesThePlaceOfATake() throws {
        let hidden = try leaveUnborn(0)
        try scratch.write([9], to: "utter/takes/.new-\(try id(0).text)/audio.wav")
        _ = try Folder.make(at: "\(store.path)/\(try id(0).text)")
        try scratch.write([1, 2], to: "utter/takes/\(try id(0).text)/audio.wav")
        store.clearLeftovers()
        #expect(try scratch.read("utter/takes/\(try id(0).text)/audio.wav") == [1, 2])
        #expect(access(hidden + "/audio.wav", F_OK) == 0)
    }

    @Test func aTakeThatCannotBeMadeLeavesNothing() throws {
        try leave(0)
        let error = #expect(throws: SystemError.self) { try store.makeTake(id(0)) }
        #expect(error?.code == EEXIST)
        #expect(try store.takes.names() == [id(0).text])
    }
}

/// A folder of takes in a folder of the test's own.
protocol SpoolOfTest {
    /// Holds the state folder `utter`.
    var scratch: TemporaryFolder { get }
    var store: TakeStore { get }
}

extension SpoolOfTest {
    func id(_ number: Int) throws -> TakeID {
        let digits = String(100_000 + number)
        return try #require(TakeID("20261121-\(digits)-abcdefghjkmn"))
    }

    @discardableResult
    func leave(_ number: Int, audio: Int? = 10) throws -> TakeFolder {
        let take = try store.makeTake(try id(number))
        if let audio {
            let bytes = [UInt8](repeating: 1, count: audio)
            try scratch.write(bytes, to: "utter/takes/\(take.id.text)/audio.wav")
        }
        try take.save(
            TakeManifest(
                id: take.id, created: Date(), audio: "audio.wav", format: "wav", source: "", url: ""
            ))
        take.unlock()
        return take
    }
}

/// How old takes are on a machine whose clock may be wrong.
@Suite struct SpoolAgeTests {
    private static let day = 86_400

    private let folder: TemporaryFolder
    private let store: TakeStore
    private let right = Date(timeIntervalSince1970: 1_800_000_000)

    init() throws {
        folder = try TemporaryFolder()
        store = try TakeStore(stateFolder: folder.path("state"))
    }

    /// The age in days of what was made at a time, seen by a process that notes the clock.
    private func age(of made: Date, at now: Date, boot: String, uptime: Int) -> Int {
        let clock = SpoolAge(
            in: store, at: ClockReading(now, boot: (boot, uptime)), isNoted: true)
        return Int(clock.age(since: made).components.seconds) / Self.day
    }

    private func days(_ count: Int) -> TimeInterval { TimeInterval(count * Self.day) }

    @Test(arguments: [60, 365, 20_000])
    func aTakeFromBeforeTheClockWasSetIsAsOldAsTheRightClockHasSeen(_ behind: Int) {
        let made = right - days(behind)
        #expect(age(of: made, at: made, boot: "a", uptime: 30) == 0)
        // The network has told the time.
        #expect(age(of: made, at: right, boot: "a", uptime: 90) == 0)
        #expect(age(of: made, at: right + days(29), boot: "a", uptime: 90 + 29 * Self.day) == 29)
        // Also when the machine was started anew since.
        #expect(age(of: made, at: right + days(31), boot: "b", uptime: 10) == 31)
    }

    @Test(arguments: [("b", 30), ("a", 30 + 60 * day)])
    func aMachineThatWasOffOrSleptForMonthsHasOldTakes(boot: String, uptime: Int) {
        #expect(age(of: right, at: right, boot: "a", uptime: 30) == 0)
        #expect(age(of: right, at: right + days(60), boot: boot, uptime: uptime) == 60)
    }

    @Test func aClockThatIsCorrectedByMinutesMakesNothingYounger() {
        #expect(age(of: right, at: right, boot: "a", uptime: 30) == 0)
        let later = right + days(3) - 1_800
        #expect(age(of: right, at: later + 3_000, boot: "a", uptime: 30 + 3 * Self.day) == 3)
    }

    @Test func eachStartOfTheMachineIsNotedSoThatItsClockCanBeJudged() {
        let made = right - days(60)
        #expect(age(of: made, at: made - 600, boot: "a", uptime: 9_000) == 0)
        // Minutes later by a clock that goes on from where it was switched off.
        #expect(age(of: made, at: made, boot: "b", uptime: 30) == 0)
        #expect(age(of: made, at: right, boot: "b", uptime: 90) == 0)
    }

    @Test(arguments: ["1 2 3\n", "1 2 x a\n", "1 2 99999999999999999999 a\n", "-1 2 3 a\n"])
    func aDamagedNoteOfTheClockMakesNothingOld(_ text: String) throws {
        try folder.write(Array(text.utf8), to: "state/clock")
        #expect(age(of: right - days(60), at: right, boot: "a", uptime: 30) == 0)
    }

    @Test func theClockOfThisMachineIsRead() {
        let reading = ClockReading.now
        #expect(reading.boot?.id.count == 36)
        #expect((reading.boot?.seconds ?? 0) > 0)
    }
}
