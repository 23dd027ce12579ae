// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs

@Suite struct OggOpusDecoderTests {
    // MARK: - Lengths

    @Test func everyLengthComesBackToTheSample() throws {
        var random = SeededRandom()
        let voice = TestSignal.voice(frames: 40_000, sampleRate: 16_000)
        var lengths = [0, 1, 2, 103, 104, 105, 319, 320, 321, 640, 16_000]
        while lengths.count < 100 { lengths.append(.random(in: 1...40_000, using: &random)) }
        for length in lengths {
            let file = try OggOpusEncoder().file(of: Array(voice.prefix(length)))
            let pieces = random.pieces(of: file.count, upTo: 700)
            let decoded = try decode(file, in: pieces)
            #expect(decoded.count == length, "seed \(random.seed), \(length) samples")
        }
    }

    @Test(arguments: [8_000, 16_000, 44_100, 48_000], [1, 2])
    func aFileOfOpusencHasTheLengthThatItsLastPageSays(
        rate: Int, channels: Int
    ) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("audio.opus")
        let samples = TestSignal.voice(frames: rate * 2 + 77, sampleRate: rate)
        let wav = folder.path("audio.wav")
        try ForeignTool("sox").run(
            ["-t", "s16", "-r", "\(rate)", "-c", "1", "-", wav, "channels", "\(channels)"],
            input: samples.flatMap {
                [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
            })
        try ForeignTool("opusenc").run(["--quiet", wav, path])
        let raw = folder.path("audio.raw")
        try ForeignTool("opusdec").run(["--quiet", "--rate", "48000", path, raw])
        let frames = try folder.read("audio.raw").count / 2 / channels
        let decoded = try decode(folder.read("audio.opus"))
        #expect(abs(decoded.count - (frames + 2) / 3) <= 1)
    }

    @Test func theDecodedVoiceIsTheRecordedOneWithoutDelay() throws {
        let samples = TestSignal.voice(frames: 48_000, sampleRate: 16_000)
        let decoded = try decode(try OggOpusEncoder().file(of: samples))
        #expect(decoded.count == samples.count)
        let lag = try #require(bestLag(samples, decoded))
        #expect(abs(lag) <= 1)
    }

    @Test func opusencAndOpusdecHearTheSameAsThisDecoder() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("audio.opus")
        try ForeignTool("opusenc").run(["--quiet", Self.speech, path])
        let raw = folder.path("audio.raw")
        try ForeignTool("opusdec").run(["--quiet", "--rate", "48000", path, raw])
        let theirs = try ForeignTool("sox").run([
            "-t", "raw", "-r", "48000", "-e", "signed", "-b", "16", "-c", "1", raw,
            "-t", "s16", "-r", "16000", "-",
        ]).samples
        let decoded = try decode(folder.read("audio.opus"))
        #expect(abs(decoded.count - theirs.count) <= 1)
        #expect(TestSignal.correlation(decoded, theirs) > 0.95)
        let lag = try #require(bestLag(decoded, theirs))
        #expect(abs(lag) <= 1)
    }

    @Test func stereoIsMixedDown() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("audio.opus")
        let wav = folder.path("stereo.wav")
        try ForeignTool("sox").run([Self.speech, "-r", "48000", "-c", "2", wav])
        try ForeignTool("opusenc").run(["--quiet", wav, path])
        let decoded = try decode(folder.read("audio.opus"))
        let original = try ForeignTool("sox").run([Self.speech, "-t", "s16", "-"]).samples
        #expect(abs(decoded.count - original.count) <= 1)
        #expect(TestSignal.correlation(decoded, original) > 0.9)
    }

    @Test func theOutputGainIsApplied() throws {
        let samples = TestSignal.voice(frames: 32_000, sampleRate: 16_000)
        var file = try OggOpusEncoder().file(of: samples)
        let plain = try decode(file)
        // -6.02 dB, in 1/256 dB.
        let gain = UInt16(bitPattern: -1541)
        try changeFirstPage(of: &file) { page in
            page[28 + 16] = UInt8(gain & 0xFF)
            page[28 + 17] = UInt8(gain >> 8)
        }
        let halved = try decode(file)
        #expect(halved.count == plain.count)
        #expect(TestSignal.maximumDifference(halved, plain.map { $0 / 2 }) <= 2)
    }

    @Test func filesThatFollowOneAnotherAreJoined() throws {
        let one = TestSignal.voice(frames: 5_000, sampleRate: 16_000)
        let other = TestSignal.voice(frames: 7_001, sampleRate: 16_000)
        let file =
            try OggOpusEncoder().file(of: one) + OggOpusEncoder().file(of: other)
        #expect(try decode(file).count == 12_001)
    }

    // MARK: - Arriving in pieces

    @Test func bytesOneByOneDecodeToTheSameAsAllAtOnce() throws {
        let samples = TestSignal.voice(frames: 9_000, sampleRate: 16_000)
        let file = try OggOpusEncoder().file(of: samples)
        let single = try decode(file, in: file.indices.map { $0..<$0 + 1 })
        #expect(try single == decode(file))
    }

    @Test func samplesComeOutWithEachPageAndNotAtTheEnd() throws {
        let samples = TestSignal.voice(frames: 32_000, sampleRate: 16_000)
        let file = try OggOpusEncoder().file(of: samples)
        let decoder = OggOpusDecoder()
        var output: [Int16] = []
        try decoder.decode(file.span.extracting(first: file.count / 2), into: &output)
        #expect(output.count > 12_000)
    }

    @Test func aStreamThatBreaksOffIsDecodedUpToItsLastWholePage() throws {
        let samples = TestSignal.voice(frames: 32_000, sampleRate: 16_000)
        let file = try OggOpusEncoder().file(of: samples)
        let whole = try decode(file)
        var previous = 0
        for cut in stride(from: 400, to: file.count, by: 97) {
            let decoded = try decode(Array(file.prefix(cut)))
            #expect(decoded.count >= previous && decoded.count <= whole.count)
            #expect(decoded == Array(whole.prefix(decoded.count)))
            previous = decoded.count
        }
        #expect(previous > 28_000)
    }

    // MARK: - What is wrong with a stream

    @Test func anEmptyStreamEndsInItsHeader() {
        #expect(throws: UndecodableAudio.endedInHeader) { try decode([]) }
    }

    @Test func aWAVFileIsNotAPage() throws {
        let bytes = try readFile(Self.speech)
        #expect(throws: UndecodableAudio.notAPage(offset: 0)) { try decode(bytes) }
    }

    @Test func aChangedByteIsFoundByItsPage() throws {
        var file = try OggOpusEncoder().file(of: Array(repeating: 0, count: 16_000))
        let offset = try #require(pageOffsets(of: file).dropFirst(2).first)
        file[offset + 30] ^= 1
        #expect(throws: UndecodableAudio.notAPage(offset: offset)) { try decode(file) }
    }

    @Test func aMissingPageIsNamed() throws {
        let samples = TestSignal.voice(frames: 32_000, sampleRate: 16_000)
        var file = try OggOpusEncoder().file(of: samples)
        let offsets = pageOffsets(of: file)
        file.removeSubrange(offsets[3]..<offsets[4])
        #expect(throws: UndecodableAudio.missingPages(before: 4)) { try decode(file) }
    }

    @Test func anotherCodecInOggIsNotOpus() throws {
        var file = try OggOpusEncoder().file(of: [1, 2, 3])
        try changeFirstPage(of: &file) { $0[28] = UInt8(ascii: "X") }
        #expect(throws: UndecodableAudio.ogg("the first packet is not 'OpusHead'")) {
            try decode(file)
        }
    }

    @Test func surroundSoundIsRefused() throws {
        var file = try OggOpusEncoder().file(of: [1, 2, 3])
        try changeFirstPage(of: &file) { page in
            page[28 + 9] = 6
            page[28 + 18] = 1
        }
        let reason = "6 channels in mapping family 1 are not supported, only mono and stereo"
        #expect(throws: UndecodableAudio.ogg(reason)) { try decode(file) }
    }

    @Test func aStreamThatBeginsInTheMiddleIsRefused() throws {
        let file = try OggOpusEncoder().file(of: Array(repeating: 0, count: 16_000))
        let offset = pageOffsets(of: file)[2]
        let reason = "the first page does not begin a stream"
        #expect(throws: UndecodableAudio.ogg(reason)) {
            try decode(Array(file.dropFirst(offset)))
        }
    }

    @Test func aPacketWithoutEndIsRefusedBeforeItFillsTheMemory() throws {
        // Every page says that its packet goes on; the checksums are right.
        var file = try OggOpusEncoder().file(of: [])
        let offsets = pageOffsets(of: file)
        file.removeSubrange(offsets[1]...)
        for number in 1...40 {
            file += page(
                serialNumber: Array(file[14..<18]), number: number,
                body: [UInt8](repeating: 7, count: 65_025))
        }
        #expect(throws: UndecodableAudio.ogg("a packet is longer than 1048576 bytes")) {
            try decode(file)
        }
    }

    @Test func damagedStreamsNeverTrap() throws {
        var random = SeededRandom()
        let samples = TestSignal.voice(frames: 8_000, sampleRate: 16_000)
        let file = try OggOpusEncoder().file(of: samples)
        for round in 0..<400 {
            var damaged = file
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] =
                    .random(in: 0...255, using: &random)
            }
            // Half of them get right checksums, so that what is inside the pages is reached.
            if round % 2 == 0 { correctChecksums(of: &damaged) }
            do {
                let decoded = try decode(damaged)
                #expect(decoded.count < 2_000_000, "seed \(random.seed)")
            } catch {
                #expect(error.description.hasPrefix("Ogg Opus: "), "seed \(random.seed)")
            }
        }
    }

    @Test(arguments: [
        (UndecodableAudio.notAPage(offset: 7), "byte 7 does not begin an intact Ogg page"),
        (.missingPages(before: 4), "pages are missing before page 4"),
        (.multiplexed, "the file holds more than one stream"),
        (.ogg("why"), "why"),
        (.impossiblePosition(-5), "granule position -5 contradicts the audio before it"),
        (.endedInHeader, "the stream ended before its headers were complete"),
        (.codecFailed(reason: "why"), "cannot create a decoder: why"),
    ])
    func everyErrorSaysWhatIsWrong(error: UndecodableAudio, text: String) {
        #expect(error.description == "Ogg Opus: " + text)
    }

    // MARK: - Streams

    private static let speech =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/") + "/samples/go-forward.wav"

    private func decode(_ file: [UInt8]) throws(UndecodableAudio) -> [Int16] {
        try decode(file, in: [file.indices])
    }

    private func decode(
        _ file: [UInt8], in pieces: [Range<Int>]
    ) throws(UndecodableAudio) -> [Int16] {
        let decoder = OggOpusDecoder()
        var output: [Int16] = []
        for piece in pieces {
            try decoder.decode(file.span.extracting(piece), into: &output)
        }
        try decoder.finish(into: &output)
        return output
    }

    /// By how many samples `other` must be moved to be most like `one`.
    private func bestLag(_ one: [Int16], _ other: [Int16]) -> Int? {
        (-40...40).max { first, second in
            likeness(one, other, lag: first) < likeness(one, other, lag: second)
        }
    }

    private func likeness(_ one: [Int16], _ other: [Int16], lag: Int) -> Double {
        TestSignal.correlation(
            Array(one.dropFirst(max(0, -lag)).prefix(20_000)),
            Array(other.dropFirst(max(0, lag)).prefix(20_000)))
    }

    private func pageOffsets(of file: [UInt8]) -> [Int] {
        OggPage.prefix(of: file).map(\.range.lowerBound)
    }

    private func changeFirstPage(
        of file: inout [UInt8], _ change: (inout [UInt8]) -> Void
    ) throws {
        let end = try #require(pageOffsets(of: file).dropFirst().first)
        var page = Array(file[..<end])
        change(&page)
        setChecksum(of: &page)
        file.replaceSubrange(..<end, with: page)
    }

    private func correctChecksums(of file: inout [UInt8]) {
        let offsets = pageOffsets(of: file) + [file.count]
        for (start, end) in zip(offsets, offsets.dropFirst()) where end - start > 27 {
            var page = Array(file[start..<end])
            setChecksum(of: &page)
            file.replaceSubrange(start..<end, with: page)
        }
    }

    private func page(serialNumber: [UInt8], number: Int, body: [UInt8]) -> [UInt8] {
        var page = Array("OggS".utf8) + [0, number == 1 ? 0 : 1]
        page += [UInt8](repeating: 255, count: 8) + serialNumber
        page += [UInt8(number), 0, 0, 0, 0, 0, 0, 0, 255]
        page += [UInt8](repeating: 255, count: 255) + body
        setChecksum(of: &page)
        return page
    }

    private func setChecksum(of page: inout [UInt8]) {
        let sum = OggPage.checksum(of: page[...])
        for index in 0..<4 {
            page[22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index)))
        }
    }
}
