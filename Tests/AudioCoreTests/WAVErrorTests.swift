// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore

@Suite struct WAVErrorTests {
    private static let data = WAVBytes.chunk("data", [1, 0])

    static let cases: [([UInt8], String)] = [
        (Array("OggS\0\0\0\0\0\0\0\0".utf8), "this is not audio: it begins like text, with 'OggS'"),
        (
            Array("\u{7F}ELF\u{2}\u{1}\u{1}\0\0\0\0\0".utf8),
            "this is not audio: it begins like an ELF program"
        ),
        (
            [0x49, 0x44, 0x33, 0x03, 0, 0, 0, 0, 0, 0, 0, 0],
            #"this is not audio of a known kind: it begins with 'ID3\x03'"#
        ),
        (
            WAVBytes.file([], container: "RIFX"),
            "big-endian WAV (RIFX) of this kind is not read; convert it: sox FILE NEW.wav"
        ),
        (Array("RIFF\0\0\0\0AVI ".utf8), "byte 8: the RIFF form is 'AVI ', not 'WAVE'"),
        (WAVBytes.file([data]), "byte 12: chunk 'data' stands before chunk 'fmt '"),
        (
            WAVBytes.file([WAVBytes.chunk("ds64", [1, 0, 1, 0])]),
            "byte 12, chunk 'ds64': 4 bytes are too few, 16 are needed"
        ),
    ]

    @Test(arguments: cases)
    func theMessageNamesTheByteAndTheChunk(bytes: [UInt8], message: String) {
        let error = #expect(throws: WAVError.self) { try WAVHeader.parse(bytes.span) }
        #expect(error?.description == message)
    }

    /// What chunk 'fmt ' says, which byte of the file is wrong, and why.
    static let formats: [(body: [UInt8], byte: Int, reason: String)] = [
        ([1, 0, 1, 0], 12, "4 bytes are too few, 16 are needed"),
        (WAVBytes.format(tag: 0x55), 20, "format tag 0x0055 (MP3) is not PCM"),
        (WAVBytes.format(tag: 0xABC), 20, "format tag 0x0ABC is not PCM"),
        (WAVBytes.extensible(tag: 7, bits: 8), 44, "format tag 0x0007 (µ-law) is not PCM"),
        (
            WAVBytes.extensible(tail: Array(repeating: 7, count: 14)), 44,
            "the sub-format is not PCM"
        ),
        (WAVBytes.format(tag: 0xFFFE), 12, "16 bytes are too few, 40 are needed"),
        (WAVBytes.format(channels: 0), 22, "0 channels"),
        (WAVBytes.format(channels: 65), 22, "65 channels are more than 64"),
        (
            WAVBytes.format(rate: 0), 24,
            "a sample rate of 0 Hz is not between 100 and 384000 Hz"
        ),
        (WAVBytes.format(bits: 48), 34, "48-bit PCM is not supported"),
        (WAVBytes.format(tag: 3, bits: 16), 34, "16-bit float is not supported"),
        (
            WAVBytes.format(channels: 2, align: 2), 32,
            "block align is 2 bytes, but the channels and the sample width make 4"
        ),
    ]

    @Test(arguments: formats)
    func theMessageSaysWhatIsWrongWithTheFormat(body: [UInt8], byte: Int, reason: String) {
        let file = WAVBytes.file([WAVBytes.chunk("fmt ", body), Self.data])
        let error = #expect(throws: WAVError.self) { try WAVHeader.parse(file.span) }
        #expect(error?.description == "byte \(byte), chunk 'fmt ': \(reason)")
    }

    @Test(arguments: [
        (WAVError.secondFormat(offset: 36), "byte 36: a second chunk 'fmt '"),
        (.endsInHeader(byteCount: 30), "byte 30: the file ends before its data chunk"),
        (
            .otherLayout(offset: 9),
            "byte 9: the rate or the channels are not those of the sound before"
        ),
        (
            .tooManyChunks(offset: 7, limit: 3),
            "byte 7: more than 3 chunks stand before the data chunk"
        ),
    ])
    func theOtherMessagesNameTheirLimits(error: WAVError, message: String) {
        #expect(error.description == message)
    }
}
