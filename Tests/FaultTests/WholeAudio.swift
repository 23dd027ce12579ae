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

    /// The bytes without the number of samples, which a FLAC body says that is complete.
    static func unnumbered(_ body: [UInt8]) -> [UInt8] {
        guard FLACFile.sampleCount(body) != nil else { return body }
        return body[..<21] + [0xF0, 0, 0, 0, 0] + body[26...]
    }

    private static func pageEnds(_ bytes: [UInt8]) -> [Int] {
        OggPage.prefix(of: bytes).prefix(while: \.isIntact).map(\.range.upperBound)
    }
}
