// SPDX-License-Identifier: Apache-2.0

import Cryptography
import FoundationEssentials
import Glibc
import OperatorMetrics
import TestSupport
import Testing

@testable import TakeStore
@testable import Utter

/// What is answered is stored once more, at a place of the person's own.
@Suite struct ArchiveTests {
    private struct Known: Decodable {
        var id, sha256: String
        var byteCount, frames: Int
        var encrypted: Bool
    }

    private let store: FileServer
    private let key: EncryptionKey

    init() throws {
        store = try FileServer(keepsConnections: true)
        key = try EncryptionKey(bytes: Array(1...32))
    }

    private func digest(of bytes: [UInt8]) -> String {
        var digest = SHA256()
        digest.update(bytes.span)
        return digest.hexadecimal
    }

    private static let said = Array("well said\n".utf8)
    private static let byteCount = 44 + 2 * ArchiveBench.sound.count

    @Test func anAnsweredTakeIsStoredWithItsTextAndWhatIsKnownOfIt() async throws {
        let bench = try ArchiveBench(store)
        let id = try await bench.say()
        let report = await bench.pipeline.archive()
        #expect((report.stored, report.waiting) == (1, 0))
        #expect(report.reason == nil)
        let day = try bench.spool.take(id.text).known?.created.prefix(10) ?? ""
        let names = store.files.keys.sorted()
        #expect(names.map { $0.split(separator: ".").last } == ["json", "txt", "wav"])
        #expect(names.allSatisfy { $0.contains("/\(id.text).") && $0.hasPrefix("/voices/\(day)/") })
        let audio = try #require(store["wav"])
        #expect(audio.count == Self.byteCount)
        // The length is in its header: nothing of it is left open.
        let length: Int = audio[40..<44].reversed().reduce(0) { $0 << 8 | Int($1) }
        #expect(length == audio.count - 44)
        #expect(store["txt"] == Self.said)
        let json = try #require(store["json"])
        let known = try JSONDecoder().decode(Known.self, from: Data(json))
        #expect(known.id == id.text)
        #expect(known.sha256 == digest(of: audio))
        #expect(known.byteCount == audio.count)
        #expect(known.frames == ArchiveBench.sound.count)
        #expect(!known.encrypted)
        // It names no host and no secret.
        let text = String(decoding: json, as: UTF8.self)
        for word in ["127.0.0.1", "http", "sesame", bench.folder.path, "token"] {
            #expect(!text.contains(word))
        }
        #expect(try bench.queue().isEmpty)
        // An operator hears of the take, and not of its objects.
        let families = bench.pipeline.numbers.families
        let takes = families.first { $0.name == "utter_takes_total" }
        #expect(takes?.samples.map(\.value) == [1])
        // Once more there is nothing to do.
        let count = store.server.requests.count
        #expect(await bench.pipeline.archive().stored == 0)
        #expect(store.server.requests.count == count)
    }

    @Test func anArchiveThatIsAwayHoldsUpNoTextAndLosesNothing() async throws {
        store.mood = .away
        let bench = try ArchiveBench(store)
        let id = try await bench.say()
        let report = await bench.pipeline.archive()
        #expect((report.stored, report.waiting) == (0, 1))
        #expect(report.reason?.contains("503") == true)
        // The text was handed over, and its audio went by the rule: what the queue has did not.
        #expect(try bench.folder.names(in: "state/takes/\(id.text)") == ["take.json"])
        let waiting = try #require(try bench.queue().first)
        #expect(waiting.audioPath != nil)
        store.mood = .kind
        #expect(await bench.pipeline.archive(isAsked: true).stored == 1)
        #expect(store["wav"]?.count == Self.byteCount)
        #expect(try bench.queue().isEmpty)
    }

    /// The first program ends once a request has come; nothing of it holds a take then.
    @Test(arguments: 0..<4)
    func anotherProgramGoesOnWhereOneHasEnded(_ request: Int) async throws {
        let gate = Gate()
        let store = try FileServer(
            keepsConnections: true,
            before: Array(repeating: [], count: request) + [[.stallUntil(gate)]])
        let first = try ArchiveBench(store)
        let id = try await first.say()
        #expect(await store.server.waitForRequest(min(request, 2)) != nil)
        first.pipeline.shutDown()
        gate.open()
        let second = try ArchiveBench(store, in: first.folder)
        #expect(await second.storesAll())
        #expect(store.files.keys.allSatisfy { $0.contains(id.text) })
        #expect(store.files.count == 3)
        #expect(store["txt"] == Self.said)
        #expect(store["wav"]?.count == Self.byteCount)
    }

    /// A store that says the name and the digest of what it has.
    @Test(arguments: [false, true])
    func whatAStoreHasDoneWithoutSayingSoIsLookedUp(isEncrypted: Bool) async throws {
        store.mood = .confused
        let bench = try ArchiveBench(store, key: isEncrypted ? key : nil, service: "there")
        _ = try await bench.say()
        #expect(await bench.pipeline.archive().stored == 1)
        let methods = store.server.requests.map(\.method)
        #expect(methods == ["PUT", "HEAD", "PUT", "HEAD", "PUT", "HEAD"])
        #expect(store.files.count == 3)
        let takes = store.server.requests.compactMap { $0["x-amz-meta-take"] }
        #expect(takes.count == 3)
        // What is encrypted anew each time has no digest that could be told again.
        let digests = store.server.requests.compactMap { $0["x-amz-meta-digest"] }
        #expect(digests.count == (isEncrypted ? 1 : 3))
        let signatures = store.server.requests.compactMap { $0["Authorization"] }
        #expect(signatures.count == 6)
    }

    @Test func aProgramThatAsksAfterTheEndIsAnswered() async throws {
        store.mood = .away
        let bench = try ArchiveBench(store)
        _ = try await bench.say()
        _ = await bench.pipeline.archive()
        bench.pipeline.shutDown()
        let answered = Gate()
        let asking = Task {
            let report = await bench.pipeline.archive(isAsked: true)
            answered.open()
            return report
        }
        try #require(await answered.wait())
        let report = await asking.value
        #expect((report.stored, report.waiting) == (0, 1))
        // Nobody holds what waits.
        store.mood = .kind
        let second = try ArchiveBench(store, in: bench.folder)
        #expect(await second.storesAll())
    }

    @Test func anObjectThatIsThereIsNotReplaced() async throws {
        let bench = try ArchiveBench(store)
        store.mood = .full
        _ = try await bench.say()
        let report = await bench.pipeline.archive()
        #expect(report.stored == 0)
        let words = "3 of \(Self.byteCount) bytes are there under that name"
        #expect(report.reason?.contains(words) == true)
        #expect(try bench.queue().count == 1)
        // It is not tried again at once, and not for ever unless a person asks.
        let count = store.server.requests.count
        _ = await bench.pipeline.archive()
        #expect(store.server.requests.count == count)
        _ = await bench.pipeline.archive(isAsked: true)
        #expect(store.server.requests.count > count)
    }

    @Test func whatFindsNoRoomInTheQueueStaysWhereItIs() async throws {
        let bench = try ArchiveBench(
            store, limits: SpoolLimits(takes: 1, bytes: 1 << 30, free: 0))
        // The first is let in, and stays there.
        store.mood = .away
        let first = try await bench.say()
        await bench.pipeline.settled()
        let second = try await bench.say()
        _ = await bench.pipeline.archive()
        #expect(try bench.queue().map(\.id) == [first])
        await bench.pipeline.settled()
        #expect(try bench.spool.take(second.text).audioPath != nil)
        bench.pipeline.sweep()
        await bench.pipeline.settled()
        #expect(try bench.spool.take(second.text).audioPath != nil)
        store.mood = .kind
        // The sweep above goes on by itself, and may let the second in at once.
        #expect(await bench.pipeline.archive(isAsked: true).stored >= 1)
        bench.pipeline.sweep()
        #expect(await store.wait(untilFiles: 6))
    }

    @Test func anEncryptedTakeIsStoredAsItLies() async throws {
        let bench = try ArchiveBench(store, key: key)
        let id = try await bench.say()
        #expect(await bench.pipeline.archive().stored == 1)
        let audio = try #require(store["wav.encrypted"])
        #expect(audio.starts(with: Array("utterenc".utf8)))
        let known = try #require(store["json.encrypted"])
        let opened = try key.open(known, for: Array("archive \(id.text) json".utf8))
        let text = String(decoding: opened, as: UTF8.self)
        #expect(text.contains(digest(of: audio)))
        let said = try key.open(
            try #require(store["txt.encrypted"]), for: Array("archive \(id.text) txt".utf8))
        #expect(said == Self.said)
        // What is stored can be read with the key alone, by its name.
        let other = Spool(at: bench.folder.path("elsewhere"), key: { @Sendable in key })
        for (suffix, bytes) in [("wav", audio), ("json", known)] {
            let file = try bench.folder.write(bytes, to: "\(id.text).\(suffix).encrypted")
            let copy = bench.folder.path("copy.\(suffix)")
            #expect(try other.export(archived: file, to: copy) == nil)
            let clear = try bench.folder.read("copy.\(suffix)")
            #expect(suffix == "json" ? clear == opened : clear.count == Self.byteCount)
        }
        let wrong = Spool(
            at: bench.folder.path("other"),
            key: { @Sendable in try EncryptionKey(bytes: Array(2...33)) })
        for suffix in ["wav", "json"] {
            let file = bench.folder.path("\(id.text).\(suffix).encrypted")
            #expect(throws: TakeStoreError.keyWrong(take: id.text)) {
                try wrong.export(archived: file, to: bench.folder.path("no.\(suffix)"))
            }
        }
        #expect(store.files.values.allSatisfy { !$0.contains(Array("well".utf8)) })
    }

    @Test func anEncryptedTakeIsStoredInTheClearIfThatIsWanted() async throws {
        let bench = try ArchiveBench(store, key: key, decrypts: true)
        _ = try await bench.say()
        #expect(await bench.pipeline.archive().stored == 1)
        #expect(store["txt"] == Self.said)
        #expect(store["wav"]?.starts(with: Array("RIFF".utf8)) == true)
    }

    @Test func aTakeThatIsRemovedIsStoredUnlessThatIsForGood() async throws {
        store.mood = .away
        let bench = try ArchiveBench(store, key: key)
        let (one, two) = (try await bench.say(), try await bench.say())
        _ = await bench.pipeline.archive()
        await bench.pipeline.settled()
        try bench.spool.remove(one)
        #expect(!(try bench.spool.remove(two, forGood: true)))
        #expect(try bench.queue().map(\.id) == [one])
        store.mood = .kind
        #expect(await bench.pipeline.archive(isAsked: true).stored == 1)
        #expect(store.files.count == 3)
        #expect(store.files.keys.allSatisfy { $0.contains(one.text) })
        // The key within it was not destroyed with the take.
        let audio = try #require(store["wav.encrypted"])
        let path = try bench.folder.write(audio, to: "there")
        let file = makePlainFile(OwnedDescriptor(taking: open(path, O_RDONLY)))
        let whole = try EncryptedFile.open(file, size: audio.count, key: key, take: one.text)
        #expect(whole.damage.isEmpty)
    }

    @Test func whatAQueueDoesNotTakeIsSaid() async throws {
        let bench = try ArchiveBench(store)
        mkdir(bench.folder.path("state"), 0o700)
        try bench.folder.write([1], to: "state/archive")
        let id = try await bench.say()
        let report = await bench.pipeline.archive()
        #expect((report.stored, report.waiting) == (0, 1))
        #expect(report.reason?.contains("its queue") == true)
        #expect(try bench.spool.take(id.text).audioPath != nil)
        #expect(unlink(bench.folder.path("state/archive")) == 0)
        #expect(await bench.pipeline.archive().stored == 1)
        #expect(store.files.count == 3)
    }

    /// Each state that a kill between the steps of the queue leaves.
    @Test(arguments: ["nothing", "manifest", "audio", "all"])
    func aKilledProgramLeavesNothingThatTheArchiveMisses(_ left: String) async throws {
        store.mood = .away
        let bench = try ArchiveBench(store)
        let id = try await bench.say()
        _ = await bench.pipeline.archive()
        await bench.pipeline.settled()
        // The take does not know of it, and what is in the queue is as it was then.
        let folder = try bench.spool.store().take(id)
        var manifest = try folder.manifest()
        manifest.archive?.isQueued = false
        try folder.save(manifest)
        let queue = bench.folder.path("state/archive/takes")
        let own = "\(bench.spool.folder)/takes/\(id.text)/audio.wav"
        #expect(link("\(queue)/\(id.text)/audio.wav", own) == 0, "errno \(errno)")
        if left != "all" {
            #expect(rename("\(queue)/\(id.text)", "\(queue)/.new-\(id.text)") == 0)
            if left != "manifest" { unlink("\(queue)/.new-\(id.text)/take.json") }
            if left != "audio" { unlink("\(queue)/.new-\(id.text)/audio.wav") }
        }
        store.mood = .kind
        #expect(await bench.pipeline.archive(isAsked: true).stored == 1)
        #expect(store.files.count == 3)
        let count = store.server.requests.count
        #expect(await bench.pipeline.archive(isAsked: true).waiting == 0)
        #expect(store.server.requests.count == count)
    }

    @Test(arguments: [
        "https://store.example/voices/{id}.wav", "https://store.example/voices/{date}.{ext}",
        "https://store.example/{id}.{ext}/there",
    ])
    func anArchiveNeedsAPlaceForEachTake(_ url: String) throws {
        #expect(throws: ServiceError.self) {
            try Archive(DeliveryPlan(service: RecognitionService(url: ServiceURL(url))))
        }
    }
}

/// A speaker whose words are recognised, and stored in an archive.
final class ArchiveBench: Sendable {
    static let sound: [Int16] = {
        var random = SeededRandom(seed: 24)
        return random.noise(count: 16_000)
    }()

    let folder: TemporaryFolder
    let spool: Spool
    let pipeline: Pipeline
    private let service: RecordingServer
    private let recording: String

    init(
        _ store: FileServer, in folder: TemporaryFolder? = nil, key: EncryptionKey? = nil,
        decrypts: Bool = false, limits: SpoolLimits = .standard, service name: String = "webdav"
    ) throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        recording = try folder.write(WAVBytes.speech(Self.sound), to: "sound.wav")
        service = try RecordingServer(otherwise: .answer(text: "well said"))
        try folder.write(
            Array("extends = 's3'\nurl = '\(store.server.url())voices/{key}'\n".utf8),
            to: "there.toml")
        let words = name == "there" ? ["bucket": "voices", "key": "{date}/{id}.{ext}"] : [:]
        var delivery = try Service(
            name, words: words, profiles: .shipped + .folder(folder.path)
        ).delivery
        if name == "webdav" {
            delivery.service.url = try ServiceURL(store.server.url("/voices/{date}/{id}.{ext}"))
        }
        delivery.retry = FaultBench.quick
        var archive = try Archive(delivery)
        archive.decrypts = decrypts
        spool = Spool(
            at: folder.path("state"), key: key.map { key in { @Sendable in key } }, limits: limits,
            retention: .withoutAnsweredAudio, archive: archive)
        pipeline = try Pipeline(spool: spool, secrets: { _ in "AKIATEST" })
    }

    deinit { pipeline.shutDown() }

    /// Says something, and takes the text.
    func say() async throws -> TakeID {
        var service = try RecognitionService(url: ServiceURL(service.url("/?token=sesame")))
        service.add(try Credential(secret: "sesame"))
        let take = pipeline.start(
            TakePlan(
                source: FileReplay(path: self.recording, pace: .unpaced),
                delivery: DeliveryPlan(service: service, retry: .never)))
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "well said")
        take.release()
        return take.id
    }

    /// Tries until the archive has all, and no thread of another pipeline holds a take.
    func storesAll() async -> Bool {
        let deadline = ContinuousClock.now + .patience
        while ContinuousClock.now < deadline {
            if await pipeline.archive(isAsked: true).waiting == 0 { return true }
        }
        return false
    }

    /// What the archive is still to get.
    func queue() throws -> [Utter.KeptTake] { try spool.queue.takes() }
}
