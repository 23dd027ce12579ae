// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore

@Suite struct WAVHeaderTests {
    private let format = WAVBytes.chunk("fmt ", WAVBytes.format())
    private let data = WAVBytes.chunk("data", [1, 0, 2, 0])

    @Test func aPlainFileIsRead() throws {
        let header = try #require(try WAVHeader.parse(WAVBytes.file([format, data]).span))
        #expect(header.sampleFormat == .int16)
        #expect(header.streamFormat == .speech)
        #expect(header.dataOffset == 44)
        #expect(header.dataByteCount == 4)
        #expect(header.bytesPerFrame == 2)
    }

    @Test func everyProperPrefixAsksForMore() throws {
        let extensible = WAVBytes.chunk("fmt ", WAVBytes.extensible())
        let bytes = WAVBytes.file([WAVBytes.chunk("LIST", [1, 2, 3]), extensible, data])
        for count in 0..<bytes.count - 4 {
            let header = try WAVHeader.parse(bytes.span.extracting(first: count))
            #expect(header == nil)
        }
        let header = try WAVHeader.parse(bytes.span.extracting(first: bytes.count - 4))
        #expect(header?.dataOffset == bytes.count - 4)
    }

    @Test(arguments: [
        (1, 8, SampleFormat.uint8), (1, 16, .int16), (1, 24, .int24), (1, 32, .int32),
        (3, 32, .float32), (3, 64, .float64), (1, 12, .int16), (1, 20, .int24),
    ])
    func everySampleFormatIsKnownPlainAndExtensible(
        tag: Int, bits: Int, expected: SampleFormat
    ) throws {
        let plain = WAVBytes.format(tag: tag, channels: 3, rate: 44_100, bits: bits)
        let extensible = WAVBytes.extensible(tag: tag, channels: 3, rate: 44_100, bits: bits)
        for body in [plain, plain + [0, 0], extensible] {
            let bytes = WAVBytes.file([WAVBytes.chunk("fmt ", body), data])
            let header = try #require(try WAVHeader.parse(bytes.span))
            #expect(header.sampleFormat == expected)
            #expect(header.streamFormat == StreamFormat(sampleRate: 44_100, channelCount: 3))
            #expect(header.bytesPerFrame == 3 * expected.byteCount)
        }
    }

    @Test func ofTwoFormatsTheFirstCountsAsForOtherPrograms() throws {
        let second = WAVBytes.chunk("fmt ", WAVBytes.format(rate: 8_000))
        let header = try #require(try WAVHeader.parse(WAVBytes.file([format, second, data]).span))
        #expect(header.streamFormat == .speech)
        #expect(header.dataOffset == 68)
    }

    @Test func chunksAreSkippedWithTheirPadding() throws {
        let odd = WAVBytes.chunk("LIST", [1, 2, 3])
        let even = WAVBytes.chunk("fact", [1, 2, 3, 4])
        let empty = WAVBytes.chunk("JUNK", [])
        let bytes = WAVBytes.file([odd, empty, format, even, odd, data, odd])
        let header = try #require(try WAVHeader.parse(bytes.span))
        #expect(header.dataOffset == 12 + 12 + 8 + 24 + 12 + 12 + 8)
        #expect(header.dataByteCount == 4)
    }

    @Test func aHugeChunkIsSkippedWithoutItsBytes() throws {
        // The parser wants offsets beyond 2^32, and never the chunk itself.
        var parser = WAVHeaderParser()
        let start = WAVBytes.file([])
        #expect(try parser.take(start.span) == nil)
        let giant = Array("JUNK".utf8) + [0xFE, 0xFF, 0xFF, 0xFF]
        #expect(try parser.take(giant.span) == nil)
        #expect(parser.wantedOffset == 12 + 8 + 0xFFFF_FFFE)
        #expect(try parser.take(giant.span) == nil)
        #expect(parser.wantedOffset == 12 + 2 * (8 + 0xFFFF_FFFE))
        #expect(parser.wantedByteCount == 8)
    }

    @Test(arguments: [
        (0xFFFF_FFFF, 0xFFFF_FFFF), (0xFFFF_FFFF, 0xFFFF_FFDB), (0x7FFF_FFFF, 0x7FFF_FFDB),
        (0x7FFF_F024, 0x7FFF_F000), (0x8000_0024, 0x8000_0000), (0xFFFF_FFFF, 0), (0, 0), (36, 0),
    ])
    func placeholderSizesMeanAnUnknownLength(riff: Int, size: Int) throws {
        let data = WAVBytes.chunk("data", [UInt8](repeating: 1, count: 12), claimed: size)
        let bytes = WAVBytes.file([format, data], claimed: riff)
        let header = try #require(try WAVHeader.parse(bytes.span))
        #expect(header.dataByteCount == nil)
    }

    @Test func anEmptyDataChunkBeforeOthersIsEmpty() throws {
        let data = WAVBytes.chunk("data", [])
        let bytes = WAVBytes.file([format, data, WAVBytes.chunk("LIST", [1, 2, 3, 4])])
        let header = try #require(try WAVHeader.parse(bytes.span))
        #expect(header.dataByteCount == 0)
    }

    @Test(arguments: ["RF64", "BW64"])
    func longFilesTakeTheirLengthFromTheirSizesChunk(container: String) throws {
        let long = 5_000_000_000
        let sizes = WAVBytes.number(long + 72, 8) + WAVBytes.number(long, 8) + WAVBytes.number(0, 8)
        let data = WAVBytes.chunk("data", [], claimed: 0xFFFF_FFFF)
        for (body, expected) in [
            (sizes, long), (WAVBytes.number(0, 16), nil),
            ([UInt8](repeating: 0xFF, count: 28), nil),
        ] as [([UInt8], Int?)] {
            let bytes = WAVBytes.file(
                [WAVBytes.chunk("ds64", body), format, data], container: container,
                claimed: 0xFFFF_FFFF)
            let header = try #require(try WAVHeader.parse(bytes.span))
            #expect(header.dataByteCount == expected)
        }
    }

    @Test func millionsOfEmptyChunksAreAnError() throws {
        let empty = WAVBytes.chunk("JUNK", [])
        let bytes = WAVBytes.file(Array(repeating: empty, count: 2_000))
        #expect(throws: WAVError.tooManyChunks(offset: 12 + 8 * 1_024, limit: 1_024)) {
            try WAVHeader.parse(bytes.span)
        }
    }

    @Test func aFileThatEndsInItsHeaderSaysWhere() throws {
        var parser = WAVHeaderParser()
        let bytes = Array(WAVBytes.file([format, data]).prefix(10))
        #expect(throws: WAVError.endsInHeader(byteCount: 10)) { try parser.take(bytes.span) }
    }

    @Test func onlyRIFFFilesAreRecognised() {
        let names = ["RIFF", "RF64", "BW64", "RIFX", "", "RIF", "OggS", "fLaC"]
        let found = names.filter { WAVHeader.isContainer(Array($0.utf8).span) }
        #expect(found == ["RIFF", "RF64", "BW64", "RIFX"])
    }
}
