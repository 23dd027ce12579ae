// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// How much of an audio file is whole, by a reader that shares nothing with the one it judges.
enum WholeAudio {
    /// The header of a WAV file as this program writes it.
    static let headerByteCount = 44

    /// That header: 16 kHz, mono, 16 bits, of unknown length.
    static let header: [UInt8] =
        Array("RIFF".utf8) + [255, 255, 255, 255] + Array("WAVEfmt ".utf8)
        + [16, 0, 0, 0, 1, 0, 1, 0, 128, 62, 0, 0, 0, 125, 0, 0, 2, 0, 16, 0]
        + Array("data".utf8) + [255, 255, 255, 255]

    /// The bytes from the start up to the last whole frame or page.
    ///
    /// What a power cut may take of a WAV file besides: its header, which is known, and bytes in its
    /// last block, of which the file system knows only that they were to come.
    static func prefix(of bytes: [UInt8], named name: String) -> [UInt8] {
        if name.hasSuffix(".ogg") { return Array(bytes.prefix(pageEnds(bytes).last ?? 0)) }
        if name.hasSuffix(".flac") { return Array(bytes.prefix(FLACFile(bytes).wholeByteCount)) }
        guard bytes.count >= headerByteCount else { return [] }
        var end = bytes.count - (bytes.count - headerByteCount) % 2
        var zeros = 0
        while zeros < end - headerByteCount, bytes[end - zeros - 1] == 0,
            (end - zeros - 1) / 4_096 == (bytes.count - 1) / 4_096
        { zeros += 1 }
        if zeros / 2 * 2 >= 32 { end -= zeros / 2 * 2 }
        return header + bytes[headerByteCount..<end]
    }

    /// Whether there is a frame, or a page behind the two pages of the header.
    static func hasSound(_ bytes: [UInt8], named name: String) -> Bool {
        if name.hasSuffix(".ogg") { return pageEnds(bytes).count > 2 }
        if name.hasSuffix(".flac") { return !FLACFile(bytes).frames.isEmpty }
        return prefix(of: bytes, named: name).count > headerByteCount
    }

    /// What of it is sent: raw samples are sent without the header of their file.
    static func body(of bytes: [UInt8], format: String) -> [UInt8] {
        format == "pcm" ? Array(bytes.dropFirst(headerByteCount)) : bytes
    }

    /// Pages of RFC 3533 §6: "OggS", 23 bytes of head, a table of segments, the segments.
    private static func pageEnds(_ bytes: [UInt8]) -> [Int] {
        var ends: [Int] = []
        var start = 0
        while start + 27 <= bytes.count, bytes[start..<start + 4] == [0x4F, 0x67, 0x67, 0x53] {
            let table = start + 27 + Int(bytes[start + 26])
            guard table <= bytes.count else { break }
            let end = table + bytes[start + 27..<table].reduce(0) { $0 + Int($1) }
            guard end <= bytes.count, isIntact(bytes[start..<end]) else { break }
            ends.append(end)
            start = end
        }
        return ends
    }

    private static func isIntact(_ page: ArraySlice<UInt8>) -> Bool {
        let start = page.startIndex
        let wanted = (0..<4).reduce(UInt32(0)) { $0 | UInt32(page[start + 22 + $1]) << (8 * $1) }
        var sum: UInt32 = 0
        for (index, byte) in page.enumerated() {
            sum ^= UInt32((22..<26).contains(index) ? 0 : byte) << 24
            for _ in 0..<8 { sum = sum & 0x8000_0000 == 0 ? sum << 1 : sum << 1 ^ 0x04C1_1DB7 }
        }
        return sum == wanted
    }
}
