// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Samples of 16 kHz as samples of 24 kHz, each made from those around it alone, so that a second attempt
/// has the same bytes.
struct ResampledSource: BodySource {
    let source: any BodySource
    /// The byte of the source at which its samples begin.
    let start: Int

    /// Samples of the source before and behind a new one that make it.
    private static let reach = 12
    /// A low-pass filter of 8 kHz at 48 kHz, by phase, with Hamming's window: the source's samples stand
    /// at each third place, and the new ones at each second.
    private static let phases: [[Float]] = (0..<3).map { phase in
        (0..<(2 * reach)).map { tap in
            let place = Double(3 * (tap - reach + 1) - phase)
            let width = Double(3 * reach)
            guard abs(place) < width else { return 0 }
            let sinc = place == 0 ? 1 : sin(Double.pi * place / 3) / (Double.pi * place / 3)
            return Float(sinc * (0.54 + 0.46 * cos(Double.pi * place / width)))
        }
    }

    var isComplete: Bool { source.isComplete }

    var byteCount: Int {
        // Asked first: when it is true, the count that is read after it is final.
        let isFinal = source.isComplete
        let frames = max(0, source.byteCount - start) / 2
        return 2 * (isFinal ? frames * 3 / 2 : max(0, (frames - Self.reach) * 3 / 2))
    }

    func recordingByteCount(at offset: Int) -> Int { offset / 2 * 2 / 3 * 2 }

    func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let (first, skipped) = (offset / 2, offset % 2)
        let count = (min(buffer.count, byteCount - offset) + skipped + 1) / 2
        guard count > 0 else { return 0 }
        let origin = first * 2 / 3 - Self.reach + 1
        let samples = try samples(
            from: origin, count: ((first + count) * 2 / 3) + Self.reach + 1 - origin)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * count)
        for place in first..<(first + count) {
            let taps = Self.phases[place * 2 % 3]
            let base = place * 2 / 3 - Self.reach + 1 - origin
            var sum: Float = 0
            for tap in taps.indices { sum += taps[tap] * samples[base + tap] }
            let value = Int16(max(-32_768, min(32_767, sum.rounded())))
            bytes += [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
        }
        let piece = bytes.dropFirst(skipped).prefix(buffer.count)
        unsafe buffer.copyBytes(from: piece)
        return piece.count
    }

    /// Silence stands before the first one and behind the last one.
    private func samples(from first: Int, count: Int) throws(SystemError) -> [Float] {
        let frames = max(0, source.byteCount - start) / 2
        let wanted = max(0, first)..<max(0, first, min(first + count, frames))
        var bytes = [UInt8](repeating: 0, count: 2 * wanted.count)
        var filled = 0
        while filled < bytes.count {
            let more = try bytes.fill(
                from: source, at: start + 2 * wanted.lowerBound + filled, to: filled)
            guard more > 0 else { throw SystemError(call: "read the recording", code: EIO) }
            filled += more
        }
        var samples = [Float](repeating: 0, count: count)
        for frame in wanted {
            let place = 2 * (frame - wanted.lowerBound)
            let value = Int16(bitPattern: UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8)
            samples[frame - first] = Float(value)
        }
        return samples
    }
}

extension RequestBody {
    /// The same recording at 24 kHz; for samples of 16 kHz without anything around them.
    package func resampled() -> RequestBody {
        RequestBody(ResampledSource(source: source, start: sourceStart))
    }
}
