// SPDX-License-Identifier: Apache-2.0

/// One page of an Ogg file, read by the letter of RFC 3533 §6 without libogg.
package struct OggPage {
    package static let beginning: UInt8 = 2
    package static let end: UInt8 = 4

    /// Where it stands in the file.
    package let range: Range<Int>
    package let flags: UInt8
    package let granulePosition: Int64
    package let serialNumber: UInt32
    package let sequenceNumber: UInt32
    package let body: [UInt8]
    /// Whether its checksum is right.
    package let isIntact: Bool

    package struct Damage: Error {
        package let offset: Int
    }

    /// Every page of a file, whether or not its checksum is right.
    ///
    /// - Throws: `Damage` where a byte is not what it must be.
    package static func all(in bytes: [UInt8]) throws -> [OggPage] {
        let pages = prefix(of: bytes)
        let end = pages.last?.range.upperBound ?? 0
        guard end == bytes.count else { throw Damage(offset: end) }
        return pages
    }

    /// The pages from the start of a file on, up to one that is torn or none.
    package static func prefix(of bytes: [UInt8]) -> [OggPage] {
        var pages: [OggPage] = []
        while let page = OggPage(bytes, at: pages.last?.range.upperBound ?? 0) {
            pages.append(page)
        }
        return pages
    }

    private init?(_ bytes: [UInt8], at offset: Int) {
        guard offset + 27 <= bytes.count, bytes[offset...].starts(with: "OggS".utf8),
            bytes[offset + 4] == 0
        else { return nil }
        let bodyStart = offset + 27 + Int(bytes[offset + 26])
        guard bodyStart <= bytes.count else { return nil }
        let end = bodyStart + bytes[offset + 27..<bodyStart].reduce(0) { $0 + Int($1) }
        guard end <= bytes.count else { return nil }
        func number(_ at: Int, _ count: Int) -> UInt64 {
            (0..<count).reduce(0) { $0 | UInt64(bytes[offset + at + $1]) << (8 * $1) }
        }
        range = offset..<end
        flags = bytes[offset + 5]
        granulePosition = Int64(bitPattern: number(6, 8))
        serialNumber = UInt32(number(14, 4))
        sequenceNumber = UInt32(number(18, 4))
        body = Array(bytes[bodyStart..<end])
        isIntact = Self.checksum(of: bytes[offset..<end]) == UInt32(number(22, 4))
    }

    /// The CRC-32 of a page (RFC 3533 §6): polynomial 0x04C11DB7, nothing inverted, over the page
    /// with zeros in its own place.
    package static func checksum(of page: ArraySlice<UInt8>) -> UInt32 {
        var sum: UInt32 = 0
        for (index, byte) in page.enumerated() {
            sum ^= UInt32((22..<26).contains(index) ? 0 : byte) << 24
            for _ in 0..<8 { sum = sum & 1 << 31 == 0 ? sum << 1 : sum << 1 ^ 0x04C1_1DB7 }
        }
        return sum
    }
}
