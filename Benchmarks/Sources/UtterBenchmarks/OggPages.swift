// SPDX-License-Identifier: Apache-2.0

/// Walks over the pages of an Ogg Opus stream (RFC 3533 §6, RFC 7845 §4).
struct OggPages {
    private var offset = 0
    private var preSkip = 0

    /// A page: where it ends in the stream, and how many samples at 16 kHz are complete with it.
    struct Page {
        var end: Int
        var lastSample: Int
    }

    /// The next page that is there whole.
    mutating func next(in bytes: [UInt8]) -> Page? {
        guard offset + 27 <= bytes.count, bytes[offset..<offset + 4].elementsEqual("OggS".utf8)
        else { return nil }
        let segmentCount = Int(bytes[offset + 26])
        let start = offset + 27 + segmentCount
        guard start <= bytes.count else { return nil }
        let end = bytes[offset + 27..<start].reduce(start) { $0 + Int($1) }
        guard end <= bytes.count else { return nil }
        let granule = (0..<8).reduce(0) { $0 | Int(bytes[offset + 6 + $1]) << (8 * $1) }
        if bytes[start..<end].starts(with: "OpusHead".utf8) {
            preSkip = Int(bytes[start + 10]) | Int(bytes[start + 11]) << 8
        }
        offset = end
        return Page(end: end, lastSample: max(0, granule - preSkip) / 3)
    }
}
