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

    private let scratch: TemporaryFolder
    private let store: TakeStore

    init() throws {
        scratch = try TemporaryFolder()
        store = try TakeStore(stateFolder: scratch.path + "/utter")
    }

    private func save(_ takes: String...) throws {
        for take in takes { try store.makeTake(try id(take)).save(try manifest(take)) }
    }

    private func manifest(_ text: String) throws -> TakeManifest {
        TakeManifest(
            id: try id(text), created: Date(timeIntervalSince1970: 1_795_238_553),
            audio: "audio.wav", format: "wav", source: "default",
            url: "https://speech.example/recognize")
    }

    /// Whether a stretch may have been delivered does not depend on why the take was not.
    @Test(arguments: [true, false], [1, nil]) func aStretchMayHaveBeenDelivered(
        _ isForGood: Bool, _ unknown: Int?
    ) throws {
        var take = try manifest(first)
        take.reach(ExchangeProgress(step: "stretches", values: [:], plan: "", unknown: unknown))
        take.count(taken: unknown ?? 0, peak: nil)
        take.fail(
            "refused", isUnwanted: false, isForGood: isForGood, isOfAnswer: false,
            mayBeTheTakes: false)
        #expect(take.mayBeDelivered == (unknown != nil))
        // An answer to the whole recording that could not be read was one.
        take.reach(nil)
        #expect(take.mayBeDelivered == (unknown != nil && !isForGood))
    }

    @Test func whatIsNoTakeIsNotListed() throws {
        try save(first)
        _ = try Folder.make(at: store.path + "/notes")
        _ = try Folder.make(at: store.path + "/\(first)-copy")
        _ = try Folder.make(at: store.path + "/.hidden")
        #expect(try store.ids().map(\.text) == [first])
        #expect(try store.find("last").id.text == first)
    }

    @Test func takesAreListedOldestFirstAndFoundByAPartOfTheirNames() throws {
        try save(third, first, second)
        #expect(try store.ids().map(\.text) == [first, second, third])
        #expect(store.path == scratch.path + "/utter/takes")
        #expect(try store.find(first).id.text == first)
        #expect(try store.find("20261121-052234").id.text == second)
        #expect(try store.find("20261122").id.text == third)
        #expect(try store.find("last").id.text == third)
        #expect(try store.find("last~2").id.text == first)
        let candidates = [try id(first), try id(second)]
        #expect(throws: TakeStoreError.ambiguous("20261121", candidates)) {
            try store.find("20261121")
        }
        #expect(throws: TakeStoreError.noSuchTake("last~3")) { try store.find("last~3") }
        #expect(throws: TakeStoreError.noSuchTake("2027")) { try store.find("2027") }
        #expect(throws: TakeStoreError.noSuchTake("")) { try store.find("") }
    }

    @Test func aTakeThatIsGoneIsNamed() throws {
        #expect(try store.ids() == [])
        #expect(throws: TakeStoreError.noSuchTake("last")) { try store.find("last") }
        #expect(throws: TakeStoreError.noSuchTake(first)) { try store.take(try id(first)) }
    }

    @Test func aFolderThatCannotBeUsedIsNamed() throws {
        let path = try scratch.write([1], to: "file")
        let error = #expect(throws: TakeStoreError.self) { try TakeStore(stateFolder: path) }
        #expect(
            error?.description
                == "takes cannot be kept in '\(path)': open \(path): Not a directory")
    }

    @Test func aManifestIsReadAsItWasSaved() throws {
        let take = try store.makeTake(try id(first))
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
              "version" : 2
            }

            """
        #expect(String(decoding: try manifest.encoded(), as: UTF8.self) == golden)
    }

    @Test func membersThatAreNotKnownAreIgnored() throws {
        let take = try store.makeTake(try id(first))
        var text = String(decoding: try manifest(first).encoded(), as: UTF8.self)
        text.removeFirst(1)
        try scratch.write(Array("{\"mood\": [1],\(text)".utf8), to: manifestPath(first))
        #expect(try take.manifest() == manifest(first))
    }

    private static let damaged = TakeStoreError.damaged(
        take: "20261121-052233-k3f9q2m7x4tz", reason: "take.json cannot be understood")
    private static let later = TakeStoreError.laterVersion(
        take: "20261121-052233-k3f9q2m7x4tz", version: 5)

    @Test(
        arguments: [
            (#"{"version": 5}"#, later), (#"{"version": 5, "id": 7, "state": "dreaming"}"#, later),
            ("", damaged), ("{", damaged), ("[]", damaged), ("{}", damaged),
            (#"{"version": 1}"#, damaged), ("{\"version\": \"1\"}", damaged),
            ("\0\0\0\0", damaged),
        ] as [(String, TakeStoreError)])
    func aManifestThatCannotBeReadIsNamed(text: String, error: TakeStoreError) throws {
        let take = try store.makeTake(try id(first))
        try scratch.write(Array(text.utf8), to: manifestPath(first))
        #expect(throws: error) { try take.manifest() }
    }

    @Test func aManifestThatIsMissingOrTooLongIsNamed() throws {
        let take = try store.makeTake(try id(first))
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
        let take = try store.makeTake(try id(first))
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
        try save(first)
        let take = try store.makeTake(try id(second))
        _ = try take.makeJournal(fileName: "audio.ogg")
        try take.save(try manifest(second))
        try scratch.write([1], to: manifestPath(second) + ".new")
        store.removeEmptyTake(take)
        #expect(try store.ids().map(\.text) == [first])
        store.removeEmptyTake(take)
    }

    @Test func aFolderWithSomethingUnknownStays() throws {
        let take = try store.makeTake(try id(first))
        try take.save(try manifest(first))
        try scratch.write([1], to: "utter/takes/\(first)/notes.txt")
        store.removeEmptyTake(take)
        #expect(try store.ids().map(\.text) == [first])
        #expect(try scratch.read("utter/takes/\(first)/notes.txt") == [1])
    }

    private func manifestPath(_ take: String) -> String { "utter/takes/\(take)/take.json" }
}

@Suite struct TakeStoreErrorTests {
    @Test(
        arguments: [
            (TakeStoreError.noSuchTake("2026"), "there is no take '2026'"),
            (.noSuchTake("last"), "there is no take yet"),
            (
                .audioGone(take: "t", wasAnswered: true),
                "take t has been answered, and its audio deleted"
            ),
            (.audioGone(take: "t", wasAnswered: false), "the audio of take t is gone"),
            (
                .ambiguous(
                    "2026", ["a", "b"].compactMap { TakeID("20261121-052233-aaaaaaaaaaa\($0)") }),
                "'2026' matches 2 takes"
            ),
            (
                .unreadable(take: "t", reason: "take.json is damaged"),
                "take t cannot be read: take.json is damaged"
            ),
            (
                .laterVersion(take: "t", version: 2),
                "take t was written by a later utter (version 2 of take.json)"
            ),
        ] as [(TakeStoreError, String)])
    func anErrorSaysWhatHappened(error: TakeStoreError, description: String) {
        #expect(error.description == description)
        #expect("\(error)" == description)
    }

    @Test func aSystemErrorSaysWhatTheSystemSays() {
        let error = SystemError(call: "open /x", code: ENOENT)
        #expect(error.reason == "No such file or directory")
        #expect(error.description == "open /x: No such file or directory")
        #expect("\(error)" == error.description)
        #expect(SystemError(call: "call", code: 9_999).reason == "Unknown error 9999")
    }
}
