// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore

@Suite struct WAVEncoderTests {
    @Test func theHeaderHasTheseFortyFourBytes() throws {
        let golden: [UInt8] = [
            0x52, 0x49, 0x46, 0x46, 0xFF, 0xFF, 0xFF, 0xFF, 0x57, 0x41, 0x56, 0x45,
            0x66, 0x6D, 0x74, 0x20, 0x10, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01, 0x00,
            0x80, 0x3E, 0x00, 0x00, 0x00, 0x7D, 0x00, 0x00, 0x02, 0x00, 0x10, 0x00,
            0x64, 0x61, 0x74, 0x61, 0xFF, 0xFF, 0xFF, 0xFF,
        ]
        #expect(try WAVEncoder().file(of: []) == golden)
        #expect(golden.count == WAVEncoder.headerByteCount)
        #expect(AudioCodec.pcm.bodyOffset == golden.count)
    }

    @Test func soxAndFFmpegReadEverySampleOfTwoHundredRandomLengths() throws {
        var random = SeededRandom()
        let folder = try TemporaryFolder()
        var lengths = [0, 1, 2, 319, 320, 321]
        while lengths.count < 200 { lengths.append(.random(in: 1...20_000, using: &random)) }
        let noise = random.noise(count: 20_000)
        let all = lengths.map { Array(noise.prefix($0)) }
        let paths = try all.enumerated().map { index, samples in
            let pieces = random.pieces(of: samples.count, upTo: 900)
            let encoder = WAVEncoder()
            let bytes = try encoder.file(of: samples, in: pieces)
            #expect(try encoder.file(of: samples) == bytes, "seed \(random.seed)")
            #expect(bytes.count <= encoder.maximumByteCount(forFrames: samples.count))
            return try folder.write(bytes, to: "\(index).wav")
        }
        // Each tool starts once: sox joins the even ones, and ffmpeg writes each of the odd ones.
        let (even, odd) = (all.indices.filter { $0 % 2 == 0 }, all.indices.filter { $0 % 2 == 1 })
        let joined = try ForeignTool("sox").run(
            ["-V1"] + even.map { paths[$0] } + ["-t", "s16", "-"]
        ).output
        let isSame = joined == even.flatMap { WAVBytes.pcm(all[$0]) }
        #expect(isSame, "seed \(random.seed)")
        let inputs = odd.flatMap { ["-i", paths[$0]] }
        let outputs = odd.enumerated().flatMap { number, index in
            ["-map", "\(number):a", "-f", "s16le", paths[index] + ".raw"]
        }
        try ForeignTool("ffmpeg").run(["-v", "quiet"] + inputs + outputs)
        for index in odd {
            let samples = try folder.read("\(index).wav.raw")
            #expect(samples == WAVBytes.pcm(all[index]), "seed \(random.seed), \(lengths[index])")
        }
    }

    /// 42 hours: the file is a header and a hole, and the players are asked how long it is.
    @Test(
        .spec("EBU Tech 3306 §3"),
        arguments: [(42 * 3_600 * 16_000, "RF64"), (16_000, "RIFF"), (2_147_483_600, "RF64")])
    func aFileOfMoreThanFourGibibytesSaysHowLongItIs(_ frames: Int, _ name: String) throws {
        let encoder = WAVEncoder(frames: 42 * 3_600 * 16_000)
        var head: [UInt8] = []
        try encoder.begin(into: &head)
        let settled = WAVEncoder.makeHeader(isLong: true, byteCount: 2 * frames)
        #expect(settled.count == head.count)
        #expect(String(decoding: settled[..<4], as: UTF8.self) == name)
        let folder = try TemporaryFolder()
        for (header, isSettled) in [(head, false), (settled, true)] {
            let path = try folder.write(header, to: "\(isSettled).wav")
            try #require(truncate(path, off_t(header.count + 2 * frames)) == 0)
            let ours = try #require(try WAVHeader.parse(header.span))
            #expect(ours.dataOffset == header.count)
            #expect(ours.dataByteCount == (isSettled ? 2 * frames : nil))
            let probed = try ForeignTool("ffprobe").run([
                "-v", "error", "-show_entries", "stream=duration_ts", "-of", "csv=p=0", path,
            ])
            #expect(probed.text == "\(frames)\n")
            // It does not believe in a length that is not said, and reads 4 GiB of an RF64.
            guard isSettled, name == "RIFF" || getenv("UTTER_SOAK") != nil else { continue }
            #expect(try ForeignTool("soxi").run(["-s", path]).text == "\(frames)\n")
        }
        guard name == "RF64" else { return }
        // The same header of a second.
        var short = settled
        for (place, value) in [(20, short.count + 31_992), (28, 32_000), (36, 16_000)] {
            for byte in 0..<8 {
                short[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte))
            }
        }
        let path = try folder.write(short + [UInt8](repeating: 0, count: 32_000), to: "short.wav")
        #expect(try ForeignTool("soxi").run(["-s", path]).text == "16000\n")
    }

    @Test func aFileThatGrewLongerThanWasKnownKeepsItsHeader() throws {
        let encoder = WAVEncoder()
        let short = try encoder.file(of: [1, 2, 3])
        #expect(encoder.settledHeader?.count == 44 && short.count == 50)
        #expect(WAVEncoder(frames: 2_147_483_600).settledHeader?.count == 80)
        #expect(WAVEncoder(frames: 2_147_480_000).settledHeader?.count == 44)
    }
}
