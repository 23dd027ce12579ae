// SPDX-License-Identifier: Apache-2.0

import Glibc

@testable import AudioCodecs
@testable import AudioCore

/// libFuzzer calls this with each input, again and again; `scripts/fuzz.sh` builds it.
///
/// The first byte chooses a reader (WAV, Ogg Opus or FLAC), the second how the rest, a file, is split;
/// of Ogg, checksums are put right first, so that what is inside the pages is reached. Whole and in
/// pieces, the same samples, silence and texts must come of it, and no more than the bytes can hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAudio(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard input.count > 2 else { return 0 }
    let codec = AudioFuzz.codecs[Int(input[0]) % AudioFuzz.codecs.count]
    var file = Array(input[2...])
    if codec.name == AudioCodec.oggOpus.name { AudioFuzz.correctChecksums(of: &file) }
    let whole = AudioFuzz.read(file, by: codec) { file.count }
    var seed = UInt32(input[1]) &* 2_654_435_761 &+ 1
    let parts = AudioFuzz.read(file, by: codec) {
        seed = seed &* 1_664_525 &+ 1_013_904_223
        return 1 + Int(seed >> 24) % (seed & 0x8000 == 0 ? 3 : 64)
    }
    precondition(whole.frames == parts.frames && whole.silent == parts.silent, "the pieces matter")
    precondition(whole.texts == parts.texts, "the pieces change what is said")
    let most = file.count * AudioFuzz.mostFramesPerByte
    precondition(whole.frames <= most && whole.silent <= most, "more than the bytes can hold")
    return 0
}

enum AudioFuzz {
    struct Reading {
        var frames = 0
        /// Frames that silence stands for.
        var silent = 0
        var texts: [String] = []
    }

    static let codecs = [AudioCodec.wav, .oggOpus, .flac]

    /// FLAC needs ten bytes for a frame of 65,535 equal samples.
    static let mostFramesPerByte = 6_554

    static func read(_ file: [UInt8], by codec: AudioCodec, piece: () -> Int) -> Reading {
        let decoder = codec.makeDecoder()
        var reading = Reading()
        var samples: [Int16] = []
        func take() {
            reading.frames += samples.count / (decoder.format?.channelCount ?? 1)
            samples.removeAll(keepingCapacity: true)
            for flaw in decoder.takeFlaws() {
                precondition(flaw.frames >= 0 && flaw.text.utf8.count < 500)
                reading.silent += flaw.frames
                reading.texts.append(flaw.text)
            }
        }
        var failure: String?
        do throws(UndecodableAudio) {
            var rest = file[...]
            while !rest.isEmpty {
                let part = Array(rest.prefix(piece()))
                rest = rest.dropFirst(part.count)
                try decoder.decode(part.span, into: &samples)
                take()
            }
            try decoder.finish(into: &samples)
        } catch {
            failure = error.description
        }
        take()
        reading.texts += [failure].compactMap(\.self)
        return reading
    }

    /// Writes the checksum (RFC 3533 §6) of each page from the first byte on.
    static func correctChecksums(of file: inout [UInt8]) {
        var start = 0
        while start + 27 <= file.count, file[start...].starts(with: "OggS".utf8) {
            let body = start + 27 + Int(file[start + 26])
            guard body <= file.count else { return }
            let end = body + file[start + 27..<body].reduce(0) { $0 + Int($1) }
            guard end <= file.count else { return }
            for index in start + 22..<start + 26 { file[index] = 0 }
            var sum: UInt32 = 0
            for byte in file[start..<end] {
                sum ^= UInt32(byte) << 24
                for _ in 0..<8 { sum = sum & 1 << 31 == 0 ? sum << 1 : sum << 1 ^ 0x04C1_1DB7 }
            }
            for index in 0..<4 {
                file[start + 22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index)))
            }
            start = end
        }
    }
}
