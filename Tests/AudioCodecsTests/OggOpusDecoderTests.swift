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
        let samples = TestSignal.voice(
            frames: rate * 2 + 77, sampleRate: rate, channelCount: channels)
        let file = try opusenc(WAVBytes.speech(samples, rate: rate, channels: channels))
        let frames = try opusdec(file).count / channels
        let decoded = try decode(file)
        #expect(abs(decoded.count - (frames + 2) / 3) <= 1)
    }

    @Test func theDecodedVoiceIsTheRecordedOneWithoutDelay() throws {
        let samples = TestSignal.voice(frames: 48_000, sampleRate: 16_000)
        let decoded = try decode(try OggOpusEncoder().file(of: samples))
        #expect(decoded.count == samples.count)
        #expect(abs(bestLag(samples, decoded).lag) <= 1)
    }

    @Test func opusencAndOpusdecHearTheSameAsThisDecoder() throws {
        let file = try opusenc(readFile(Clip.goForward.path))
        let (decoded, theirs) = (try decode(file), try opusdecSpeech(file))
        #expect(abs(decoded.count - theirs.count) <= 1)
        #expect(TestSignal.correlation(decoded, theirs) > 0.95)
        #expect(abs(bestLag(decoded, theirs).lag) <= 1)
    }

    @Test func stereoIsMixedDown() throws {
        let clip = try ForeignTool("sox").run([Clip.goForward.path, "-t", "s16", "-"]).samples
        let decoded = try decode(
            opusenc(WAVBytes.speech(clip.flatMap { [$0, $0] }, channels: 2)))
        #expect(abs(decoded.count - clip.count) <= 1)
        #expect(TestSignal.correlation(decoded, clip) > 0.9)
    }

    @Test func theOutputGainIsApplied() throws {
        var file = try voiceFile(32_000)
        let plain = try decode(file)
        // -6.02 dB, in 1/256 dB.
        let gain = UInt16(bitPattern: -1541)
        try changeFirstPage(
            of: &file, [28 + 16: UInt8(gain & 0xFF), 28 + 17: UInt8(gain >> 8)])
        let halved = try decode(file)
        #expect(halved.count == plain.count)
        #expect(TestSignal.maximumDifference(halved, plain.map { $0 / 2 }) <= 2)
    }

    @Test func filesThatFollowOneAnotherAreJoined() throws {
        let file = try voiceFile(5_000) + voiceFile(7_001)
        #expect(try decode(file).count == 12_001)
    }

    // MARK: - Arriving in pieces

    @Test func bytesOneByOneDecodeToTheSameAsAllAtOnce() throws {
        let file = try voiceFile(9_000)
        let single = try decode(file, in: file.indices.map { $0..<$0 + 1 })
        #expect(try single == decode(file))
    }

    @Test func samplesComeOutWithEachPageAndNotAtTheEnd() throws {
        let file = try voiceFile(32_000)
        let decoder = OggOpusDecoder()
        var output: [Int16] = []
        try decoder.decode(file.span.extracting(first: file.count / 2), into: &output)
        #expect(output.count > 12_000)
    }

    @Test func aStreamThatBreaksOffIsDecodedUpToItsLastWholePage() throws {
        let file = try voiceFile(32_000)
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

    @Test(
        arguments: [([], .endedInHeader), (WAVBytes.speech([1, 2, 3]), .notAPage(offset: 0))]
            as [([UInt8], UndecodableAudio)])
    func whatIsNoOggIsRefused(_ bytes: [UInt8], _ error: UndecodableAudio) {
        #expect(throws: error) { try decode(bytes) }
    }

    @Test(
        arguments: [
            (
                [28: UInt8(ascii: "X")], "the stream ended before its headers were complete"
            ),
            (
                [28 + 9: 6, 28 + 18: 1],
                "6 channels in mapping family 1 are not supported, only mono and stereo"
            ),
        ] as [([Int: UInt8], String)])
    func anotherCodecAndSurroundSoundAreRefused(
        _ changes: [Int: UInt8], _ reason: String
    ) throws {
        var file = try OggOpusEncoder().file(of: [1, 2, 3])
        try changeFirstPage(of: &file, changes)
        #expect(throws: UndecodableAudio.ogg(reason)) { try decode(file) }
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
        let file = try voiceFile(8_000)
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
        (.ogg("why"), "why"),
        (.endedInHeader, "the stream ended before its headers were complete"),
        (.codecFailed(reason: "why"), "cannot create a decoder: why"),
    ])
    func everyErrorSaysWhatIsWrong(error: UndecodableAudio, text: String) {
        #expect(error.description == "Ogg Opus: " + text)
    }

    // MARK: - Streams

    private func decode(
        _ file: [UInt8], in pieces: [Range<Int>]? = nil
    ) throws(UndecodableAudio) -> [Int16] {
        let decoder = OggOpusDecoder()
        var output: [Int16] = []
        for piece in pieces ?? [file.indices] {
            try decoder.decode(file.span.extracting(piece), into: &output)
        }
        try decoder.finish(into: &output)
        return output
    }

    private func voiceFile(_ frames: Int) throws -> [UInt8] {
        try OggOpusEncoder().file(of: TestSignal.voice(frames: frames, sampleRate: 16_000))
    }

    private func pageOffsets(of file: [UInt8]) -> [Int] {
        OggPage.prefix(of: file).map(\.range.lowerBound)
    }

    private func changeFirstPage(of file: inout [UInt8], _ changes: [Int: UInt8]) throws {
        let end = try #require(pageOffsets(of: file).dropFirst().first)
        var page = Array(file[..<end])
        for (place, byte) in changes { page[place] = byte }
        file.replaceSubrange(..<end, with: page.withChecksum)
    }

    private func correctChecksums(of file: inout [UInt8]) {
        let offsets = pageOffsets(of: file) + [file.count]
        for (start, end) in zip(offsets, offsets.dropFirst()) where end - start > 27 {
            file.replaceSubrange(start..<end, with: Array(file[start..<end]).withChecksum)
        }
    }

    private func page(serialNumber: [UInt8], number: Int, body: [UInt8]) -> [UInt8] {
        var page = Array("OggS".utf8) + [0, number == 1 ? 0 : 1]
        page += [UInt8](repeating: 255, count: 8) + serialNumber
        page += [UInt8(number), 0, 0, 0, 0, 0, 0, 0, 255]
        page += [UInt8](repeating: 255, count: 255) + body
        return page.withChecksum
    }
}
