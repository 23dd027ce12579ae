// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioCodecs
@testable import Cryptography
@testable import TakeStore
@testable import Utter

/// A power cut has taken what was written first, and left what was written after it; or a program
/// died while it recorded an encrypted take.
@Suite struct LostBeginningTests {
    private static let encryptedWAV = "audio.wav.encrypted"

    private let key: EncryptionKey
    private let left: LeftTake

    init() throws {
        key = try EncryptionKey(bytes: Array(1...32))
        left = try LeftTake(key: key)
    }

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

    /// Recovers the take, and opens what is there then.
    private func recovered() throws -> (manifest: TakeManifest, audio: [UInt8]) {
        let manifest = try left.recovered()
        #expect(manifest.state == .kept)
        #expect(try left.fileNames == [manifest.audio, "take.json"])
        let audio = try left.store.take(left.id).openAudio(of: manifest)
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
        try left.leave(zeroed(whole, lost), format)
        let (manifest, audio) = try recovered()
        #expect(manifest.frames == 8_000)
        #expect(manifest.format == format.name)
        let rest = zeroed(whole, lost).dropFirst(44)
        #expect(audio == Array(whole[..<44]) + rest)
    }

    @Test func aLostHeaderIsBuiltAnewWithoutAManifest() throws {
        let whole = try pieces(.wav).flatMap { $0 }
        try left.leave(zeroed(whole, 0..<44), hasManifest: false)
        #expect(try recovered().audio == whole)
    }

    @Test func aHeaderThatSaysSomethingElseIsLeftAlone() throws {
        var file = try pieces(.wav).flatMap { $0 }
        file[24] = 0x44
        try left.leave(file)
        #expect(try recovered().audio == file)
    }

    // MARK: - Ogg Opus

    @Test(arguments: [1, 28, 47, 60, 100])
    func lostOggHeadersAreBuiltAnew(_ count: Int) throws {
        let whole = try pieces(.oggOpus).flatMap { $0 }
        try left.leave(zeroed(whole, 0..<count), .oggOpus)
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
        try left.leave(zeroed(whole, 0..<lost - (isTorn ? 9 : 0)), .oggOpus)
        let (manifest, audio) = try recovered()
        #expect(audio.suffix(whole.count - lost) == whole.dropFirst(lost))
        #expect(manifest.reason == "\(20 * count) ms of it are lost, and silent now")
        let samples = try AudioCodec.oggOpus.samples(of: audio)
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
        try left.leave(zeroed(whole, lost), .flac)
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
        try left.leave(zeroed(whole, 0..<lost), .flac)
        let (manifest, audio) = try recovered()
        let rest = whole[frames[count].startIndex...]
        #expect(audio.suffix(rest.count) == rest)
        #expect(manifest.reason == "\(319 * count / 16) ms of it are lost, and silent now")
        let samples = try AudioCodec.flac.samples(of: audio)
        #expect(samples.count == manifest.frames && samples.count == 25 * 319)
        #expect(samples[..<(count * 319)].allSatisfy { $0 == 0 })
        #expect(samples[(count * 319)...].prefix(319).contains { $0 != 0 })
    }

    // MARK: - Encrypted

    @Test(arguments: [AudioCodec.wav, .pcm, .oggOpus], [true, false])
    func aLostFirstFrameOfAnEncryptedTakeIsBuiltAnew(
        _ format: AudioCodec, hasManifest: Bool
    ) throws {
        let pieces = try pieces(format)
        let name = "audio.\(format.fileExtension).encrypted"
        let (file, starts) = try left.encrypted(pieces, name)
        let torn = zeroed(file, starts[0] + 12..<starts[1])
        try left.leave(torn, format, in: name, hasManifest: hasManifest)
        let audioPath = left.folder.path(left.path(name))
        try #require(link(audioPath, left.folder.path("copy")) == 0)
        let (manifest, audio) = try recovered()
        #expect(audio == pieces.flatMap { $0 })
        #expect(manifest.reason == "the program ended while it was recording")
        // Of the file that was replaced nothing can be decrypted any more.
        let old = try left.folder.read("copy")
        #expect(old[32..<120] != torn[32..<120])
        #expect(old[120...] == torn[120...])
    }

    @Test func aFrameThatIsLostBehindTheFirstIsSilentAndNamed() throws {
        let pieces = try pieces(.wav)
        let (file, starts) = try left.encrypted(pieces, Self.encryptedWAV)
        let torn = (0..<3).reduce(file) { zeroed($0, starts[$1] + 12..<starts[$1 + 1]) }
        try left.leave(torn, in: Self.encryptedWAV)
        let (manifest, audio) = try recovered()
        let whole = pieces.flatMap { $0 }
        #expect(audio == zeroed(whole, 44..<1_324))
        #expect(manifest.reason?.hasPrefix("1324 of \(whole.count) bytes of its audio") == true)
    }

    @Test(arguments: [0..<120, 8..<120, 12..<120, 20..<120, 40..<120, 72..<120])
    func anEncryptedTakeThatHasLostItsKeyIsSetAsideWithTheReason(_ lost: Range<Int>) throws {
        let name = Self.encryptedWAV
        let file = zeroed(try left.encrypted(try pieces(.wav), name).file, lost)
        for hasManifest in [true, false] {
            let left = try LeftTake(key: key)
            try left.leave(file, in: name, hasManifest: hasManifest)
            // Without a key there is no telling.
            let locked = try TakeStore(stateFolder: left.folder.path("state"))
            #expect(try locked.recoverAll() == [])
            #expect(try locked.ids() == [left.id])
            #expect(try left.store.recoverAll() == [])
            #expect(try left.store.ids() == [])
            #expect(left.store.quarantined().names == [left.id.text])
            let reason = try #require(left.store.quarantineReason(of: left.id.text))
            #expect(reason.hasPrefix("the key within its encrypted file is lost"))
            #expect(try left.folder.read("state/quarantine/\(left.id.text)/\(name)") == file)
        }
    }

    // MARK: - The end, and nothing at all

    @Test(arguments: [
        // In the last block they never arrived: synced, and then made longer by two periods.
        (1_280, 6_444),
        // More than a block are silence: 16,444 bytes are four blocks and 60.
        (10_000, 16_384),
        // The file ends with a block, of which only the beginning arrived.
        (1_748, 6_444),
        // Few are samples.
        (30, 6_474),
    ])
    func zerosAtTheEndThatNeverArrivedAreCutOff(_ zeros: Int, _ byteCount: Int) throws {
        let spoken = Array(try pieces(.wav).joined().prefix(6_444))
        let file = spoken + [UInt8](repeating: 0, count: zeros)
        try left.leave(file)
        let (manifest, audio) = try recovered()
        #expect(audio == Array(file[..<byteCount]))
        #expect(manifest.frames == (byteCount - 44) / 2)
    }

    @Test(
        arguments: [
            "audio.wav", "audio.ogg", "audio.flac", "audio.wav.encrypted", "audio.ogg.encrypted",
            "audio.flac.encrypted",
        ])
    func aTakeOfWhichNothingArrivedIsSetAsideWithTheReason(_ name: String) throws {
        let format = AudioCodec.allCases.last { name.contains($0.fileExtension) } ?? .wav
        let header = name.hasSuffix("encrypted") ? try left.encrypted([], name).file : []
        try left.leave(header + [UInt8](repeating: 0, count: 3_000), format, in: name)
        let store = left.store
        #expect(try store.recoverAll() == [])
        #expect(try store.ids() == [])
        #expect(store.quarantineReason(of: left.id.text) == "nothing of its audio is on the disk")
    }

    // MARK: - An encrypted take whose program died while it recorded

    /// A WAV header, and appends of 33 bytes after it.
    private func appends(_ count: Int) -> [[UInt8]] {
        [AudioCodec.wav.header] + (1...count).map { [UInt8](repeating: UInt8($0), count: 33) }
    }

    private func encryptedAudio(_ count: Int) throws -> [UInt8] {
        try left.encrypted(appends(count), Self.encryptedWAV).file
    }

    @Test func everyTruncationKeepsTheLongestWholePart() throws {
        let appends = appends(3)
        let (file, ends) = try left.encrypted(appends, Self.encryptedWAV)
        #expect(file.count == ends.last)
        for size in ends[1]...file.count {
            let left = try LeftTake(key: key)
            try left.leave(Array(file[..<size]), in: Self.encryptedWAV)
            let whole = ends.lastIndex { $0 <= size } ?? 0
            let bytes = appends[..<whole].flatMap { $0 }
            guard whole > 1 else {
                // Nothing but the header of a WAV file.
                #expect(try left.store.recoverAll() == [])
                #expect(try left.store.ids() == [])
                continue
            }
            let manifest = try left.recovered()
            #expect(manifest.state == .kept)
            // To a whole frame of the audio too: 33 bytes are 16 and a half.
            let frames = (bytes.count - 44) / 2
            #expect(manifest.frames == frames)
            #expect(manifest.byteCount == 44 + 2 * frames)
            let take = try left.store.take(left.id)
            #expect(try take.audioByteCount(fileName: Self.encryptedWAV) == ends[whole])
            let found = try take.openAudio(fileName: Self.encryptedWAV)
                .journal(byteCount: 44 + 2 * frames)
            #expect(try found.contents() == Array(bytes[..<(44 + 2 * frames)]))
        }
    }

    @Test func aTakeThatDiedBeforeItHadAKeyIsEmpty() throws {
        try left.leave(Array(try encryptedAudio(1)[..<119]), in: Self.encryptedWAV)
        #expect(try left.store.recoverAll() == [])
        #expect(try left.store.ids() == [])
    }

    @Test func damageInTheMiddleIsNamedAndNothingBehindItIsCutOff() throws {
        var file = try encryptedAudio(3)
        file[120 + 72 + 20] ^= 1
        try left.leave(file, in: Self.encryptedWAV)
        let manifest = try left.recovered()
        #expect(manifest.reason?.hasPrefix("33 of 143 bytes of its audio were altered") == true)
        #expect(manifest.frames == 49)
        #expect(try left.folder.read(left.path(Self.encryptedWAV)).count == file.count)
    }

    @Test func withoutTheKeyNothingIsChanged() throws {
        let file = try encryptedAudio(2) + [1, 2, 3]
        try left.leave(file, in: Self.encryptedWAV)
        for key in [nil, try EncryptionKey(bytes: Array(2...33))] {
            let store = try TakeStore(stateFolder: left.folder.path("state"), key: key)
            #expect(try store.recoverAll() == [])
            #expect(try store.take(left.id).manifest().state == .recording)
        }
        #expect(try left.folder.read(left.path(Self.encryptedWAV)) == file)
        _ = try left.recovered()
    }

    @Test func aLongFileWithoutAnythingWholeIsNotDeleted() throws {
        var file = try encryptedAudio(40)
        for index in 120..<file.count { file[index] = 7 }
        try left.leave(file, in: Self.encryptedWAV)
        #expect(try left.store.recoverAll() == [])
        #expect(
            try left.folder.read("state/quarantine/\(left.id.text)/\(Self.encryptedWAV)") == file)
    }
}
