// SPDX-License-Identifier: Apache-2.0

/// The frames of a mono FLAC file, by a reader that shares nothing with the ones it judges.
package struct FLACFile {
    /// Bytes before the first frame; nil when they are not whole.
    package let headerByteCount: Int?

    /// The whole frames, from the first one on, up to one that is damaged or torn.
    package let frames: [ArraySlice<UInt8>]

    /// The end of the last whole frame, or of the header; 0 without one.
    package var wholeByteCount: Int { frames.last?.endIndex ?? headerByteCount ?? 0 }

    /// Reads a file (RFC 9639 §8, §9).
    package init(_ bytes: [UInt8]) {
        headerByteCount = Self.header(bytes)
        var frames: [ArraySlice<UInt8>] = []
        var reader = FLACBits(bytes, at: headerByteCount ?? bytes.count)
        while let end = reader.frameEnd(), Self.checksum(bytes[(reader.start)..<end]) == 0 {
            frames.append(bytes[reader.start..<end])
            reader = FLACBits(bytes, at: end)
        }
        self.frames = frames
    }

    /// The number of samples that the first block says; 0 is unknown (RFC 9639 §8.2).
    package static func sampleCount(_ bytes: [UInt8]) -> Int? {
        guard bytes.starts(with: "fLaC".utf8), bytes.count >= 26 else { return nil }
        return bytes[22..<26].reduce(Int(bytes[21] & 15)) { $0 << 8 | Int($1) }
    }

    private static func header(_ bytes: [UInt8]) -> Int? {
        guard bytes.starts(with: "fLaC".utf8) else { return nil }
        var offset = 4
        while offset + 4 <= bytes.count {
            let isLast = bytes[offset] & 0x80 != 0
            offset += 4 + bytes[offset + 1..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            if isLast { return offset <= bytes.count ? offset : nil }
        }
        return nil
    }

    /// CRC-16 with the polynomial 0x8005, from 0: over a frame with its own sum it is 0.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(0) { sum, byte in sum << 8 ^ sums[Int(sum >> 8) ^ Int(byte)] }
    }

    /// The sum of each byte alone.
    private static let sums = (0..<256).map { byte in
        (0..<8).reduce(UInt16(byte) << 8) { sum, _ in
            sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x8005
        }
    }
}

/// Reads the bits of one frame; nil behind the last byte, and where no frame is.
private struct FLACBits {
    let start: Int
    private let bytes: [UInt8]
    private var position: Int

    init(_ bytes: [UInt8], at start: Int) {
        (self.bytes, self.start, position) = (bytes, start, 8 * start)
    }

    /// Where the frame ends that begins here.
    mutating func frameEnd() -> Int? {
        guard bits(16) == 0xFFF8, let size = bits(4), let rate = bits(4), bits(4) == 0,
            bits(3) == 4, bits(1) == 0, let number = bits(8)
        else { return nil }
        skip(8 * max(0, (~UInt8(number)).leadingZeroBitCount - 1))
        let count: Int? =
            switch size {
            case 1: 192
            case 2...5: 144 << size
            case 6: bits(8).map { $0 + 1 }
            case 7: bits(16).map { $0 + 1 }
            case 8...15: 1 << size
            default: nil
            }
        skip(rate == 12 ? 8 : rate > 12 ? 16 : 0)
        skip(8)
        guard let count, skipSubframe(count) else { return nil }
        let end = (position + 7) / 8 + 2
        return end <= bytes.count ? end : nil
    }

    private mutating func skipSubframe(_ count: Int) -> Bool {
        guard bits(1) == 0, let type = bits(6), let hasWaste = bits(1),
            let waste = hasWaste == 0 ? 0 : unary().map({ $0 + 1 })
        else { return false }
        let width = 16 - waste
        switch type {
        case 0: skip(width)
        case 1: skip(count * width)
        case 8...12:
            skip((type - 8) * width)
            return skipResidual(count, order: type - 8)
        case 32...63:
            skip((type - 31) * width)
            guard let precision = bits(4) else { return false }
            skip(5 + (type - 31) * (precision + 1))
            return skipResidual(count, order: type - 31)
        default: return false
        }
        return true
    }

    private mutating func skipResidual(_ count: Int, order: Int) -> Bool {
        guard let method = bits(2), method < 2, let power = bits(4) else { return false }
        for part in 0..<(1 << power) {
            let size = (count >> power) - (part == 0 ? order : 0)
            guard size >= 0, let parameter = bits(4 + method) else { return false }
            if parameter == (method == 0 ? 15 : 31) {
                guard let width = bits(5) else { return false }
                skip(size * width)
                continue
            }
            for _ in 0..<size {
                guard unary() != nil else { return false }
                skip(parameter)
            }
        }
        return position <= 8 * bytes.count
    }

    /// Zeros before the next one.
    private mutating func unary() -> Int? {
        var count = 0
        while let bit = bits(1) {
            if bit == 1 { return count }
            count += 1
        }
        return nil
    }

    private mutating func bits(_ count: Int) -> Int? {
        guard position + count <= 8 * bytes.count else { return nil }
        var value = 0
        for _ in 0..<count {
            value = value << 1 | Int(bytes[position / 8] >> (7 - position % 8) & 1)
            position += 1
        }
        return value
    }

    private mutating func skip(_ count: Int) { position += count }
}
