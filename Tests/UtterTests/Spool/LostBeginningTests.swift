// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import AudioCodecs
@testable import Cryptography
@testable import TakeStore
@testable import Utter

/// A power cut has taken what was written first, and left what was written after it.
@Suite struct LostBeginningTests {
    private let folder: TemporaryFolder
    private let key: EncryptionKey
    private let id: TakeID

    init() throws {
        folder = try TemporaryFolder()
        key = try EncryptionKey(bytes: Array(1...32))
        id = try #require(TakeID("20261121-060000-abcdefghjkmn"))
    }

    private func store() throws -> TakeStore {
        try TakeStore(stateFolder: folder.path("state"), key: key)
    }

    private func path(_ name: String) -> String { "state/takes/\(id.text)/\(name)" }

    /// Half a second of a tone, as pieces of the stream in the order in which they are written.
    private func pieces(_ format: AudioCodec) throws -> [[UInt8]] {
        let encoder = try format.makeEncoder()
        var pieces: [[UInt8]] = [[]]
        try encoder.begin(into: &pieces[0])
        for period in 0..<25 {
            let samples = (0..<320).map { index in
                Int16(clamping: Int(8_000 * sin(Double(period * 320 + index) / 7) + 8_001))
            }
            pieces.append([])
            try encoder.encode(samples.span, into: &pieces[period + 1])
        }
        return pieces
    }

    /// Leaves what a program had written that died while it recorded.
    private func leave(
        _ file: [UInt8], _ name: String, _ format: AudioCodec, hasManifest: Bool = true
    ) throws {
        let take = try store().makeTake(id)
        // A process that another test starts just now would hold the lock on.
        defer { take.unlock() }
        _ = try folder.write(file, to: path(name))
        guard hasManifest else { return }
        try take.save(
            TakeManifest(
                id: id, created: Date(), audio: name, format: format.name, source: "default",
                url: "http://service"))
    }

    /// Recovers twice, and opens what is there then.
    private func recovered() throws -> (manifest: TakeManifest, audio: [UInt8]) {
        #expect(try Recovery.recoverAll(in: store()) == [id])
        #expect(try Recovery.recoverAll(in: store()) == [])
        let take = try store().take(id)
        let manifest = try take.manifest()
        #expect(manifest.state == .kept)
        #expect(try take.fileNames() == [manifest.audio, "take.json"])
        let audio = try take.openAudio(of: manifest)
        #expect(audio.damage == [])
        let journal = audio.journal(byteCount: try #require(manifest.byteCount))
        #expect(try journal.sha256() == manifest.sha256)
        return (manifest, try journal.contents())
    }

    private func zeroed(_ file: [UInt8], _ range: Range<Int>) -> [UInt8] {
        var file = file
        for index in range { file[index] = 0 }
        return file
    }

    // MARK: - WAV

    @Test(arguments: [AudioCodec.wav, .pcm], [0..<44, 20..<44, 0..<512, 30..<1_000])
    func aLostWAVHeaderIsBuiltAnewAndWhatIsLeftKeepsItsPlace(
        _ format: AudioCodec, _ lost: Range<Int>
    ) throws {
        let whole = try pieces(format).flatMap { $0 }
        try leave(zeroed(whole, lost), "audio.wav", format)
        let (manifest, audio) = try recovered()
        #expect(manifest.frames == 8_000)
        #expect(manifest.format == format.name)
        #expect(audio == Array(whole[..<44]) + zeroed(whole, lost)[44...])
    }

    @Test func aLostHeaderIsBuiltAnewWithoutAManifest() throws {
        let whole = try pieces(.wav).flatMap { $0 }
        try leave(zeroed(whole, 0..<44), "audio.wav", .wav, hasManifest: false)
        #expect(try recovered().audio == whole)
    }

    @Test func aHeaderThatSaysSomethingElseIsLeftAlone() throws {
        var file = try pieces(.wav).flatMap { $0 }
        file[24] = 0x44
        try leave(file, "audio.wav", .wav)
        #expect(try recovered().audio == file)
    }

    // MARK: - Ogg Opus

    @Test(arguments: [1, 28, 47, 60, 100])
    func lostOggHeadersAreBuiltAnew(_ count: Int) throws {
        let whole = try pieces(.oggOpus).flatMap { $0 }
        try leave(zeroed(whole, 0..<count), "audio.ogg", .oggOpus)
        let (manifest, audio) = try recovered()
        #expect(audio == whole)
        #expect(manifest.reason == "the program ended while it was recording")
    }

    @Test(arguments: [1, 2, 10], [true, false])
    func lostOggPagesAreSilentAndWhatIsLeftKeepsItsPlace(_ count: Int, isTorn: Bool) throws {
        let pieces = try pieces(.oggOpus)
        let whole = pieces.flatMap { $0 }
        // The first page of audio and those after it.
        let lost = pieces[...count].reduce(0) { $0 + $1.count }
        try leave(zeroed(whole, 0..<lost - (isTorn ? 9 : 0)), "audio.ogg", .oggOpus)
        let (manifest, audio) = try recovered()
        #expect(audio.suffix(whole.count - lost) == whole.dropFirst(lost))
        #expect(manifest.reason == "its first \(20 * count) ms are lost, and silent now")
        let decoder = OggOpusDecoder()
        var samples: [Int16] = []
        try decoder.decode(audio.span, into: &samples)
        try decoder.finish(into: &samples)
        #expect(samples.count == manifest.frames)
        // The codec drops 104 frames at the start, as it does of the whole stream.
        #expect(samples.count == 8_000 - 104)
        #expect(samples[..<(count * 320 - 104)].allSatisfy { $0 == 0 })
        #expect(samples.suffix(320).contains { $0 != 0 })
    }

    // MARK: - FLAC

    @Test(arguments: [0..<1, 0..<42, 8..<18, 12..<86, 4..<86, 42..<44])
    func aLostFLACHeaderIsBuiltAnew(_ lost: Range<Int>) throws {
        let whole = try pieces(.flac).flatMap { $0 }
        #expect(FLACFile(whole).headerByteCount == 86)
        try leave(zeroed(whole, lost), "audio.flac", .flac)
        let (manifest, audio) = try recovered()
        #expect(audio == Array(whole[..<(manifest.byteCount ?? 0)]))
        #expect(manifest.frames == 25 * 319)
        #expect(manifest.reason == "the program ended while it was recording")
    }

    @Test(arguments: [1, 2, 10, 20], [true, false])
    func lostFLACFramesAreSilentAndWhatIsLeftKeepsItsPlace(_ count: Int, isTorn: Bool) throws {
        let whole = try pieces(.flac).flatMap { $0 }
        let frames = FLACFile(whole).frames
        let lost = frames[count - 1].endIndex - (isTorn ? 9 : 0)
        try leave(zeroed(whole, 0..<lost), "audio.flac", .flac)
        let (manifest, audio) = try recovered()
        let rest = whole[frames[count].startIndex...]
        #expect(audio.suffix(rest.count) == rest)
        #expect(manifest.reason == "its first \(319 * count / 16) ms are lost, and silent now")
        let decoder = FLACDecoder()
        var samples: [Int16] = []
        try decoder.decode(audio.span, into: &samples)
        try decoder.finish(into: &samples)
        #expect(samples.count == manifest.frames && samples.count == 25 * 319)
        #expect(samples[..<(count * 319)].allSatisfy { $0 == 0 })
        #expect(samples[(count * 319)...].prefix(319).contains { $0 != 0 })
    }

    // MARK: - Encrypted

    /// The encrypted file, one frame a piece, and where each frame begins.
    private func encrypted(
        _ pieces: [[UInt8]], _ name: String
    ) throws -> (file: [UInt8], starts: [Int]) {
        let template = try TakeStore(stateFolder: folder.path("template"), key: key)
        let journal = try template.makeTake(id).makeJournal(fileName: name)
        for piece in pieces { try journal.append(piece.span) }
        let file = try folder.read("template/takes/\(id.text)/\(name)")
        return (file, pieces.reduce(into: [120]) { $0.append($0[$0.count - 1] + $1.count + 28) })
    }

    @Test(arguments: [AudioCodec.wav, .pcm, .oggOpus], [true, false])
    func aLostFirstFrameOfAnEncryptedTakeIsBuiltAnew(
        _ format: AudioCodec, hasManifest: Bool
    ) throws {
        let pieces = try pieces(format)
        let name = "audio.\(format.fileExtension).encrypted"
        let (file, starts) = try encrypted(pieces, name)
        let torn = zeroed(file, starts[0] + 12..<starts[1])
        try leave(torn, name, format, hasManifest: hasManifest)
        let copy = folder.path("copy")
        try #require(link(folder.path(path(name)), copy) == 0)
        let (manifest, audio) = try recovered()
        #expect(audio == pieces.flatMap { $0 })
        #expect(manifest.reason == "the program ended while it was recording")
        // Of the file that was replaced nothing can be decrypted any more.
        let old = try folder.read("copy")
        #expect(old[32..<120] != torn[32..<120])
        #expect(old[120...] == torn[120...])
    }

    @Test func aFrameThatIsLostBehindTheFirstIsSilentAndNamed() throws {
        let pieces = try pieces(.wav)
        let (file, starts) = try encrypted(pieces, "audio.wav.encrypted")
        let torn = (0..<3).reduce(file) { zeroed($0, starts[$1] + 12..<starts[$1 + 1]) }
        try leave(torn, "audio.wav.encrypted", .wav)
        let (manifest, audio) = try recovered()
        let whole = pieces.flatMap { $0 }
        #expect(audio == zeroed(whole, 44..<1_324))
        #expect(manifest.reason?.hasPrefix("1324 of \(whole.count) bytes of its audio") == true)
    }

    @Test(arguments: [0..<120, 8..<120, 12..<120, 20..<120, 40..<120, 72..<120])
    func anEncryptedTakeThatHasLostItsKeyIsSetAsideWithTheReason(_ lost: Range<Int>) throws {
        let file = try encrypted(try pieces(.wav), "audio.wav.encrypted").file
        for hasManifest in [true, false] {
            try leave(
                zeroed(file, lost), "audio.wav.encrypted", .wav, hasManifest: hasManifest)
            // Without a key there is no telling.
            let locked = try TakeStore(stateFolder: folder.path("state"))
            #expect(try Recovery.recoverAll(in: locked) == [])
            #expect(try locked.ids() == [id])
            let store = try store()
            #expect(try Recovery.recoverAll(in: store) == [])
            #expect(try store.ids() == [])
            #expect(store.quarantined().names == [id.text])
            let reason = try #require(store.quarantineReason(of: id.text))
            #expect(reason.hasPrefix("the key within its encrypted file is lost"))
            let left = "state/quarantine/\(id.text)/audio.wav.encrypted"
            #expect(try folder.read(left) == zeroed(file, lost))
            try FileManager.default.removeItem(atPath: folder.path("state/quarantine"))
        }
    }

    // MARK: - The end, and nothing at all

    @Test func zerosInTheLastBlockNeverArrivedAndAreCutOff() throws {
        let whole = try pieces(.wav).flatMap { $0 }
        // Synced, and then made longer by two periods that the disk has not.
        try leave(whole[..<6_444] + [UInt8](repeating: 0, count: 1_280), "audio.wav", .wav)
        #expect(try recovered().audio == Array(whole[..<6_444]))
    }

    @Test func zerosOfMoreThanABlockAreSilence() throws {
        let whole = try pieces(.wav).flatMap { $0 }
        let silence = [UInt8](repeating: 0, count: 10_000)
        try leave(whole[..<6_444] + silence, "audio.wav", .wav)
        // 16,444 bytes are four blocks and 60.
        #expect(try recovered().audio == Array((whole[..<6_444] + silence)[..<16_384]))
    }

    @Test func fewZerosAtTheEndAreSamples() throws {
        let whole = try pieces(.wav).flatMap { $0 }
        try leave(whole[..<6_444] + [UInt8](repeating: 0, count: 30), "audio.wav", .wav)
        #expect(try recovered().manifest.frames == 3_215)
    }

    @Test(
        arguments: [
            "audio.wav", "audio.ogg", "audio.flac", "audio.wav.encrypted", "audio.ogg.encrypted",
            "audio.flac.encrypted",
        ])
    func aTakeOfWhichNothingArrivedIsSetAsideWithTheReason(_ name: String) throws {
        let format = AudioCodec.allCases.last { name.contains($0.fileExtension) } ?? .wav
        let header = name.hasSuffix("encrypted") ? try encrypted([], name).file : []
        try leave(header + [UInt8](repeating: 0, count: 3_000), name, format)
        let store = try store()
        #expect(try Recovery.recoverAll(in: store) == [])
        #expect(try store.ids() == [])
        #expect(store.quarantineReason(of: id.text) == "nothing of its audio is on the disk")
    }
}
