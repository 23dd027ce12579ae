// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs

/// Ogg Opus files of ffmpeg with something wrong, read by us and by ffmpeg.
@Suite struct FlawedOggOpusTests {
    /// Two headers, and pages of ten packets, which are 3,200 frames; 44,580 frames in all.
    private static let voice = Result { try encoded([]) }

    private static func encoded(_ options: [String]) throws -> [[UInt8]] {
        let file = try ForeignTool("ffmpeg").run(
            ["-v", "error", "-i", Clip.goForward.path] + options + [
                "-c:a", "libopus", "-b:a", "24k", "-page_duration", "200000", "-f", "ogg", "pipe:1",
            ]
        ).output
        return try OggPage.all(in: file).map { Array(file[$0.range]) }
    }

    private static func made(_ change: ([[UInt8]]) throws -> [[UInt8]]) throws -> [UInt8] {
        Array(try change(voice.get()).joined())
    }

    /// Of a page: changed bytes, a checksum that is right.
    private static func altered(_ page: [UInt8], _ place: Int, _ bytes: [UInt8]) -> [UInt8] {
        page.replacing(place..<place + bytes.count, with: bytes).withChecksum
    }

    private static func withSerial(_ serial: UInt8, _ pages: [[UInt8]]) -> [[UInt8]] {
        pages.map { altered($0, 14, [serial, 1, 2, 3]) }
    }

    private static func withoutEndMark(_ pages: [[UInt8]]) -> [[UInt8]] {
        pages.dropLast() + [altered(pages[pages.count - 1], 5, [0])]
    }

    /// Moves all pages from one on to a later place, or an earlier one, in seconds.
    private static func moved(_ pages: [[UInt8]], from first: Int, by seconds: Int) -> [[UInt8]] {
        pages.enumerated().map { number, page in
            guard number >= first else { return page }
            let granule = page[6..<14].reversed().reduce(0) { $0 << 8 | Int($1) }
            return altered(page, 6, WAVBytes.number(granule + seconds * 48_000, 8))
        }
    }

    /// A page of another codec's stream.
    private static func foreign(_ number: Int) -> [UInt8] {
        let body = Array("\u{80}theora and so on".utf8)
        let head = Array("OggS".utf8) + [0, number == 0 ? 2 : 0] + WAVBytes.number(number * 900, 8)
        return altered(
            head + [9, 9, 9, 9] + WAVBytes.number(number, 4) + [0, 0, 0, 0, 1, UInt8(body.count)]
                + body, 14, [9])
    }

    private static let another = "holds another stream at byte"

    private static let files = [
        FlawedFile("whole", 44_580) { try made { $0 } },
        FlawedFile("a lost page", 41_380, silent: 3_200, ["lacks sound at byte"]) {
            try made { Array($0[..<5] + $0[6...]) }
        },
        FlawedFile("two lost pages", 38_180, silent: 6_400, ["lacks sound at byte"]) {
            try made { Array($0[..<5] + $0[7...]) }
        },
        FlawedFile("a wrong checksum", 41_380, silent: 3_200, ["is damaged at byte"]) {
            try made { $0[..<5] + [$0[5].replacing(60..<61, with: [$0[5][60] ^ 1])] + $0[6...] }
        },
        FlawedFile("a page of zeros", 41_380, silent: 3_200, ["is damaged at byte"]) {
            try made { $0[..<5] + [[UInt8](repeating: 0, count: $0[5].count)] + $0[6...] }
        },
        FlawedFile("a lost page before the last", 41_496, silent: 3_084, ["lacks sound at byte"]) {
            try made { Array($0[..<($0.count - 2)] + $0[($0.count - 1)...]) }
        },
        FlawedFile("the last page is lost", 41_496, isWhole: false) { try made { $0.dropLast() } },
        FlawedFile("joined late", 38_180, ["begins in the middle of a stream"]) {
            try made { Array($0[..<2] + $0[4...]) }
        },
        FlawedFile("garbage between pages", 44_580, ["is damaged at byte"]) {
            try made { $0[..<5] + [.noise(5_000)] + $0[5...] }
        },
        FlawedFile("garbage behind the last page", 44_580, ["bytes behind its end"]) {
            try made { $0 + [.noise(5_000)] }
        },
        FlawedFile("two streams", 89_160, [another]) { try made { $0 + withSerial(7, $0) } },
        FlawedFile("two streams of one serial number", 89_160, [another]) { try made { $0 + $0 } },
        FlawedFile("three streams", 133_740, [another, another]) {
            try made { $0 + withSerial(7, $0) + withSerial(8, $0) }
        },
        FlawedFile("a first stream without its end mark", 89_276, [another]) {
            try made { withoutEndMark($0) + withSerial(7, $0) }
        },
        FlawedFile(
            "a second stream without its headers", 89_264, ["goes on behind its end mark"]
        ) {
            try made { $0 + withSerial(7, Array($0[2...])) }
        },
        FlawedFile(
            "a second stream that cannot be decoded", 44_580, [another, "which is left out"]
        ) {
            try made { $0 + withSerial(7, [altered($0[0], 28 + 9, [6])] + $0[1...]) }
        },
        FlawedFile("pages behind the end mark", 47_780, ["goes on behind"], isWhole: false) {
            try made { $0 + moved([$0[5]], from: 0, by: 2) }
        },
        FlawedFile("another codec's stream between", 44_580) {
            try made { pages in
                [pages[0], foreign(0)] + pages[1...].enumerated().flatMap { [$1, foreign($0 + 1)] }
            }
        },
        FlawedFile("another codec's stream behind", 44_580, ["left out: it is not Opus"]) {
            try made { $0 + [foreign(0), foreign(1)] }
        },
        FlawedFile("one that begins within", 44_580, ["left out: it is not Opus"]) {
            try made { $0[..<5] + [foreign(0), foreign(1)] + $0[5...] }
        },
        FlawedFile("another Opus stream between", 44_580) {
            try made { pages in
                zip(pages, withSerial(7, pages)).flatMap { [$0, $1] }
            }
        },
        FlawedFile("a pause of five seconds", 44_580, silent: 80_000, ["(5.0 s are silent)"]) {
            try made { moved($0, from: 5, by: 5) }
        },
        FlawedFile("a jump of more than a minute", 44_580, ["jumps ahead by 61.0 s"]) {
            try made { moved($0, from: 5, by: 61) }
        },
        FlawedFile("a damaged first page", 41_380, silent: 3_200, ["is damaged at byte"]) {
            try made { $0[..<2] + [$0[2].replacing(60..<61, with: [$0[2][60] ^ 1])] + $0[3...] }
        },
        FlawedFile("positions that go back", 44_580, ["in the middle", "begins anew at byte"]) {
            try made { moved(moved($0, from: 2, by: 9), from: 8, by: -9) }
        },
        FlawedFile("tags over several pages", 44_580) {
            try Array(
                encoded(["-metadata", "title=" + String(repeating: "long ", count: 24_000)])
                    .joined())
        },
        FlawedFile("lost tags", 44_580) { try made { [$0[0]] + $0[2...] } },
        FlawedFile("two channels in mapping family 1", 44_580) {
            try Array(encoded(["-ac", "2", "-mapping_family", "1"]).joined())
        },
    ]

    @Test(arguments: files) func whatIsWrongCostsItselfAlone(_ file: FlawedFile) throws {
        try file.check(by: .oggOpus)
    }
}
