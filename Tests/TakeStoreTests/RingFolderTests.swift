// SPDX-License-Identifier: Apache-2.0

import AudioCore
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import TakeStore

/// The rings that a killed program leaves behind, as the next program finds them.
@Suite struct RingFolderTests: SpoolOfTest {
    let scratch: TemporaryFolder
    let store: TakeStore
    private let rings: RingFolder
    private let bytes = WAVBytes.speech((0..<8_000).map { Int16($0) })

    init() throws {
        scratch = try TemporaryFolder()
        _ = try scratch.folder("run")
        rings = RingFolder(
            in: [scratch.path("run/utter")], ofSpool: scratch.path("utter"), fullestShare: 1)
        store = try TakeStore(stateFolder: scratch.path + "/utter", rings: rings)
    }

    private var names: [String] {
        // The folder is made with the first ring.
        (try? scratch.names(in: "run/utter/rings")) ?? []
    }

    private func manifest(_ number: Int = 1) throws -> TakeManifest {
        TakeManifest(
            id: try id(number), created: Date(), audio: "audio.wav", format: "wav",
            source: "default", url: "http://127.0.0.1:9/")
    }

    /// Stores bytes in a ring, as a program does that is killed behind it; perhaps after the disk has
    /// named the take.
    private func leaveRing(
        _ number: Int = 1, in rings: RingFolder? = nil, consuming count: Int = 0,
        attempts: Int = 0, named name: Int? = nil
    ) throws -> TakeID {
        let file = try (rings ?? self.rings).makeRing(
            of: try manifest(number), minimumCapacity: 1 << 15)
        let ring = ByteRing(file.memory)
        let isWritten = ring.takeProducer().write(bytes.span)
        #expect(isWritten)
        if count > 0 { _ = ring.takeConsumer().consume { _ in count } }
        if attempts > 0 { file.memory.note(attempt: attempts) }
        guard let name else { return try id(number) }
        file.rename(to: try id(name), isOpened: true)
        // So does a request that begins meanwhile.
        file.rename(to: try id(name))
        return try id(name)
    }

    /// Makes a take whose audio is on the disk as far as so many bytes, perhaps with its manifest.
    private func leaveOnDisk(_ id: TakeID, _ count: Int, _ manifest: TakeManifest? = nil) throws {
        let take = try store.makeTake(id)
        try scratch.write(Array(bytes.prefix(count)), to: "utter/takes/\(id.text)/audio.wav")
        if let manifest { try take.save(manifest) }
        take.unlock()
    }

    /// The audio of all takes, once those are brought to an end whose program died.
    private func recovered() throws -> [[UInt8]] {
        rings.adoptOrphans { store }
        return try store.recoverAll().map { id in
            let manifest = try store.take(id).manifest()
            #expect(manifest.state == .kept && manifest.frames == 8_000)
            return try scratch.read("utter/takes/\(id.text)/\(manifest.audio)")
        }
    }

    @Test func aRingWithoutATakeBecomesOne() throws {
        let id = try leaveRing()
        #expect(names.count == 1)
        #expect(try recovered() == [bytes])
        #expect(try store.take(id).manifest().source == "default")
        #expect(names == [])
        #expect(try recovered() == [])
    }

    /// The disk has some of it, and perhaps more than the ring says.
    @Test(arguments: [(0, 0), (0, 44), (0, 5_000), (5_000, 5_000), (5_000, 9_000)])
    func aTakeGetsWhatTheDiskDoesNotHave(consumed: Int, onDisk: Int) throws {
        let id = try leaveRing(consuming: consumed)
        try leaveOnDisk(id, onDisk, onDisk > 0 ? manifest() : nil)
        #expect(try recovered() == [bytes])
        #expect(names == [])
    }

    /// The disk has nothing of the take, a part of it, or all; it may lack the manifest, and know of
    /// more attempts than the ring, or of fewer.
    @Test(
        arguments: [
            (0, nil), (5_000, nil), (5_000, 0), (16_044, 0), (16_044, 3),
        ] as [(Int, Int?)])
    func attemptsThatHadBegunAreNotForgotten(onDisk: Int, known: Int?) throws {
        let id = try leaveRing(consuming: onDisk, attempts: 2)
        if onDisk > 0 {
            var saved = try manifest()
            if let known, known > 0 { saved.beginTransfer(known, at: Date(), to: saved.url) }
            try leaveOnDisk(id, onDisk, known == nil ? nil : saved)
        }
        #expect(try recovered() == [bytes])
        let manifest = try store.take(id).manifest()
        #expect(manifest.attempts == max(2, known ?? 0))
        #expect(manifest.mayBeDelivered)
        #expect(names == [])
    }

    /// A ring of a long take begins in the middle of its file, and goes on at the front.
    @Test func aRingThatWentRoundIsFound() throws {
        do {
            let file = try rings.makeRing(of: try manifest(), minimumCapacity: 4_096)
            let ring = ByteRing(file.memory)
            let producer = ring.takeProducer()
            let consumer = ring.takeConsumer()
            for start in stride(from: 0, to: 12_000, by: 3_000) {
                let isWritten = producer.write(Array(bytes[start..<start + 3_000]).span)
                let used = consumer.consume { $0.count } + consumer.consume { $0.count }
                #expect(isWritten && used == 3_000)
            }
            let isWritten = producer.write(Array(bytes[12_000...]).span)
            #expect(isWritten)
        }
        try leaveOnDisk(id(1), 12_000)
        #expect(try recovered() == [bytes])
    }

    /// Another disk is at the path, or another folder has the inode: without the take, the ring stays.
    @Test(arguments: [true, false]) func aRingOfAnotherDiskStays(_ isAtThePath: Bool) throws {
        let id = try leaveRing(consuming: 44, named: 2)
        let name = try #require(names.first)
        let parts = name.split(separator: "-", maxSplits: 2)
        let other = isAtThePath ? "\(parts[0])-1234567812345678" : "1234567812345678-\(parts[1])"
        #expect(
            rename(
                scratch.path("run/utter/rings/\(name)"),
                scratch.path("run/utter/rings/\(other)-\(id.text)")) == 0)
        #expect(try recovered() == [])
        #expect(names.count == 1)
        try leaveOnDisk(id, 44)
        #expect(try recovered() == [bytes])
        #expect(names == [])
    }

    @Test func aRingHasTheNameOfItsTake() throws {
        let file = try rings.makeRing(of: try manifest(1), minimumCapacity: 1 << 15)
        let isWritten = ByteRing(file.memory).takeProducer().write(bytes.span)
        #expect(isWritten)
        file.rename(to: try id(2))
        let living = try Self.contents(of: scratch, names)
        rings.adoptOrphans { store }
        // Its process lives.
        #expect(try store.ids() == [] && Self.contents(of: scratch, names) == living)
        file.remove()
        #expect(names == [])
    }

    private static func contents(of scratch: TemporaryFolder, _ names: [String]) throws -> [[UInt8]]
    {
        try names.map { try scratch.read("run/utter/rings/\($0)") }
    }

    @Test func aCompleteTakeNeedsNoRing() throws {
        let id = try leaveRing()
        var manifest = try manifest()
        manifest.state = .sealed
        let take = try store.makeTake(id)
        try scratch.write([1, 2, 3], to: "utter/takes/\(id.text)/audio.wav")
        try take.save(manifest)
        try rings.complete(take)
        #expect(try scratch.read("utter/takes/\(id.text)/audio.wav") == [1, 2, 3])
        #expect(names == [])
    }

    /// A ring that nothing can be made of does not keep what the disk has.
    @Test(arguments: ["{}", "consumed", "text"])
    func aBadRingHoldsUpNoRecovery(_ flaw: String) throws {
        let id = try leaveRing(consuming: 9_000)
        try leaveOnDisk(id, 9_000, flaw == "text" ? nil : manifest())
        let name = "run/utter/rings/\(try #require(names.first))"
        var ring = try scratch.read(name)
        switch flaw {
        case "{}": ring.replaceSubrange(192..<200, with: Array("{}      ".utf8))
        // Between them the disk had refused something.
        case "consumed": ring[129] += 2
        default: ring[16] = 0
        }
        try scratch.write(ring, to: name)
        rings.adoptOrphans { store }
        #expect(try store.recoverAll() == [id])
        let kept = try scratch.read("utter/takes/\(id.text)/audio.wav")
        #expect(kept == Array(bytes.prefix(kept.count)) && kept.count >= 8_900)
        #expect(try store.take(id).manifest().state == .kept)
    }

    @Test func noFileElsewhereIsWritten() throws {
        let manifest = TakeManifest(
            id: try id(1), created: Date(), audio: "../../../evil.wav", format: "wav", source: "",
            url: "")
        let file = try rings.makeRing(of: manifest, minimumCapacity: 1 << 15)
        let ring = ByteRing(file.memory)
        let isWritten = ring.takeProducer().write(bytes.span)
        #expect(isWritten)
        try scratch.write(try scratch.read("run/utter/rings/\(names[0])"), to: "copy")
        file.remove()
        try scratch.write(
            try scratch.read("copy"), to: "run/utter/rings/\(rings.name(of: try id(1)))")
        rings.adoptOrphans { store }
        #expect(try store.ids() == [])
        #expect(try scratch.names() == ["copy", "run", "utter"])
    }

    @Test func theRingOfATakeThatHasEndedGoes() throws {
        let id = try leaveRing(consuming: 44)
        let take = try store.makeTake(id)
        var manifest = try manifest()
        manifest.state = .answered
        try take.save(manifest)
        rings.adoptOrphans { store }
        #expect(names == [])
        #expect(try take.audioName() == nil)
    }

    @Test func aPathIsTheSameHoweverItIsWritten() throws {
        let id = try id(1)
        let names = ["/a/b", "/a/b/", "//a//b"].map { RingFolder(ofSpool: $0).name(of: id) }
        #expect(Set(names).count == 1)
        #expect(RingFolder(ofSpool: "/a/c").name(of: id) != names[0])
    }

    /// A program that comes to the takes by another path finds a ring once the disk has answered; one
    /// that looks at a copy of them does not.
    @Test(arguments: [true, false]) func aTakeGetsItsRingByAnyPath(_ isCopy: Bool) throws {
        let id = try leaveRing(consuming: 44, named: 2)
        try leaveOnDisk(id, 44)
        let path = scratch.path("other/utter")
        if isCopy {
            _ = try scratch.folder("other")
        } else {
            #expect(symlink(scratch.path, scratch.path("other")) == 0)
        }
        let others = RingFolder(in: [scratch.path("run/utter")], ofSpool: path, fullestShare: 1)
        let other = try TakeStore(stateFolder: path, rings: others)
        if isCopy { try other.makeTake(id).unlock() }
        let before = names
        others.adoptOrphans { other }
        #expect(before.count == 1 && names == before)
        #expect(try other.recoverAll() == (isCopy ? [] : [id]))
        #expect(names == (isCopy ? before : []))
        #expect(try isCopy ? recovered() == [bytes] : store.take(id).manifest().frames == 8_000)
    }

    /// A person has removed the take, as far as the disk had it.
    @Test func theRestOfATakeThatIsGoneGoes() throws {
        _ = try leaveRing(consuming: 5_000)
        #expect(try recovered() == [])
        #expect(try store.ids() == [] && names == [])
    }

    @Test func whatIsOfOthersStays() throws {
        let other = RingFolder(
            in: [scratch.path("run/utter")], ofSpool: "/elsewhere", fullestShare: 1)
        _ = try leaveRing(2, in: other)
        _ = try leaveRing(3)
        // The first ring is changed into that of a later version.
        let newer = try #require(names.first { $0.contains("100003") })
        var ring = try scratch.read("run/utter/rings/\(newer)")
        ring[7] += 1
        try scratch.write(ring, to: "run/utter/rings/\(newer)")
        try scratch.write([1], to: "run/utter/rings/note")
        let before = names
        #expect(try recovered() == [])
        #expect(before.count == 3 && names == before)
    }

    @Test func aRingThatWasNotBegunGoes() throws {
        _ = try leaveRing()
        let name = try #require(names.first)
        let other = name.dropLast() + (name.hasSuffix("x") ? "y" : "x")
        try scratch.write([0, 0], to: "run/utter/rings/\(other)")
        #expect(try recovered() == [bytes])
        #expect(names == [])
    }

    /// A ninth one is in the memory of its process alone.
    @Test func eightAreMadeAtOnce() throws {
        var files = try (0..<8).map {
            try rings.makeRing(of: try manifest($0), minimumCapacity: 4_096)
        }
        let ninth = try manifest(8)
        #expect(throws: SystemError.self) { try rings.makeRing(of: ninth, minimumCapacity: 4_096) }
        files[0].remove()
        files.removeFirst()
        files.append(try rings.makeRing(of: ninth, minimumCapacity: 4_096))
        #expect(names.count == 8)
        for file in files { file.remove() }
        #expect(names == [])
    }

    @Test func aFileSystemThatIsFilledGetsNone() throws {
        let rings = RingFolder(in: [scratch.path("run/utter")], ofSpool: "/", fullestShare: 0)
        let manifest = try manifest()
        let error = #expect(throws: SystemError.self) {
            try rings.makeRing(of: manifest, minimumCapacity: 4_096)
        }
        #expect(error?.code == ENOSPC && names == [])
    }

    @Test func nothingOfOthersIsFollowed() throws {
        let victim = try scratch.folder("victim")
        try #require(symlink(victim.path, scratch.path("run/utter")) == 0)
        let manifest = try manifest()
        #expect(throws: SystemError.self) {
            try rings.makeRing(of: manifest, minimumCapacity: 4_096)
        }
        #expect(try victim.names() == [])
    }
}
