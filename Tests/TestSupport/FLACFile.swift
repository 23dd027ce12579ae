// SPDX-License-Identifier: Apache-2.0

/// The frames of a FLAC file, by a reader that shares nothing with the ones it judges.
///
/// A frame ends where its checksum fits and the next one begins, or the file ends, or zeros follow
/// to its end, which a power cut leaves.
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
        var start = headerByteCount ?? bytes.count
        while start < bytes.count, let end = Self.end(of: start, in: bytes) {
            frames.append(bytes[start..<end])
            start = end
        }
        self.frames = frames
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

    private static func begins(_ index: Int, in bytes: [UInt8]) -> Bool {
        bytes[index] == 0xFF && (index + 1 == bytes.count || bytes[index + 1] == 0xF8)
    }

    private static func end(of start: Int, in bytes: [UInt8]) -> Int? {
        guard begins(start, in: bytes) else { return nil }
        // CRC-16 with the polynomial 0x8005, from 0: over a frame with its own sum it is 0.
        var sum: UInt16 = 0
        for index in start..<bytes.count {
            sum ^= UInt16(bytes[index]) << 8
            for _ in 0..<8 { sum = sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x8005 }
            let end = index + 1
            guard sum == 0, end - start > 10 else { continue }
            if end == bytes.count || begins(end, in: bytes) || bytes[end...].allSatisfy({ $0 == 0 })
            {
                return end
            }
        }
        return nil
    }
}
