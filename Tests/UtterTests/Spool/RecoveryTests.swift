// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import AudioCodecs
@testable import LinuxPlatform
@testable import TakeStore
@testable import Utter

/// Each test names the moment at which the program died, builds what it left, and recovers.
@Suite struct RecoveryTests {
    private let left: LeftTake
    private let audio: [UInt8]
    private var store: TakeStore { left.store }
    private var id: TakeID { left.id }

    init() throws {
        left = try LeftTake()
        audio = try AudioCodec.wav.file(of: [Int16](repeating: 7, count: 1_000))
    }

    private func encoded(_ format: AudioCodec, frames: Int) throws -> [UInt8] {
        try format.file(of: (0..<frames).map { Int16(truncatingIfNeeded: $0 &* 257) })
    }

    @Test func aTornFrameIsCutOff() throws {
        try left.leave(Array(try encoded(.pcm, frames: 1_000).dropLast(1)), .pcm)
        #expect(try left.recovered().frames == 999)
        let size = try store.take(id).audioByteCount(fileName: "audio.wav")
        #expect(size == 44 + 999 * 2)
    }

    @Test func aHeaderThatWasTornLeavesNothing() throws {
        try left.leave(Array(try encoded(.wav, frames: 0).prefix(20)))
        #expect(try store.recoverAll() == [])
        #expect(try store.ids() == [])
    }

    @Test(arguments: [1, 100, 700])
    func aTornPageIsCutOff(missing: Int) throws {
        let audio = try encoded(.oggOpus, frames: 32_000)
        try left.leave(Array(audio.dropLast(missing)), .oggOpus)
        let manifest = try left.recovered()
        let byteCount = try #require(manifest.byteCount)
        #expect(byteCount < audio.count - missing)
        let samples = try AudioCodec.oggOpus.samples(of: Array(audio[..<byteCount]))
        #expect(samples.count == manifest.frames)
        #expect(samples.count > 25_000)
    }

    @Test(arguments: [1, 100, 900])
    func aTornFLACFrameIsCutOff(missing: Int) throws {
        let audio = try encoded(.flac, frames: 32_000)
        try left.leave(Array(audio.dropLast(missing)), .flac)
        let manifest = try left.recovered()
        let frames = FLACFile(audio).frames.filter { $0.endIndex <= audio.count - missing }
        #expect(manifest.byteCount == frames.last?.endIndex)
        #expect(manifest.frames == frames.count * 319)
    }

    @Test(arguments: [AudioCodec.oggOpus, .flac])
    func blocksThatNeverCameToTheDiskBecomeSilence(_ codec: AudioCodec) throws {
        var audio = try encoded(codec, frames: 48_000)
        audio.replaceSubrange(4_096..<8_192, with: [UInt8](repeating: 0, count: 4_096))
        try left.leave(audio, codec)
        let manifest = try left.recovered()
        #expect(manifest.frames == 48_000)
        #expect(manifest.reason?.hasSuffix(" ms of it are lost, and silent now") == true)
        let file = try left.folder.read(left.path(manifest.audio))
        #expect(try codec.samples(of: file).count == 48_000)
    }

    @Test(arguments: [AudioCodec.oggOpus, .flac])
    func aTakeThatDiedBeforeItsFirstManifestIsFound(_ codec: AudioCodec) throws {
        try left.leave(try encoded(codec, frames: 16_000), codec, hasManifest: false)
        let manifest = try left.recovered()
        #expect(manifest.state == .kept)
        #expect(manifest.format == codec.name)
        #expect(manifest.frames == 16_000)
    }

    // MARK: - What was being sent, and what is damaged

    /// Leaves a take that was being sent.
    private func leave(_ change: (inout TakeManifest) -> Void) throws {
        try left.leave(audio) {
            $0.byteCount = audio.count
            $0.frames = 1_000
            $0.sha256 = "as it was"
            $0.beginTransfer(1, at: Date(), to: $0.url)
            change(&$0)
        }
    }

    private func write(_ text: String, to name: String = "take.json") throws {
        try left.folder.write(Array(text.utf8), to: left.path(name))
    }

    @Test(arguments: [TakeManifest.State.sealed, .sending])
    func whatWasSealedIsKeptWithoutReadingItsAudio(_ state: TakeManifest.State) throws {
        try leave {
            $0.state = state
            $0.holder = 1
        }
        let manifest = try left.recovered()
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
        var headers: [UInt8] = []
        try format.makeEncoder().begin(into: &headers)
        try leave {
            $0.state = .sealed
            $0.audio = name
            $0.format = format.name
            $0.byteCount = headers.count
            $0.frames = 0
        }
        try store.take(id).removeAudio(fileName: "audio.wav")
        try left.folder.write(headers, to: left.path(name))
        #expect(try store.recoverAll() == [])
        #expect(try store.ids() == [])
        #expect(store.quarantined().names == [])
    }

    @Test func aTransferThatHadFailedIsNoReasonForDoubt() throws {
        try leave {
            $0.state = .sending
            $0.endTransfer(1, "refused", at: Date(), status: nil, wasWhole: false)
        }
        #expect(try !left.recovered().mayBeDelivered)
    }

    @Test func aSealedTakeThatLostItsEndIsMeasuredAnew() throws {
        try leave { $0.state = .sending }
        try left.folder.write(Array(audio.dropLast(101)), to: left.path("audio.wav"))
        let manifest = try left.recovered()
        #expect(manifest.byteCount == audio.count - 102)
        #expect(manifest.frames == 949)
        #expect(manifest.sha256?.count == 64)
    }

    @Test(arguments: ["", "{", "[]", #"{"version":1}"#, #"{"version":1,"attempts":-1}"#])
    func aDamagedManifestIsBuiltAnewFromTheAudioAndGoesWithTheTake(_ text: String) throws {
        try leave { $0.state = .kept }
        try write(text)
        let manifest = try left.recovered()
        #expect(manifest.state == .kept)
        #expect(manifest.frames == 1_000)
        #expect(manifest.created == "2026-11-21T06:00:00Z")
        #expect(try left.folder.read(left.path("take.json.damaged")) == Array(text.utf8))
        #expect(try left.folder.read(left.path("audio.wav")) == audio)
        try store.remove(try store.take(id))
        #expect(try store.takes.names() == [])
    }

    @Test func aDamagedManifestGoesWithTheAudio() throws {
        try leave { $0.state = .kept }
        try write("{")
        _ = try left.recovered()
        let take = try store.take(id)
        try take.removeAudio(fileName: "audio.wav")
        #expect(try take.fileNames() == ["take.json"])
    }

    // MARK: - Transfers that the manifest did not hear of

    /// Leaves a take in the middle of its second transfer, and a note of what has begun since.
    private func leaveWithNote(_ change: (inout TakeManifest) -> Void) throws {
        try leave {
            $0.state = .sending
            $0.endTransfer(1, "refused", at: Date(), status: 503, wasWhole: false)
            $0.beginTransfer(2, at: Date(), to: "http://127.0.0.1:9/")
        }
        var note = try left.manifest
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
        let manifest = try left.recovered()
        #expect(manifest.attempts == 3)
        #expect(manifest.history?.map(\.number) == [1, 2, 3])
        #expect(manifest.mayBeDelivered)
        #expect(manifest.byteCount == audio.count)
        #expect(manifest.sha256 == "as it was")
        #expect(try left.fileNames == ["audio.wav", "take.json"])
    }

    @Test func aTransferThatBeganIsCountedWithoutAManifest() throws {
        try leaveWithNote { $0.beginTransfer(3, at: Date(), to: "http://127.0.0.1:9/") }
        try write("{")
        #expect(try left.recovered().attempts == 3)
    }

    @Test(arguments: [nil, "", "{", #"{"version":1}"#] as [String?])
    func anOldOrTornNoteSaysNothing(_ torn: String?) throws {
        try leaveWithNote { $0.history = [] }
        if let torn { try write(torn, to: "take.json.begun") }
        let manifest = try left.recovered()
        #expect(manifest.attempts == 2)
        #expect(manifest.history?.map(\.number) == [1, 2])
        #expect(try left.fileNames == ["audio.wav", "take.json"])
    }

    @Test(arguments: [false, true])
    func aTakeWithoutAudioIsQuarantinedAndNotDeleted(_ isDamaged: Bool) throws {
        try leave { $0.state = .kept }
        try store.take(id).removeAudio(fileName: "audio.wav")
        if isDamaged { try write("{") }
        #expect(try store.recoverAll() == [])
        #expect(try store.ids() == [])
        #expect(store.quarantined().names == [id.text])
        #expect(try left.folder.names(in: "state/quarantine/\(id.text)") == ["take.json"])
    }

    @Test func audioThatWasBeingMadeAnewIsAdopted() throws {
        try left.leave(audio, in: "audio.wav.new", hasManifest: false)
        #expect(try left.recovered().frames == 1_000)
    }

    @Test(arguments: [("take.json.new", false), ("notes.txt", true)])
    func aFolderWithoutATakeIsRemovedUnlessItIsSomebodys(_ name: String, stays: Bool) throws {
        try left.leave([1], in: name, hasManifest: false)
        try store.recoverAll()
        #expect(store.quarantined().names == [])
        if stays {
            #expect(try left.fileNames == [name])
        } else {
            #expect(try store.ids() == [])
        }
    }

    @Test func aNewTakeIsNotTakenForALeftover() throws {
        // A recovery that runs all the while must never pull the folder from under a new take.
        let finished = Gate()
        let state = left.folder.path("state")
        let thread = try NamedThread(name: "recovery") {
            // The store was opened above with the same path.
            guard let other = try? TakeStore(stateFolder: state) else { return }
            while !finished.isOpen {
                // What it cannot do now it does in the next round.
                _ = try? other.recoverAll()
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
        try left.folder.write([1], to: "state/takes/\(damaged.text)/take.json")
        try left.folder.write([1], to: "state/takes/20261121-040000-abcdefghjkmn")
        try leave { $0.state = .sending }
        #expect(try store.recoverUnlocked() == [id])
    }
}
