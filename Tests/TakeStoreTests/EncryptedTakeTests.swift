// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cryptography
@testable import LinuxPlatform
@testable import TakeStore

@Suite struct EncryptedTakeTests {
    private let scratch: TemporaryFolder
    private let store: TakeStore
    private let take: TakeFolder

    init() throws {
        scratch = try TemporaryFolder()
        let key = try EncryptionKey(bytes: Array(1...32))
        store = try TakeStore(stateFolder: scratch.path + "/utter", key: key)
        take = try store.makeTake(try #require(TakeID("20261121-052233-k3f9q2m7x4tz")))
    }

    private func manifest(_ transcript: String) -> TakeManifest {
        var manifest = TakeManifest(
            id: take.id, created: Date(), audio: take.newAudioName("audio.wav"), format: "pcm",
            source: "diary.wav", url: "http://service/")
        manifest.beginTransfer(1, at: Date(), to: manifest.url)
        manifest.endTransfer(1, "words of it", at: Date(), status: 503, wasWhole: true)
        manifest.reason = "words of it"
        manifest.transcript = transcript
        manifest.sha256 = String(repeating: "5e", count: 32)
        manifest.progress = ExchangeProgress(step: "ask", values: ["job": "word of it"], plan: "p")
        return manifest
    }

    /// The same take, opened with another key, or none.
    private func take(secret: [UInt8]?) throws -> TakeFolder {
        let key = try secret.map { try EncryptionKey(bytes: $0) }
        return try TakeStore(stateFolder: scratch.path + "/utter", key: key).take(take.id)
    }

    private var path: String { "utter/takes/\(take.id.text)/" }

    @Test(arguments: [10, 100_000])
    func theManifestComesBackWithTheKeyOnly(length: Int) throws {
        let written = manifest(String(repeating: "word ", count: length))
        try take.save(written)
        #expect(try take.manifest() == written)
        let names = try take.fileNames()
        #expect(names == ["take.json"])
        for name in names {
            let text = String(decoding: try scratch.read(path + name), as: UTF8.self)
            // Longer than chance would write into 700,000 characters of base64.
            #expect(!text.contains("word word") && !text.contains("diary"))
            #expect(!text.contains("5e5e5e5e") && !text.contains("word of it"))
        }
        for secret in [nil, Array(2...33)] as [[UInt8]?] {
            let other = try take(secret: secret)
            var locked = try other.manifest()
            #expect(locked.isLocked)
            #expect(locked.transcript == nil && locked.reason == nil && locked.history == nil)
            #expect(locked.attempts == 1)
            // A process without the key can say that it is released, and loses nothing.
            locked.isReleased = true
            try other.save(locked)
        }
        var expected = written
        expected.isReleased = true
        #expect(try take.manifest() == expected)
    }

    @Test func anAlteredSecretIsDamageAndNoTranscript() throws {
        try take.save(manifest("words"))
        let name = path + "take.json"
        var text = String(decoding: try scratch.read(name), as: UTF8.self)
        let start = try #require(text.ranges(of: "\"secret\" : \"").first?.upperBound)
        // Behind the name of the form, which is 8 bytes.
        let index = text.index(start, offsetBy: 40)
        text.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
        try scratch.write(Array(text.utf8), to: name)
        #expect(
            throws: TakeStoreError.damaged(
                take: take.id.text, reason: "the encrypted part of take.json was altered")
        ) { try take.manifest() }
    }

    @Test func aSecretIsOfNoUseInAnotherTake() throws {
        try take.save(manifest("words"))
        let other = try store.makeTake(try #require(TakeID("20261121-052234-k3f9q2m7x4tz")))
        let text = String(decoding: try scratch.read(path + "take.json"), as: UTF8.self)
        try scratch.write(
            Array(text.replacing(take.id.text, with: other.id.text).utf8),
            to: "utter/takes/\(other.id.text)/take.json")
        #expect(try other.manifest().isLocked)
    }

    @Test func deletedAudioCannotBeDecryptedFromACopyOfItsBlocks() throws {
        let journal = try take.makeJournal(fileName: "audio.wav.encrypted")
        try journal.append([1, 2, 3].span)
        journal.seal()
        #expect(try take.openAudio(of: manifest("")).journal(byteCount: 3).contents() == [1, 2, 3])
        // Another name for the same blocks.
        let file = scratch.path + "/" + path + "audio.wav.encrypted"
        try #require(link(file, scratch.path + "/copy") == 0)
        let before = try scratch.read("copy")
        try take.removeAudio(fileName: "audio.wav.encrypted")
        let after = try scratch.read("copy")
        #expect(after.count == before.count)
        #expect(after[16..<120] != before[16..<120])
        #expect(Array(after[120...]) == Array(before[120...]))
        try scratch.write(after, to: path + "audio.wav.encrypted")
        #expect(
            throws: TakeStoreError.damaged(
                take: take.id.text,
                reason: "the key within its encrypted file is lost, without which nothing of the "
                    + "audio can be read")
        ) { try take.openAudio(of: manifest("")) }
        // The whole take goes the same way.
        try scratch.write(before, to: path + "audio.wav.encrypted")
        try #require(link(file, scratch.path + "/second") == 0)
        try store.remove(take)
        #expect(try scratch.read("second")[16..<120] != before[16..<120])
    }

    @Test func audioIsNeverInTheClearForWantOfAKey() throws {
        let plain = try take(secret: nil)
        #expect(plain.newAudioName("audio.wav") == "audio.wav")
        #expect(throws: SystemError.self) {
            try plain.makeJournal(fileName: "audio.wav.encrypted")
        }
        #expect(try plain.fileNames() == [])
    }

    @Test func theWrongKeyIsToldFromNone() throws {
        try take.makeJournal(fileName: "audio.wav.encrypted").seal()
        let manifest = manifest("")
        #expect(throws: TakeStoreError.keyMissing(take: take.id.text)) {
            try take(secret: nil).openAudio(of: manifest)
        }
        #expect(throws: TakeStoreError.keyWrong(take: take.id.text)) {
            try take(secret: Array(2...33)).openAudio(of: manifest)
        }
    }
}
