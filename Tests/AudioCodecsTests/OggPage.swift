// SPDX-License-Identifier: Apache-2.0

/// One page of an Ogg file, read by the letter of RFC 3533 §6 without libogg.
struct OggPage {
    static let beginning: UInt8 = 2
    static let end: UInt8 = 4

    let flags: UInt8
    let granulePosition: Int64
    let serialNumber: UInt32
    let sequenceNumber: UInt32
    let body: [UInt8]

    struct Damage: Error {
        let offset: Int
    }

    /// Every page of a file.
    ///
    /// - Throws: `Damage` where a byte is not what it must be.
    static func all(in bytes: [UInt8]) throws -> [OggPage] {
        var pages: [OggPage] = []
        var offset = 0
        while offset < bytes.count {
            guard bytes[offset...].starts(with: Array("OggS".utf8)), offset + 27 <= bytes.count,
                bytes[offset + 4] == 0
            else { throw Damage(offset: offset) }
            let segments = Int(bytes[offset + 26])
            guard offset + 27 + segments <= bytes.count else { throw Damage(offset: offset) }
            let bodyStart = offset + 27 + segments
            let length = bytes[offset + 27..<bodyStart].reduce(0) { $0 + Int($1) }
            guard bodyStart + length <= bytes.count else { throw Damage(offset: offset) }
            func number(_ at: Int, _ count: Int) -> UInt64 {
                (0..<count).reduce(0) { $0 | UInt64(bytes[offset + at + $1]) << (8 * $1) }
            }
            pages.append(
                OggPage(
                    flags: bytes[offset + 5],
                    granulePosition: Int64(bitPattern: number(6, 8)),
                    serialNumber: UInt32(number(14, 4)), sequenceNumber: UInt32(number(18, 4)),
                    body: Array(bytes[bodyStart..<bodyStart + length])))
            offset = bodyStart + length
        }
        return pages
    }
}
