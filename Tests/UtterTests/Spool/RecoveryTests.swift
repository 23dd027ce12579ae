// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import AudioCodecs
@testable import TakeStore
@testable import Utter

/// Each test names the moment at which the program died, builds what it left, and recovers.
@Suite struct RecoveryTests {
    private let folder: TemporaryFolder
    private let store: TakeStore
    private let id = TakeID("20261121-060000-abcdefghjkmn")

    init() throws {
        folder = try TemporaryFolder()
        store = try TakeStore(stateFolder: folder.path("state"))
    }

    /// What is left of a take: its audio, and a manifest unless the program died before it.
    private func leave(_ audio: [UInt8], _ format: AudioCodec, hasManifest: Bool = true) throws {
        let id = try #require(id)
        let take = try store.makeTake(id)
        let name = "audio.\(format.fileExtension)"
        let journal = try take.makeJournal(fileName: name)
        try journal.append(audio.span)
        if hasManifest {
            try take.save(
                TakeManifest(
                    id: id, created: Date(), audio: name, format: format.name,
                    source: "default", url: "http://service"))
        }
    }

    private func encoded(_ format: AudioCodec, frames: Int) throws -> [UInt8] {
        let encoder = try format.makeEncoder()
        var bytes: [UInt8] = []
        try encoder.begin(into: &bytes)
        let samples = (0..<frames).map { Int16(truncatingIfNeeded: $0 &* 257) }
        try encoder.encode(samples.span, into: &bytes)
        try encoder.finish(into: &bytes)
        return bytes
    }

    private func recovered() throws -> TakeManifest {
        let id = try #require(id)
        #expect(try Recovery.recoverUnlocked(in: store) == [id])
        // Idempotent: a second recovery finds nothing to do.
        #expect(try Recovery.recoverAll(in: store) == [])
        return try store.take(id).manifest()
    }

    @Test func aTakeThatDiedWhileRecordingIsKeptWhole() throws {
        let audio = try encoded(.wav, frames: 1_000)
        try leave(audio, .wav)
        let manifest = try recovered()
        #expect(manifest.state == .kept)
        #expect(manifest.frames == 1_000)
        #expect(manifest.byteCount == audio.count)
        #expect(manifest.sha256?.count == 64)
    }

    @Test func aTornFrameIsCutOff() throws {
        let audio = try encoded(.pcm, frames: 1_000)
        try leave(Array(audio.dropLast(1)), .pcm)
        let manifest = try recovered()
        #expect(manifest.frames == 999)
        let id = try #require(id)
        let size = try store.take(id).audioByteCount(fileName: "audio.wav")
        #expect(size == 44 + 999 * 2)
    }

    @Test func aHeaderThatWasTornLeavesNothing() throws {
        try leave(Array(try encoded(.wav, frames: 0).prefix(20)), .wav)
        #expect(try Recovery.recoverAll(in: store) == [])
        #expect(try store.ids() == [])
    }

    @Test(arguments: [1, 100, 700])
    func aTornPageIsCutOff(missing: Int) throws {
        let audio = try encoded(.oggOpus, frames: 32_000)
        try leave(Array(audio.dropLast(missing)), .oggOpus)
        let manifest = try recovered()
        let byteCount = try #require(manifest.byteCount)
        #expect(byteCount < audio.count - missing)
        let decoder = OggOpusDecoder()
        var samples: [Int16] = []
        let intact = Array(audio[..<byteCount])
        try decoder.decode(intact.span, into: &samples)
        try decoder.finish(into: &samples)
        #expect(samples.count == manifest.frames)
        #expect(samples.count > 25_000)
    }

    @Test(arguments: [1, 100, 900])
    func aTornFLACFrameIsCutOff(missing: Int) throws {
        let audio = try encoded(.flac, frames: 32_000)
        try leave(Array(audio.dropLast(missing)), .flac)
        let manifest = try recovered()
        let frames = FLACFile(audio).frames.filter { $0.endIndex <= audio.count - missing }
        #expect(manifest.byteCount == frames.last?.endIndex)
        #expect(manifest.frames == frames.count * 319)
    }

    @Test(arguments: [AudioCodec.oggOpus, .flac])
    func aTakeThatDiedBeforeItsFirstManifestIsFound(_ codec: AudioCodec) throws {
        try leave(try encoded(codec, frames: 16_000), codec, hasManifest: false)
        let manifest = try recovered()
        #expect(manifest.state == .kept)
        #expect(manifest.format == codec.name)
        #expect(manifest.frames == 16_000)
    }

    @Test func aTakeThatIsStillBeingRecordedIsLeftAlone() throws {
        try leave(try encoded(.wav, frames: 100), .wav)
        let id = try #require(id)
        let recorder = try store.take(id)
        #expect(try recorder.lock())
        #expect(try Recovery.recoverAll(in: store) == [])
        #expect(try recorder.manifest().state == .recording)
    }
}
