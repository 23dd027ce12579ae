// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import Cryptography
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
            .replacing(#""version" : 1"#, with: #""version" : 99"#)
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

    @Test func aTakeWhoseProgramDiedIsListedAsItIsAndRecoveredWhenAskedFor() throws {
        for number in 1...2 {
            try bench.keep(number) {
                $0.state = .recording
                ($0.byteCount, $0.frames) = (nil, nil)
            }
        }
        let dead = try bench.takes { $0.allSatisfy(\.isAbandoned) }
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

    @Test func aTakeIsFoundByAnyPartOfItsNameThatNoOtherHas() throws {
        let takes = try (1...3).map { try bench.keep($0) }
        for part in ["last~1", "11-0600", "abcdefghjk12", "12-abc", takes[1].id.text] {
            let count = part == "11-0600" ? 0 : 1
            // One that means several throws.
            let found = try? bench.spool.take(part).id
            #expect(found == (count == 0 ? nil : takes[1].id), "\(part)")
        }
        #expect(throws: TakeStoreError.noSuchTake("2099")) { try bench.spool.take("2099") }
        #expect(throws: TakeStoreError.ambiguous("abcd", takes.map(\.id))) {
            try bench.spool.take("abcd")
        }
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
}
