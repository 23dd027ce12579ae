// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore

/// WAV files whose headers and chunks are wrong, read by us and by ffmpeg.
@Suite struct FlawedWAVTests {
    private static let samples = TestSignal.voice(frames: 20_000, sampleRate: 16_000)
    private static let pcm = WAVBytes.pcm(samples)
    private static let format = WAVBytes.chunk("fmt ", WAVBytes.format())
    private static let list = WAVBytes.chunk("LIST", [UInt8](repeating: 0x41, count: 601))
    private static let whole = WAVBytes.speech(samples)
    private static let tag = Array("TAG".utf8) + [UInt8](repeating: 0x20, count: 125)
    private static let further = "goes on behind the end that its header gives"
    private static let another = "holds another recording at byte"

    private static let torn = "ends within a frame"
    private static let mark = Array("RIFF....WAV".utf8)
    private static let piped = claiming(0xFFFF_FFFF, riff: 0xFFFF_FFFF)

    private static func claiming(
        _ size: Int, riff: Int? = nil, _ bytes: [UInt8] = pcm, behind: [UInt8] = []
    ) -> [UInt8] {
        WAVBytes.file(
            [format, WAVBytes.chunk("data", bytes, claimed: size), behind], claimed: riff)
    }

    private static let wide = samples.flatMap { WAVBytes.number(Int($0) << 8, 3) }

    private static func ofWide(_ data: [UInt8], behind: [UInt8] = []) -> [UInt8] {
        WAVBytes.file([WAVBytes.chunk("fmt ", WAVBytes.format(bits: 24)), data, behind])
    }

    /// No padding is within sound that goes on, and no frame begins anew.
    private static let staleFiles =
        (24_000...24_003).map { (size: Int) in
            FlawedFile("sizes of \(size) bytes with frames of 3", 20_000, [further]) {
                ofWide(WAVBytes.chunk("data", wide, claimed: size))
            }
        } + [
            FlawedFile("a size within a frame of floating point", 20_000, [further]) {
                let bits = samples.flatMap {
                    WAVBytes.number(Int((Float($0) / 32_768).bitPattern), 4)
                }
                return WAVBytes.file([
                    WAVBytes.chunk("fmt ", WAVBytes.format(tag: 3, bits: 32)),
                    WAVBytes.chunk("data", bits, claimed: 16_002),
                ])
            },
            FlawedFile("a chunk behind an odd number of bytes", 8_001) {
                ofWide(WAVBytes.chunk("data", Array(wide[..<24_003])), behind: list)
            },
            FlawedFile("one without padding before it", 8_001) {
                ofWide(WAVBytes.chunk("data", Array(wide[..<24_003])).dropLast(), behind: list)
            },
            FlawedFile("a chunk behind a part of a frame", 8_000, [torn]) {
                ofWide(WAVBytes.chunk("data", Array(wide[..<24_001])), behind: list)
            },
        ]

    private static let files = [
        FlawedFile("whole", 20_000) { whole },
        FlawedFile("sizes of an earlier save", 20_000, [further]) { claiming(8_000, riff: 8_036) },
        FlawedFile("a size of the data that has wrapped", 20_000, [further]) { claiming(40) },
        FlawedFile("sizes of zero", 20_000) { claiming(0, riff: 0) },
        FlawedFile("no size of the data", 20_000) { claiming(0) },
        FlawedFile("no size of the RIFF chunk", 20_000) { claiming(40_000, riff: 0) },
        FlawedFile("a pipe's sizes", 20_000) { piped },
        FlawedFile("a file behind a pipe's sizes", 40_000, [another]) { piped + whole },
        FlawedFile("a file behind sizes of zero", 40_000, [another]) {
            claiming(0, riff: 0) + whole
        },
        FlawedFile("three files with a pipe's sizes", 60_000, [another, another]) {
            piped + piped + piped
        },
        FlawedFile("a file of another rate behind a pipe's sizes", 20_000, ["which is left out"]) {
            piped + WAVBytes.speech(samples, rate: 8_000)
        },
        FlawedFile("a file within a frame", 40_000, [torn, another]) {
            claiming(0xFFFF_FFFF, pcm + [7]).dropLast() + whole
        },
        FlawedFile("sound that is nearly a header", 20_000 + 12) {
            claiming(0xFFFF_FFFF, pcm + mark + [0] + mark + [0])
        },
        FlawedFile("the beginning of a header at the end", 20_000 + 5, isWhole: false) {
            claiming(0xFFFF_FFFF, pcm + mark).dropLast()
        },
        FlawedFile("a size that is too great", 20_000, isWhole: false) { claiming(50_000) },
        FlawedFile("a chunk behind the sound", 20_000) { whole + list },
        FlawedFile("three chunks behind the sound", 20_000) {
            whole + list + WAVBytes.chunk("bext", .noise(602)) + list
        },
        FlawedFile("a cut chunk behind the sound", 20_000) { whole + list.prefix(300) },
        FlawedFile("a tag behind the sound", 20_000) { whole + tag },
        FlawedFile("a few bytes behind the sound", 20_000) { whole + [0, 0, 0, 0] },
        FlawedFile("a chunk without its padding before the sound", 20_000) {
            WAVBytes.file([Array(list.dropLast()), format, WAVBytes.chunk("data", pcm)])
        },
        FlawedFile("a sound of odd length without padding", 10_001) {
            let eight = WAVBytes.chunk("fmt ", WAVBytes.format(bits: 8))
            let data = WAVBytes.chunk("data", [UInt8](repeating: 0x90, count: 10_001)).dropLast()
            return WAVBytes.file([eight, Array(data), list])
        },
        FlawedFile("two files at odd places", 30_003, [another, another]) {
            let eight = WAVBytes.chunk("fmt ", WAVBytes.format(bits: 8))
            let data = [UInt8](repeating: 0x90, count: 10_001)
            let sizes = [10_001, 0xFFFF_FFFF, 0]
            return sizes.flatMap { size in
                WAVBytes.file(
                    [eight, WAVBytes.chunk("data", data, claimed: size).dropLast()],
                    claimed: 0xFFFF_FFFF)
            }
        },
        FlawedFile("two files", 40_000, [another]) { whole + whole },
        FlawedFile("three files with chunks", 60_000, [another, another]) {
            whole + list + whole + list + whole
        },
        FlawedFile("two files, and the second is cut", 30_000, [another], isWhole: false) {
            whole + whole.prefix(44 + 20_000)
        },
        FlawedFile("two files of other rates", 20_000, [", which is left out: byte "]) {
            whole + WAVBytes.speech(samples, rate: 8_000)
        },
        FlawedFile("a second file of another codec", 20_000, ["which is left out: byte "]) {
            whole
                + WAVBytes.file([
                    WAVBytes.chunk("fmt ", WAVBytes.format(tag: 6, bits: 8)),
                    WAVBytes.chunk("data", pcm),
                ])
        },
        FlawedFile("two files of other widths", 30_000, [another]) {
            let eight = WAVBytes.chunk("fmt ", WAVBytes.format(bits: 8))
            let data = WAVBytes.chunk("data", [UInt8](repeating: 0x90, count: 10_000))
            return whole + WAVBytes.file([eight, data])
        },
        FlawedFile("a second piece of sound", 40_000, ["has a second piece of audio at byte"]) {
            whole + list + WAVBytes.chunk("data", pcm)
        },
        FlawedFile("RF64", 20_000) {
            let sizes =
                WAVBytes.number(40_080, 8) + WAVBytes.number(40_000, 8) + WAVBytes.number(0, 12)
            return WAVBytes.file(
                [
                    WAVBytes.chunk("ds64", sizes), format,
                    WAVBytes.chunk("data", pcm, claimed: 0xFFFF_FFFF), list,
                ], container: "RF64", claimed: 0xFFFF_FFFF)
        },
        FlawedFile("no size of a frame", 20_000) {
            WAVBytes.file([
                WAVBytes.chunk("fmt ", WAVBytes.format(align: 0)), WAVBytes.chunk("data", pcm),
            ])
        },
        FlawedFile("sound that ends within a frame", 20_000, ["ends within a frame"]) {
            claiming(40_001, pcm + [7])
        },
    ]

    @Test func aFurtherHeaderMayLieAcrossTwoReads() throws {
        for cut in 44 + 40_000..<88 + 40_000 {
            let file = Self.piped + Self.whole
            let reading = try Reading(of: file, by: .wav, in: [0..<cut, cut..<file.count])
            #expect(reading.samples == Self.samples + Self.samples, "cut at \(cut)")
        }
    }

    @Test(arguments: staleFiles) func soundThatGoesOnKeepsItsFrames(_ file: FlawedFile) throws {
        try file.check(by: .wav)
        let reading = try Reading(of: file.make(), by: .wav)
        #expect(reading.samples == Array(Self.samples.prefix(file.frames)))
    }

    @Test(arguments: files) func allSoundIsReadAndNothingElse(_ file: FlawedFile) throws {
        try file.check(by: .wav)
    }
}
