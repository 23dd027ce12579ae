// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import TakeStore
@testable import Utter

/// What recovery makes of takes whose program died while it sent them, and of damaged ones.
@Suite struct AbandonedTakeTests {
    private let folder: TemporaryFolder
    private let store: TakeStore
    private let id: TakeID
    private let audio: [UInt8]

    init() throws {
        folder = try TemporaryFolder()
        store = try TakeStore(stateFolder: folder.path("state"))
        id = try #require(TakeID("20261121-060000-abcdefghjkmn"))
        let encoder = try AudioCodec.wav.makeEncoder()
        var bytes: [UInt8] = []
        try encoder.begin(into: &bytes)
        try encoder.encode([Int16](repeating: 7, count: 1_000).span, into: &bytes)
        try encoder.finish(into: &bytes)
        audio = bytes
    }

    private func path(_ name: String) -> String { "state/takes/\(id.text)/\(name)" }

    /// Leaves a take behind; a manifest if `change` is given.
    private func leave(_ change: ((inout TakeManifest) -> Void)?) throws {
        let take = try store.makeTake(id)
        // Said, because a child of another test may hold the descriptor until it executes.
        defer { take.unlock() }
        try folder.write(audio, to: path("audio.wav"))
        guard let change else { return }
        var manifest = TakeManifest(
            id: id, created: Date(), audio: "audio.wav", format: "wav", source: "default",
            url: "http://service")
        manifest.byteCount = audio.count
        manifest.frames = 1_000
        manifest.sha256 = "as it was"
        manifest.beginTransfer(1, at: Date(), to: manifest.url)
        change(&manifest)
        try take.save(manifest)
    }

    @Test(arguments: [TakeManifest.State.sealed, .sending])
    func whatWasSealedIsKeptWithoutReadingItsAudio(_ state: TakeManifest.State) throws {
        try leave {
            $0.state = state
            $0.holder = 1
        }
        #expect(try Recovery.recoverUnlocked(in: store) == [id])
        #expect(try Recovery.recoverAll(in: store) == [])
        let manifest = try store.take(id).manifest()
        #expect(manifest.state == .kept)
        #expect(manifest.reason == "the program ended while it was sending")
        #expect(manifest.sha256 == "as it was")
        #expect(manifest.holder == nil)
        #expect(manifest.attempts == 1)
        #expect(manifest.mayBeDelivered)
    }

    @Test(arguments: [AudioCodec.pcm, .oggOpus])
    func aTakeThatWasSealedWithoutASampleLeavesNothing(_ format: AudioCodec) throws {
        let name = "audio.\(format.fileExtension)"
        let encoder = try format.makeEncoder()
        var headers: [UInt8] = []
        try encoder.begin(into: &headers)
        try leave {
            $0.state = .sealed
            $0.audio = name
            $0.format = format.name
            $0.byteCount = headers.count
            $0.frames = 0
        }
        try store.take(id).removeAudio(fileName: "audio.wav")
        try folder.write(headers, to: path(name))
        #expect(try Recovery.recoverAll(in: store) == [])
        #expect(try store.ids() == [])
        #expect(store.quarantined().names == [])
    }

    @Test func aTransferThatHadFailedIsNoReasonForDoubt() throws {
        try leave {
            $0.state = .sending
            $0.endTransfer(1, "refused", at: Date(), status: nil, wasWhole: false)
        }
        try Recovery.recoverAll(in: store)
        #expect(try !store.take(id).manifest().mayBeDelivered)
    }

    @Test func aSealedTakeThatLostItsEndIsMeasuredAnew() throws {
        try leave { $0.state = .sending }
        try folder.write(Array(audio.dropLast(101)), to: path("audio.wav"))
        try Recovery.recoverAll(in: store)
        let manifest = try store.take(id).manifest()
        #expect(manifest.byteCount == audio.count - 102)
        #expect(manifest.frames == 949)
        #expect(manifest.sha256?.count == 64)
    }

    @Test(arguments: ["", "{", "[]", #"{"version":1}"#, #"{"version":1,"attempts":-1}"#])
    func aDamagedManifestIsBuiltAnewFromTheAudio(_ text: String) throws {
        try leave { $0.state = .kept }
        try folder.write(Array(text.utf8), to: path("take.json"))
        #expect(try Recovery.recoverUnlocked(in: store) == [id])
        let manifest = try store.take(id).manifest()
        #expect(manifest.state == .kept)
        #expect(manifest.frames == 1_000)
        #expect(manifest.created == "2026-11-21T06:00:00Z")
        #expect(try readFile(folder.path(path("take.json.damaged"))) == Array(text.utf8))
        #expect(try readFile(folder.path(path("audio.wav"))) == audio)
    }

    @Test func aDamagedManifestGoesWithTheAudio() throws {
        try leave { $0.state = .kept }
        try folder.write(Array("{".utf8), to: path("take.json"))
        try Recovery.recoverAll(in: store)
        let take = try store.take(id)
        try take.removeAudio(fileName: "audio.wav")
        #expect(try take.fileNames() == ["take.json"])
    }

    @Test func aDamagedManifestGoesWithTheTake() throws {
        try leave { $0.state = .kept }
        try folder.write(Array("{".utf8), to: path("take.json"))
        try Recovery.recoverAll(in: store)
        try store.remove(try store.take(id))
        #expect(try store.takes.names() == [])
    }

    // MARK: - Transfers that the manifest did not hear of

    /// Leaves a take in the middle of its second transfer, and a note of what has begun since.
    private func leaveWithNote(_ change: (inout TakeManifest) -> Void) throws {
        try leave {
            $0.state = .sending
            $0.endTransfer(1, "refused", at: Date(), status: 503, wasWhole: false)
            $0.beginTransfer(2, at: Date(), to: "http://127.0.0.1:9/")
        }
        var note = try store.take(id).manifest()
        change(&note)
        try store.take(id).noteTransfers(of: note)
    }

    @Test func aTransferThatBeganBehindASlowDiskIsCounted() throws {
        try leaveWithNote {
            $0.endTransfer(2, "refused", at: Date(), status: 503, wasWhole: false)
            $0.beginTransfer(3, at: Date(), to: "http://127.0.0.1:9/")
            // It may not be durable, unlike what the manifest says.
            $0.byteCount = 7
            $0.sha256 = "not there yet"
        }
        #expect(try Recovery.recoverUnlocked(in: store) == [id])
        let manifest = try store.take(id).manifest()
        #expect(manifest.attempts == 3)
        #expect(manifest.history?.map(\.number) == [1, 2, 3])
        #expect(manifest.mayBeDelivered)
        #expect(manifest.byteCount == audio.count)
        #expect(manifest.sha256 == "as it was")
        #expect(try store.take(id).fileNames() == ["audio.wav", "take.json"])
    }

    @Test func aTransferThatBeganIsCountedWithoutAManifest() throws {
        try leaveWithNote { $0.beginTransfer(3, at: Date(), to: "http://127.0.0.1:9/") }
        try folder.write(Array("{".utf8), to: path("take.json"))
        try Recovery.recoverAll(in: store)
        #expect(try store.take(id).manifest().attempts == 3)
    }

    @Test func anOldNoteSaysNothing() throws {
        try leaveWithNote { $0.history = [] }
        try Recovery.recoverAll(in: store)
        let manifest = try store.take(id).manifest()
        #expect(manifest.attempts == 2)
        #expect(manifest.history?.map(\.number) == [1, 2])
    }

    @Test(arguments: ["", "{", #"{"version":1}"#])
    func aTornNoteSaysNothing(_ text: String) throws {
        try leaveWithNote { _ in }
        try folder.write(Array(text.utf8), to: path("take.json.begun"))
        #expect(try Recovery.recoverUnlocked(in: store) == [id])
        #expect(try store.take(id).manifest().attempts == 2)
        #expect(try store.take(id).fileNames() == ["audio.wav", "take.json"])
    }

    // MARK: -

    @Test func aLaterVersionIsNeverTouched() throws {
        try leave(nil)
        let text = Array(#"{"version": 5, "mood": "good"}"#.utf8)
        try folder.write(text, to: path("take.json"))
        #expect(try Recovery.recoverAll(in: store) == [])
        #expect(try readFile(folder.path(path("take.json"))) == text)
        #expect(try store.take(id).fileNames() == ["audio.wav", "take.json"])
    }

    @Test func aTakeWithoutAudioIsQuarantinedAndNotDeleted() throws {
        try leave { $0.state = .kept }
        try store.take(id).removeAudio(fileName: "audio.wav")
        #expect(try Recovery.recoverAll(in: store) == [])
        #expect(try store.ids() == [])
        #expect(store.quarantined().names == [id.text])
        #expect(try folder.names(in: "state/quarantine/\(id.text)") == ["take.json"])
    }

    @Test func aDamagedManifestWithoutAudioIsQuarantined() throws {
        try store.makeTake(id).unlock()
        try folder.write(Array("{".utf8), to: path("take.json"))
        try Recovery.recoverAll(in: store)
        #expect(store.quarantined().names == [id.text])
    }

    @Test func audioThatWasBeingMadeAnewIsAdopted() throws {
        let take = try store.makeTake(id)
        try folder.write(audio, to: path("audio.wav.new"))
        take.unlock()
        #expect(try Recovery.recoverUnlocked(in: store) == [id])
        #expect(try store.take(id).manifest().frames == 1_000)
    }

    @Test func leftoversOfATakeThatDiedAtItsBirthAreRemoved() throws {
        try store.makeTake(id).unlock()
        try folder.write([1], to: path("take.json.new"))
        try Recovery.recoverAll(in: store)
        #expect(try store.ids() == [])
        #expect(store.quarantined().names == [])
    }

    @Test func somebodysFolderWithATakesNameStays() throws {
        try store.makeTake(id).unlock()
        try folder.write([1], to: path("notes.txt"))
        try Recovery.recoverAll(in: store)
        #expect(try store.take(id).fileNames() == ["notes.txt"])
    }

    @Test func aNewTakeIsNotTakenForALeftover() throws {
        // A recovery that runs all the while must never pull the folder from under a new take.
        let finished = Gate()
        let state = folder.path("state")
        let thread = try NamedThread(name: "recovery") {
            // The store was opened above with the same path.
            guard let other = try? TakeStore(stateFolder: state) else { return }
            while !finished.isOpen {
                // What it cannot do now it does in the next round.
                _ = try? Recovery.recoverAll(in: other)
            }
        }
        defer {
            finished.open()
            thread.join()
        }
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let take = try store.makeTake(TakeID(at: Date(), using: &generator))
            // No other process may lock it while it is held.
            #expect(try !store.take(take.id).lock())
            _ = try take.makeJournal(fileName: "audio.wav")
            #expect(store.holds(take))
            try store.remove(take)
        }
    }

    @Test func aDamagedTakeDoesNotKeepTheOthersFromIt() throws {
        let damaged = try #require(TakeID("20261121-050000-abcdefghjkmn"))
        try store.makeTake(damaged).unlock()
        try folder.write([1], to: "state/takes/\(damaged.text)/take.json")
        try folder.write([1], to: "state/takes/20261121-040000-abcdefghjkmn")
        try leave { $0.state = .sending }
        #expect(try Recovery.recoverUnlocked(in: store) == [id])
    }
}
