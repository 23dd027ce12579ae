// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cryptography
@testable import LinuxPlatform
@testable import SpeechService
@testable import TakeStore
@testable import Utter

/// What a program learns of the takes on the disk, and how it finds one.
@Suite struct SpoolTests {
    private let bench: SpoolBench

    init() throws { bench = try SpoolBench() }

    @Test func aSpoolWithoutAFolderHasNoTakesAndMakesNone() throws {
        let spool = Spool(at: bench.folder.path("nowhere"))
        #expect(try spool.takes().isEmpty && spool.removedTakes().isEmpty)
        #expect(try spool.recover().isEmpty)
        #expect(throws: TakeStoreError.noSuchTake("last")) { try spool.take("last") }
        #expect(try bench.folder.names() == [])
    }

    @Test func theListSaysWhatIsKnownOldestFirst() throws {
        try bench.keep(2) {
            $0.state = .answered
            $0.transcript = "heard"
        }
        try bench.keep(1) {
            $0.reason = "the service was gone"
            $0.attempts = 3
        }
        try bench.keep(3) { $0.state = .cancelled }
        let takes = try bench.spool.takes()
        #expect(takes.map(\.state) == [.kept, .answered, .cancelled])
        #expect(takes.map(\.isWaiting) == [true, false, false])
        #expect(takes[1].transcript == "heard")
        let kept = takes[0]
        #expect(kept.reason == "the service was gone" && kept.attempts == 3)
        #expect(kept.length == .microseconds(62_500))
        #expect(kept.service == "http://127.0.0.1:9/")
        #expect(kept.began == kept.id.date)
        #expect(kept.audioPath?.hasSuffix("/takes/\(kept.id.text)/audio.wav") == true)
        #expect(try bench.spool.takes(where: .waiting).map(\.id) == [kept.id])
    }

    @Test func dueIsWhatMayBeSentUnaskedNow() throws {
        try bench.keep(1) { $0.failures = 1 }
        try bench.keep(2) { $0.isHeld = true }
        try bench.keep(3)
        try bench.keep(4) { $0.state = .answered }
        #expect(try bench.spool.takes(where: .due).map(\.id) == [bench.id(3), bench.id(1)])
    }

    @Test func aTakeOfALaterFormIsListedAndLeftAlone() throws {
        let kept = try bench.keep(1)
        let path = "state/takes/\(kept.id.text)/take.json"
        let text = String(decoding: try bench.folder.read(path), as: UTF8.self)
            .replacing(#""version" : 2"#, with: #""version" : 99"#)
        try bench.folder.write(Array(text.utf8), to: path)
        for _ in 0..<2 {
            let take = try #require(try bench.spool.takes().first)
            #expect(take.state == .later && take.reason?.contains("version 99") == true)
            #expect(!take.isWaiting && !take.isAbandoned && take.obstacle() == nil)
            #expect(try bench.spool.recover().isEmpty)
            #expect(throws: TakeStoreError.laterVersion(take: take.id.text, version: 99)) {
                try DeliveryPlan(of: take)
            }
        }
        #expect(try bench.folder.read(path) == Array(text.utf8))
    }

    @Test func aTakeWhoseProgramDiedIsListedAsItIsAndRecoveredWhenAskedFor() async throws {
        for number in 1...2 {
            try bench.keep(number) {
                $0.state = .recording
                ($0.byteCount, $0.frames) = (nil, nil)
            }
        }
        let dead = try await bench.takes { $0.allSatisfy(\.isAbandoned) }
        #expect(dead.map(\.state) == [.recording, .recording])
        #expect(dead.first?.reason == "was recording when its program ended")
        #expect(try bench.spool.takes(where: .due).isEmpty)
        let found = try bench.spool.take("last")
        #expect(found.id == dead.last?.id && found.state == .kept)
        #expect(found.length == .microseconds(62_500))
        // The other is as it was.
        #expect(try bench.spool.takes().map(\.state) == [.recording, .kept])
        #expect(try bench.spool.recover() == [bench.id(1)])
        #expect(try bench.spool.takes(where: .due).count == 2)
    }

    @Test func aTakeThatARunningProgramHoldsIsNotAbandoned() throws {
        let kept = try bench.keep(1) { $0.state = .sending }
        let folder = try bench.spool.store().take(kept.id)
        #expect(try folder.lock())
        #expect(try bench.spool.takes().map(\.isAbandoned) == [false])
        #expect(try bench.spool.recover().isEmpty)
        #expect(throws: TakeStoreError.inUse(take: kept.id.text, isSending: true)) {
            try bench.spool.remove(kept.id)
        }
        folder.unlock()
    }

    @Test func theLastToSendIsTheNewestWithoutAnAnswer() throws {
        let spool = bench.spool
        try bench.keep(1)
        try bench.keep(2) { $0.state = .cancelled }
        try bench.keep(3) { $0.state = .answered }
        let id = { (name: String, isChanged: Bool) in
            try spool.take(toSend: name, isChanged: isChanged)?.id
        }
        #expect(try id("last", false) == bench.id(2))
        #expect(try id("last~1", false) == bench.id(1))
        #expect(try id("last~2", false) == nil)
        // Another request is another take for the service, answered or not.
        #expect(try id("last", true) == bench.id(3))
        #expect(try id("last~2", true) == bench.id(1))
        #expect(try id("abcdefghjk11", false) == bench.id(1))
        for number in 1...2 { try spool.remove(bench.id(number)) }
        #expect(try id("last", false) == bench.id(3))
    }

    @Test func withoutTheKeyATakeIsListedAndCannotBeSent() throws {
        let key = try EncryptionKey(bytes: Array("a key of more than sixteen bytes".utf8))
        let locked = Spool(at: bench.folder.path("state"), key: { key })
        let store = try locked.store()
        let take = try store.makeTake(bench.id(1))
        let journal = try take.makeJournal(fileName: "audio.wav.encrypted")
        try journal.append(WAVBytes.speech(SpoolBench.samples).span)
        var manifest = TakeManifest(
            id: take.id, created: Date(), audio: "audio.wav.encrypted", format: "pcm",
            source: "default", url: "http://127.0.0.1:9/")
        manifest.keep(reason: "a secret")
        manifest.byteCount = 44 + 2_000
        try take.save(manifest)
        take.unlock()
        #expect(try locked.takes().first?.reason == "a secret")
        let seen = try #require(try bench.spool.takes().first)
        #expect(seen.state == .kept && seen.reason == "encrypted, and no key was given")
        #expect(throws: TakeStoreError.keyMissing(take: take.id.text)) {
            try DeliveryPlan(of: seen)
        }
    }

    @Test func anAnswerThatWasPaidForIsReadByAnotherRule() throws {
        let take = try bench.keep(1) {
            ($0.unreadAnswer, $0.isUnreadAnswerWhole) = ("answer.body", true)
        }
        try bench.folder.write(
            Array(#"{"said":"two words"}"#.utf8),
            to: "state/takes/\(take.id.text)/answer.body")
        #expect(try bench.spool.reread(take, by: AnswerRule("json:other")) == nil)
        #expect(try bench.spool.reread(take, by: AnswerRule("json:said")) == "two words")
        let answered = try bench.spool.take("last")
        #expect(answered.state == .answered && answered.transcript == "two words")
        try bench.spool.release(answered)
        #expect(try bench.spool.take("last").known?.isReleased == true)
    }

    @Test func aTakeAsksForTheSecretsThatItRemembersAlone() throws {
        let text = "url = \"https://a.example/\"\n[auth]\nvariable = \"A_KEY\""
        let profile = try ServiceProfile(texts: [ProfileText(name: "test", text: text)])
        let wanted = [SecretSource.command("pass")]
        let cases = [("https://a.example", wanted), ("https://b.example", [])]
        for (number, (origin, sources)) in cases.enumerated() {
            let take = try bench.keep(number + 1) { manifest in
                var plan = try Service(profile).delivery
                plan.service.add(Credential(askedOf: .command("pass")))
                var record = plan.record
                record.secrets?[0].origin = origin
                manifest.delivery = record
            }
            let plan = try DeliveryPlan(of: take)
            #expect(plan.service.credentials.map(\.source) == sources)
        }
    }

    // MARK: - Which takes are sent unasked, in which order, and that none holds up another

    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// A take with so many failures, the last of which ended so long ago.
    private func take(
        _ number: Int, failures: Int? = nil, ago: TimeInterval = 0,
        change: (inout TakeManifest) -> Void = { _ in }
    ) throws -> KeptTake {
        try bench.keep(number) { manifest in
            manifest.failures = failures
            manifest.beginTransfer(1, at: now - ago, to: manifest.url)
            manifest.endTransfer(1, "answered", at: now - ago, status: 500, wasWhole: false)
            change(&manifest)
        }
    }

    @Test func whatHasFailedGoesBehindWhatHasNot() throws {
        let takes = [
            try take(1, failures: 3), try take(2), try take(3, failures: 1), try take(4),
            try take(5, failures: 3),
        ]
        let order = try [2, 4, 3, 1, 5].map { try bench.id($0) }
        #expect(KeptTake.inSendingOrder(takes).map(\.id) == order)
    }

    @Test(arguments: [
        (1, 0.0, true), (2, 899, false), (2, 900, true), (3, 1_799, false), (3, 1_800, true),
        (9, 86_399, false), (9, 86_400, true), (1_000, 86_400, true),
        // The clock has gone back: the time of the failure says nothing.
        (2, -1, false),
    ])
    func eachFailureDoublesThePauseOfItsOwnTake(
        failures: Int, ago: TimeInterval, isDue: Bool
    ) throws {
        let obstacle = try take(1, failures: failures, ago: ago).obstacle(at: now)
        #expect((obstacle == nil) == isDue)
        if !isDue, case .later(let next) = obstacle { #expect(next > now) }
    }

    @Test func whatWasRefusedForGoodWaitsForAChange() throws {
        let held = try take(1) { $0.isHeld = true }
        #expect(held.obstacle(at: now) == .held)
        #expect(held.obstacle(isChanged: true, at: now) == nil)
    }

    @Test func whatTheServiceMayHaveIsSentByThePlansWordOrTheCallers() throws {
        let usual = try take(1) { $0.taken = 1 }
        let doubtful = try take(2) {
            $0.taken = 1
            $0.delivery?.unknownOutcome = "keep"
        }
        #expect(usual.mayBeDelivered && doubtful.mayBeDelivered)
        #expect(usual.obstacle(at: now) == nil)
        #expect(usual.obstacle(unknownOutcome: .ask, at: now) == .doubtful)
        #expect(doubtful.obstacle(at: now) == .doubtful)
        #expect(doubtful.obstacle(unknownOutcome: .resend, at: now) == nil)
    }

    /// Its text is of more audio than the disk has: another one takes its place where that is wanted.
    @Test func theTextOfAWholeTakeStaysWhereAPartIsHeardLater() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "a part"))
        var generator = SystemRandomNumberGenerator()
        let id = TakeID(at: Date(), using: &generator)
        let take = try bench.keep(1, for: server.url(), as: id) {
            $0.state = .answered
            $0.transcript = "all of it"
        }
        #expect(take.known?.lacksEnd == nil)
        let path = try #require(take.audioPath)
        #expect(truncate(path, 44 + 1_000) == 0)
        let pipeline = try bench.pipeline()
        for (replaces, text) in [(false, "all of it"), (true, "a part")] {
            var plan = try DeliveryPlan(of: take)
            plan.replacesWhole = replaces
            let outcome = await (try pipeline.resend(take.id, by: plan)).outcome
            #expect(try outcome.result.get().text == "a part")
            await pipeline.settled()
            let known = try #require(try bench.spool.take(take.id.text).known)
            #expect(known.transcript == text && known.state == .answered)
            #expect(known.lacksEnd == true)
            #expect(known.frames == (replaces ? 500 : 1_000))
        }
        #expect(server.requests.map(\.body.count) == [1_000, 1_000])
    }

    @Test func whatHasWaitedForTooLongIsOld() throws {
        let store = try bench.spool.store()
        _ = SpoolAge(in: store, at: ClockReading(now - 50 * 86_400), isNoted: true)
        let id = try #require(TakeID("20261215-060000-abcdefghjkmn"))
        let began = try #require(id.date)
        try bench.keep(1, as: id)
        let days = { (count: Double) in
            SpoolAge(in: store, at: ClockReading(began + count * 86_400))
        }
        #expect(KeptTake(id, in: store, by: days(29)).obstacle(at: now) == nil)
        let old = KeptTake(id, in: store, by: days(31))
        #expect(old.obstacle(at: now) == .old)
        #expect(old.obstacle(waitingUpTo: nil, at: now) == nil)
    }

    // MARK: - How takes leave a spool and come back, and what is copied of them

    @Test func aRemovedTakeComesBackAsItWas() throws {
        let takes = try (1...2).map { try bench.keep($0) }
        let old = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
        for take in takes {
            let path = bench.folder.path("state/takes/\(take.id.text)")
            try #require(utimensat(AT_FDCWD, path, [old, old], 0) == 0)
            #expect(try bench.spool.remove(take.id))
        }
        // They stay for a day from now on, however old they are.
        let longAgo = Date(timeIntervalSince1970: 1_100_000_000)
        #expect(try bench.spool.removedTakes().allSatisfy { $0.date > longAgo })
        #expect(try bench.spool.takes().isEmpty)
        // One tick of the clock may be that of both.
        #expect(Set(try bench.spool.removedTakes().map(\.id)) == Set(takes.map(\.id)))
        let back = try bench.spool.undoRemove("abcdefghjk11")
        #expect(back.id == takes[0].id && back.audioPath != nil)
        #expect(try bench.spool.undoRemove().id == takes[1].id)
        #expect(try bench.spool.takes(where: .due).count == 2)
        #expect(throws: TakeStoreError.notRemoved(nil)) { try bench.spool.undoRemove() }
    }

    @Test func theTakeRemovedLastComesBackFirst() throws {
        let takes = try (1...2).map { try bench.keep($0) }
        let now = time(nil)
        for (take, tenths) in [(takes[1], 2), (takes[0], 7)] {
            try bench.spool.remove(take.id)
            let time = timespec(tv_sec: now, tv_nsec: tenths * 100_000_000)
            let path = bench.folder.path("state/removed/\(take.id.text)")
            try #require(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
        }
        #expect(try bench.spool.undoRemove().id == takes[0].id)
    }

    @Test func whatIsRemovedForGoodIsGoneAlsoIfItWasRemovedBefore() throws {
        let takes = try (1...3).map { try bench.keep($0) }
        #expect(try !bench.spool.remove(takes[0].id, forGood: true))
        #expect(try bench.spool.removedTakes().isEmpty)
        try bench.spool.remove(takes[1].id)
        #expect(try !bench.spool.remove(takes[1].id, forGood: true))
        #expect(try bench.spool.removedTakes().isEmpty)
        #expect(throws: TakeStoreError.noSuchTake(takes[1].id.text)) {
            try bench.spool.remove(takes[1].id, forGood: true)
        }
        try bench.spool.remove(takes[2].id)
        #expect(throws: TakeStoreError.notRemoved("2099")) { try bench.spool.undoRemove("2099") }
    }

    @Test func fromAShortDiskATakeIsRemovedForGood() throws {
        let full = try SpoolBench(limits: SpoolLimits(takes: 1, bytes: 1, free: .max))
        let take = try full.keep(1)
        #expect(try !full.spool.remove(take.id))
        #expect(try full.spool.removedTakes().isEmpty)
    }

    @Test func aTakeWithAPersonsOwnFileInItStays() throws {
        let take = try bench.keep(1)
        try bench.folder.write([1], to: "state/takes/\(take.id.text)/notes.txt")
        #expect(throws: TakeStoreError.self) { try bench.spool.remove(take.id) }
        #expect(try bench.spool.takes().count == 1)
    }

    @Test(arguments: ["pcm", "ogg-opus", "flac"])
    func anExportedWAVHasItsTrueLength(_ format: String) throws {
        let codec = try #require(AudioCodec(rawValue: format))
        let samples = TestSignal.voice(frames: 16_000, sampleRate: 16_000)
        let audio = try codec.file(of: samples)
        let name = "audio.\(codec.fileExtension)"
        let take = try bench.keep(1) { manifest in
            manifest.audio = name
            manifest.format = format
            manifest.byteCount = audio.count
            try bench.folder.write(audio, to: "state/takes/\(manifest.id.text)/\(name)")
        }
        let path = bench.folder.path("out.wav")
        #expect(try bench.spool.export(take, to: path) == nil)
        let wav = try readFile(path)
        #expect(wav.count == 44 + 32_000)
        #expect(Array(wav[40..<44]) == WAVBytes.number(32_000, 4))
        if format != "ogg-opus" { #expect(Array(wav[44...]) == WAVBytes.pcm(samples)) }
        // What exists is never overwritten.
        let error = #expect(throws: SystemError.self) { try bench.spool.export(take, to: path) }
        #expect(error?.code == EEXIST)
        // Without a known ending it is the file itself.
        try bench.spool.export(take, to: bench.folder.path("copy"))
        #expect(try readFile(bench.folder.path("copy")) == audio)

        let all = try bench.samples(of: take)
        #expect(all.count == samples.count)
        if format != "ogg-opus" { #expect(all == samples) }
    }

    @Test func aFileIsNotNamedAfterAFormThatItHasNot() throws {
        let take = try bench.keep(1)
        let path = bench.folder.path("out.mp3")
        #expect(
            throws: TakeStoreError.misnamed(
                take: take.id.text, file: path, holds: AudioCodec.pcm.title)
        ) { try bench.spool.export(take, to: path) }
        #expect(throws: (any Error).self) { try readFile(path) }
    }
}
