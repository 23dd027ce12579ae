// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore

/// A file with something wrong, and what its reader must make of it.
struct FlawedFile: CustomTestStringConvertible {
    let name: String
    /// Frames that are decoded, and those that silence stands for.
    let frames, silent: Int
    /// A piece of each text about it, in order.
    let texts: [String]
    /// Whether the file has the end that it promises.
    let isWhole: Bool
    let make: @Sendable () throws -> [UInt8]

    init(
        _ name: String, _ frames: Int, silent: Int = 0, _ texts: [String] = [],
        isWhole: Bool = true, _ make: @escaping @Sendable () throws -> [UInt8]
    ) {
        (self.name, self.frames, self.silent, self.texts) = (name, frames, silent, texts)
        (self.isWhole, self.make) = (isWhole, make)
    }

    var testDescription: String { name }

    /// Reads it whole and in pieces: as often the same, and no less than ffmpeg.
    func check(by codec: AudioCodec) throws {
        let file = try make()
        var random = SeededRandom()
        let whole = try Reading(of: file, by: codec)
        #expect(whole.samples.count == frames * whole.channels, "decoded")
        #expect(whole.silent == silent, "silent")
        #expect(whole.isAtEnd == isWhole)
        let isTold =
            whole.texts.count == texts.count
            && zip(whole.texts, texts).allSatisfy { $0.contains($1) }
        #expect(isTold, "\(whole.texts)")
        let parts = try Reading(of: file, by: codec, in: random.pieces(of: file.count, upTo: 900))
        #expect(parts == whole, "seed \(random.seed)")
        // A part that is left out is said, and has nothing to be compared with.
        if texts.contains(where: { $0.contains("left out") || $0.contains("stream") }) { return }
        let theirs = try ffmpegFrames(file, codec, whole)
        // It takes the header behind a header without a length for sound.
        let heads = 44 * texts.count { $0.contains("another recording") }
        #expect(frames + silent + heads >= theirs, "ffmpeg decodes \(theirs)")
        if texts.isEmpty, isWhole { #expect(frames >= theirs) }
    }

    private func ffmpegFrames(
        _ file: [UInt8], _ codec: AudioCodec, _ whole: Reading
    ) throws -> Int {
        let folder = try TemporaryFolder()
        let path = try folder.write(file, to: "file." + codec.fileExtension)
        let output = folder.path("samples")
        // What it cannot read at all is not more than ours.
        _ = try? ForeignTool("ffmpeg").run([
            "-v", "quiet", "-i", path, "-map", "0:a:0", "-ac", "1", "-ar", "\(whole.rate)", "-f",
            "s16le", output,
        ])
        // Then it has written nothing.
        return (try? folder.read("samples").count / 2) ?? 0
    }
}

/// What a decoder made of a file.
struct Reading: Equatable {
    var samples: [Int16] = []
    var silent = 0
    var texts: [String] = []
    var isAtEnd = false
    var channels = 1
    var rate = 16_000

    init(of file: [UInt8], by codec: AudioCodec, in pieces: [Range<Int>]? = nil) throws {
        let decoder = codec.makeDecoder()
        for piece in pieces ?? [file.indices] {
            try decoder.decode(file.span.extracting(piece), into: &samples)
            take(decoder.takeFlaws())
        }
        try decoder.finish(into: &samples)
        take(decoder.takeFlaws())
        isAtEnd = decoder.isAtEnd
        channels = decoder.format?.channelCount ?? 1
        rate = decoder.format?.sampleRate ?? 16_000
    }

    private mutating func take(_ flaws: [AudioFlaw]) {
        for flaw in flaws {
            silent += flaw.frames
            texts.append(flaw.text)
        }
    }
}

extension [UInt8] {
    func replacing(_ place: Range<Int>, with bytes: [UInt8]) -> [UInt8] {
        Array(self[..<place.lowerBound]) + bytes + self[place.upperBound...]
    }

    /// These bytes of an Ogg page, with the checksum that is right.
    var withChecksum: [UInt8] {
        replacing(22..<26, with: WAVBytes.number(Int(OggPage.checksum(of: self[...])), 4))
    }

    static func noise(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
    }
}
