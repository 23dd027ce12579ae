// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore

@Suite struct WAVErrorTests {
    private static let data = WAVBytes.chunk("data", [1, 0])

    private static func withFormat(_ body: [UInt8]) -> [UInt8] {
        WAVBytes.file([WAVBytes.chunk("fmt ", body), data])
    }

    static let cases: [([UInt8], String)] = [
        (Array("OggS\0\0\0\0\0\0\0\0".utf8), "this is no audio: it begins like text, with 'OggS'"),
        (
            Array("\u{7F}ELF\u{2}\u{1}\u{1}\0\0\0\0\0".utf8),
            "this is no audio: it begins like an ELF program"
        ),
        (
            [0x49, 0x44, 0x33, 0x03, 0, 0, 0, 0, 0, 0, 0, 0],
            #"this is no known audio: it begins with 'ID3\x03'"#
        ),
        (WAVBytes.file([], container: "RIFX"), "byte 0: big-endian WAV (RIFX) is not supported"),
        (Array("RIFF\0\0\0\0AVI ".utf8), "byte 8: the RIFF form is 'AVI ', not 'WAVE'"),
        (WAVBytes.file([data]), "byte 12: chunk 'data' stands before chunk 'fmt '"),
        (
            WAVBytes.file([
                WAVBytes.chunk("fmt ", WAVBytes.format()),
                WAVBytes.chunk("fmt ", WAVBytes.format()),
            ]), "byte 36: a second chunk 'fmt '"
        ),
        (
            WAVBytes.file([WAVBytes.chunk("fmt ", [1, 0, 1, 0])]),
            "byte 12, chunk 'fmt ': 4 bytes are too few, 16 are needed"
        ),
        (
            WAVBytes.file([WAVBytes.chunk("ds64", [1, 0, 1, 0])]),
            "byte 12, chunk 'ds64': 4 bytes are too few, 16 are needed"
        ),
        (
            withFormat(WAVBytes.format(tag: 0x55)),
            "byte 20, chunk 'fmt ': format tag 0x0055 (MP3) is not PCM"
        ),
        (
            withFormat(WAVBytes.format(tag: 0xABC)),
            "byte 20, chunk 'fmt ': format tag 0x0ABC is not PCM"
        ),
        (
            withFormat(WAVBytes.extensible(tag: 7, bits: 8)),
            "byte 44, chunk 'fmt ': format tag 0x0007 (µ-law) is not PCM"
        ),
        (
            withFormat(WAVBytes.extensible(tail: Array(repeating: 7, count: 14))),
            "byte 44, chunk 'fmt ': the sub-format is not PCM"
        ),
        (
            withFormat(WAVBytes.format(tag: 0xFFFE)),
            "byte 12, chunk 'fmt ': 16 bytes are too few, 40 are needed"
        ),
        (withFormat(WAVBytes.format(channels: 0)), "byte 22, chunk 'fmt ': 0 channels"),
        (
            withFormat(WAVBytes.format(channels: 65)),
            "byte 22, chunk 'fmt ': 65 channels are more than 64"
        ),
        (
            withFormat(WAVBytes.format(rate: 0)),
            "byte 24, chunk 'fmt ': a sample rate of 0 Hz is not between 100 and 384000 Hz"
        ),
        (
            withFormat(WAVBytes.format(bits: 48)),
            "byte 34, chunk 'fmt ': 48-bit PCM is not supported"
        ),
        (
            withFormat(WAVBytes.format(tag: 3, bits: 16)),
            "byte 34, chunk 'fmt ': 16-bit float is not supported"
        ),
        (
            withFormat(WAVBytes.format(channels: 2, align: 2)),
            "byte 32, chunk 'fmt ': block align is 2 bytes, but the channels and the sample "
                + "width make 4"
        ),
    ]

    @Test(arguments: cases)
    func theMessageNamesTheByteAndTheChunk(bytes: [UInt8], message: String) {
        let error = #expect(throws: WAVError.self) { try WAVHeader.parse(bytes.span) }
        #expect(error?.description == message)
    }

    @Test func theOtherMessagesNameTheirLimits() {
        #expect(
            WAVError.endsInHeader(byteCount: 30).description
                == "byte 30: the file ends before its data chunk")
        #expect(
            WAVError.noDataWithin(limit: 9).description
                == "byte 9: no data chunk begins within the first 9 bytes")
        #expect(
            WAVError.tooManyChunks(offset: 7, limit: 3).description
                == "byte 7: more than 3 chunks stand before the data chunk")
    }
}
