// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore

/// FLAC files of the program `flac` with something wrong, read by us and by ffmpeg.
@Suite struct FlawedFLACTests {
    /// 44,580 samples in frames of 1,024; the last has 548.
    private static let plain = Result { try encoded([Clip.goForward.path]) }

    private static func voice(_ options: [String] = []) throws -> [UInt8] {
        options.isEmpty ? try plain.get() : try encoded(options + [Clip.goForward.path])
    }

    private static func encoded(_ options: [String], input: [UInt8] = []) throws -> [UInt8] {
        try ForeignTool("flac").run(["-s", "-c", "-b", "1024"] + options, input: input).output
    }

    /// The file with the given frames in the place of its own.
    private static func framed(
        _ change: ([ArraySlice<UInt8>]) -> [ArraySlice<UInt8>]
    ) throws -> [UInt8] {
        let file = try voice()
        let whole = FLACFile(file)
        let header = try #require(whole.headerByteCount)
        return Array(file[..<header]) + change(whole.frames).joined()
    }

    private static func withByte(of frame: Int, changed mask: UInt8 = 0x10) throws -> [UInt8] {
        try framed { frames in
            var frames = frames
            frames[frame][frames[frame].startIndex + frames[frame].count / 2] ^= mask
            return frames
        }
    }

    /// The file with other bytes in its first block, at offsets in the file.
    private static func headed(_ place: Int, _ bytes: [UInt8]) throws -> [UInt8] {
        try voice().replacing(place..<place + bytes.count, with: bytes)
    }

    private static let tag = Array("TAG".utf8) + [UInt8](repeating: 0x20, count: 125)
    private static let damaged = "is damaged at byte"

    private static let files = [
        FlawedFile("whole", 44_580) { try voice() },
        FlawedFile("one wrong byte", 43_556, silent: 1_024, [damaged]) { try withByte(of: 5) },
        FlawedFile("a wrong byte in the first frame", 43_556, silent: 1_024, [damaged]) {
            try withByte(of: 0)
        },
        FlawedFile("a wrong byte in the last frame", 44_032, silent: 548, [damaged]) {
            try withByte(of: 43)
        },
        FlawedFile("frames that are zeros", 41_508, silent: 3_072, [damaged]) {
            try framed { frames in
                frames.enumerated().map { number, frame in
                    (10...12).contains(number)
                        ? ArraySlice([UInt8](repeating: 0, count: frame.count)) : frame
                }
            }
        },
        FlawedFile("lost frames", 41_508, silent: 3_072, ["lacks sound at byte"]) {
            try framed { Array($0[..<5] + $0[8...]) }
        },
        FlawedFile("two holes", 42_532, silent: 2_048, ["lacks sound", "lacks sound"]) {
            try framed { Array($0[..<5] + $0[6..<20] + $0[21...]) }
        },
        FlawedFile("a lost beginning", 42_532, ["begins in the middle"], isWhole: false) {
            try framed { Array($0[2...]) }
        },
        FlawedFile("a frame twice", 45_604, ["begins anew at byte"]) {
            try framed { Array($0[...7] + $0[7...]) }
        },
        FlawedFile("garbage between frames", 44_580, [damaged]) {
            try framed { Array($0[..<9]) + [[UInt8].noise(3_000)[...]] + Array($0[9...]) }
        },
        FlawedFile("garbage behind the last frame", 44_580, ["bytes behind its end"]) {
            try voice() + .noise(3_000)
        },
        FlawedFile("ID3v1 behind", 44_580) { try voice() + tag },
        FlawedFile("an APE tag behind", 44_580) {
            try voice() + Array("APETAGEX".utf8) + .noise(56)
        },
        FlawedFile("ID3v2 before", 44_580) {
            try Array("ID3\u{4}\0\0\0\0\u{1}\0".utf8) + [UInt8](repeating: 0, count: 128) + voice()
        },
        FlawedFile("a last frame that is cut", 44_032, silent: 548, [damaged]) {
            try Array(voice().dropLast(5))
        },
        FlawedFile("a file that is cut", 20_480, isWhole: false) {
            try framed { Array($0[..<20]) + [$0[20].prefix(200)] }
        },
        FlawedFile("no number of samples", 44_580) { try headed(21, [0xF0, 0, 0, 0, 0]) },
        FlawedFile("a number of samples that is too small", 44_580) {
            try headed(22, [0, 0, 1, 0])
        },
        FlawedFile("one that is too great", 44_580, isWhole: false) {
            try headed(22, [1, 0, 0, 0])
        },
        FlawedFile("another sum of all samples", 44_580) { try headed(26, .noise(16)) },
        FlawedFile("two sizes of frames", 44_580) { try headed(8, [0, 16]) },
        FlawedFile("two files", 89_160, ["begins anew at byte"]) { try voice() + voice() },
        FlawedFile("a tag between two files", 89_160, ["begins anew at byte"]) {
            try voice() + tag + voice()
        },
        FlawedFile("two files of other sizes of frames", 89_160, ["begins anew at byte"]) {
            try voice() + voice(["-b", "4096"])
        },
        FlawedFile("a cut file, a tag and a file with longer frames", 88_612, ["begins anew"]) {
            try voice().dropLast(5) + tag + voice(["-b", "4608"])
        },
        FlawedFile("another layout behind", 44_580, ["what does is left out"]) {
            let stereo = try encoded(
                ["-"], input: WAVBytes.speech([Int16](repeating: 9, count: 9_000), channels: 2))
            return try voice() + stereo
        },
        FlawedFile("a jump of more than a minute", 45_056, ["jumps ahead by"], isWhole: false) {
            let long = try encoded(
                ["-"],
                input: WAVBytes.speech([Int16](repeating: 5, count: 1_024_000 + 44_032)))
            let frames = FLACFile(long).frames
            let header = try #require(FLACFile(long).headerByteCount)
            return Array(long[..<header]) + frames[0] + frames[1_000...].joined()
        },
    ]

    @Test(arguments: files) func whatIsWrongCostsItselfAlone(_ file: FlawedFile) throws {
        try file.check(by: .flac)
    }

    @Test func aFileWithoutAnIntactFrameHasNoSoundAndNoEnd() throws {
        let reading = try Reading(of: FLACEncoder().header + .noise(20_000), by: .flac)
        #expect(reading.samples.isEmpty && reading.silent == 0 && !reading.isAtEnd)
    }
}
