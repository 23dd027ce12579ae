// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import TakeStore

@Suite struct TakeStoreTests {
    private func id(_ text: String) throws -> TakeID { try #require(TakeID(text)) }

    private let first = "20261121-052233-k3f9q2m7x4tz"
    private let second = "20261121-052234-aaaaaaaaaaaa"
    private let third = "20261122-000000-000000000000"

    private func store(in scratch: TemporaryFolder, takes: [String] = []) throws -> TakeStore {
        let store = try TakeStore(stateFolder: scratch.path + "/utter")
        for take in takes { try store.makeTake(try id(take)).save(try manifest(take)) }
        return store
    }

    private func manifest(_ text: String) throws -> TakeManifest {
        TakeManifest(
            id: try id(text), created: Date(timeIntervalSince1970: 1_795_238_553),
            audio: "audio.wav", format: "wav", source: "default",
            url: "https://speech.example/recognize")
    }

    @Test func takesAreListedOldestFirst() throws {
        let scratch = try TemporaryFolder()
        let store = try store(in: scratch, takes: [third, first, second])
        #expect(try store.ids().map(\.text) == [first, second, third])
        #expect(store.path == scratch.path + "/utter/takes")
    }

    @Test func whatIsNoTakeIsNotListed() throws {
        let scratch = try TemporaryFolder()
        let store = try store(in: scratch, takes: [first])
        _ = try Folder.make(at: store.path + "/notes")
        _ = try Folder.make(at: store.path + "/\(first)-copy")
        _ = try Folder.make(at: store.path + "/.hidden")
        #expect(try store.ids().map(\.text) == [first])
        #expect(try store.find("last").id.text == first)
        #expect(try store.find(first).id.text == first)
    }

    @Test func aTakeIsFoundByAPartOfItsName() throws {
        let scratch = try TemporaryFolder()
        let store = try store(in: scratch, takes: [first, second, third])
        #expect(try store.find(first).id.text == first)
        #expect(try store.find("20261121-052234").id.text == second)
        #expect(try store.find("20261122").id.text == third)
        #expect(try store.find("last").id.text == third)
        #expect(try store.find("k3f9").id.text == first)
        #expect(try store.find("x4tz").id.text == first)
        #expect(try store.find("last~2").id.text == first)
        let candidates = [try id(first), try id(second)]
        #expect(throws: TakeStoreError.ambiguous("20261121", candidates)) {
            try store.find("20261121")
        }
        #expect(throws: TakeStoreError.noSuchTake("last~3")) { try store.find("last~3") }
        #expect(throws: TakeStoreError.noSuchTake("2027")) { try store.find("2027") }
        #expect(throws: TakeStoreError.noSuchTake("")) { try store.find("") }
    }

    @Test func anEmptyStoreHasNoLastTake() throws {
        let scratch = try TemporaryFolder()
        let store = try store(in: scratch)
        #expect(try store.ids() == [])
        #expect(throws: TakeStoreError.noSuchTake("last")) { try store.find("last") }
    }

    @Test func aTakeThatIsGoneIsNamed() throws {
        let scratch = try TemporaryFolder()
        let store = try store(in: scratch)
        #expect(throws: TakeStoreError.noSuchTake(first)) { try store.take(try id(first)) }
    }

    @Test func aFolderThatCannotBeUsedIsNamed() throws {
        let scratch = try TemporaryFolder()
        try scratch.write([1], to: "utter")
        let error = #expect(throws: TakeStoreError.self) { try store(in: scratch) }
        let path = scratch.path + "/utter"
        #expect(
            error?.description
                == "takes cannot be kept in '\(path)': open \(path): Not a directory")
    }

    @Test func aManifestIsReadAsItWasSaved() throws {
        let scratch = try TemporaryFolder()
        let take = try store(in: scratch).makeTake(try id(first))
        var manifest = try manifest(first)
        try take.save(manifest)
        #expect(try take.manifest() == manifest)
        manifest.state = .answered
        manifest.byteCount = 64_044
        manifest.frames = 32_000
        manifest.gapFrames = 0
        manifest.transcript = "“quoted” / \u{1F600} \n"
        try take.save(manifest)
        #expect(try take.manifest() == manifest)
    }

    @Test func theManifestHasTheseBytes() throws {
        var manifest = try manifest(first)
        manifest.state = .kept
        manifest.byteCount = 64_044
        manifest.sha256 = String(repeating: "0f", count: 32)
        manifest.frames = 32_000
        manifest.gapFrames = 320
        manifest.attempts = 2
        manifest.reason = "the server is busy"
        let golden = """
            {
              "attempts" : 2,
              "audio" : "audio.wav",
              "byteCount" : 64044,
              "created" : "2026-11-21T05:22:33Z",
              "format" : "wav",
              "frames" : 32000,
              "gapFrames" : 320,
              "id" : "20261121-052233-k3f9q2m7x4tz",
              "reason" : "the server is busy",
              "sha256" : "\(String(repeating: "0f", count: 32))",
              "source" : "default",
              "state" : "kept",
              "url" : "https://speech.example/recognize",
              "version" : 1
            }

            """
        #expect(String(decoding: try manifest.encoded(), as: UTF8.self) == golden)
    }

    @Test func membersThatAreNotKnownAreIgnored() throws {
        let scratch = try TemporaryFolder()
        let take = try store(in: scratch).makeTake(try id(first))
        var text = String(decoding: try manifest(first).encoded(), as: UTF8.self)
        text.removeFirst(1)
        try scratch.write(Array("{\"mood\": [1],\(text)".utf8), to: manifestPath(first))
        #expect(try take.manifest() == manifest(first))
    }

    @Test(arguments: [
        #"{"version": 5}"#, #"{"version": 5, "id": 7, "state": "dreaming"}"#,
    ])
    func aManifestOfALaterVersionIsRefusedAsSuch(text: String) throws {
        let scratch = try TemporaryFolder()
        let take = try store(in: scratch).makeTake(try id(first))
        try scratch.write(Array(text.utf8), to: manifestPath(first))
        #expect(throws: TakeStoreError.laterVersion(take: first, version: 5)) {
            try take.manifest()
        }
    }

    @Test(arguments: ["", "{", "[]", "{}", #"{"version": 1}"#, "{\"version\": \"1\"}", "\0\0\0\0"])
    func aDamagedManifestIsNamed(text: String) throws {
        let scratch = try TemporaryFolder()
        let take = try store(in: scratch).makeTake(try id(first))
        try scratch.write(Array(text.utf8), to: manifestPath(first))
        let reason = "take.json cannot be understood"
        #expect(throws: TakeStoreError.damaged(take: first, reason: reason)) {
            try take.manifest()
        }
    }

    @Test func aManifestThatIsMissingOrTooLongIsNamed() throws {
        let scratch = try TemporaryFolder()
        let take = try store(in: scratch).makeTake(try id(first))
        #expect(
            throws: TakeStoreError.unreadable(
                take: first, reason: "take.json: No such file or directory")
        ) { try take.manifest() }
        try scratch.write(
            Array(repeating: 0x20, count: TakeFolder.manifestLimit + 1), to: manifestPath(first))
        #expect(throws: TakeStoreError.damaged(take: first, reason: "take.json is too long")) {
            try take.manifest()
        }
    }

    @Test func theAudioOfATakeIsMadeOnceAndOpenedAgain() throws {
        let scratch = try TemporaryFolder()
        let take = try store(in: scratch).makeTake(try id(first))
        let journal = try take.makeJournal(fileName: "audio.wav")
        try journal.append([1, 2, 3].span)
        journal.seal()
        #expect(journal.path == take.path + "/audio.wav")
        let audio = try take.openAudio(fileName: "audio.wav")
        #expect(try audio.journal(byteCount: 3).contents() == [1, 2, 3])
        let error = #expect(throws: SystemError.self) {
            try take.makeJournal(fileName: "audio.wav")
        }
        #expect(error?.code == EEXIST)
        try take.removeAudio(fileName: "audio.wav")
        let gone = #expect(throws: SystemError.self) {
            try take.openAudio(fileName: "audio.wav")
        }
        #expect(gone?.code == ENOENT)
    }

    @Test func aTakeThatCapturedNothingIsRemoved() throws {
        let scratch = try TemporaryFolder()
        let store = try store(in: scratch, takes: [first])
        let take = try store.makeTake(try id(second))
        _ = try take.makeJournal(fileName: "audio.ogg")
        try take.save(try manifest(second))
        try scratch.write([1], to: manifestPath(second) + ".new")
        store.removeEmptyTake(take)
        #expect(try store.ids().map(\.text) == [first])
        store.removeEmptyTake(take)
    }

    @Test func aFolderWithSomethingUnknownStays() throws {
        let scratch = try TemporaryFolder()
        let store = try store(in: scratch)
        let take = try store.makeTake(try id(first))
        try take.save(try manifest(first))
        try scratch.write([1], to: "utter/takes/\(first)/notes.txt")
        store.removeEmptyTake(take)
        #expect(try store.ids().map(\.text) == [first])
        #expect(try scratch.read("utter/takes/\(first)/notes.txt") == [1])
    }

    private func manifestPath(_ take: String) -> String { "utter/takes/\(take)/take.json" }
}
