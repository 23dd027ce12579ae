// SPDX-License-Identifier: Apache-2.0

/// Takes a body in chunks apart (RFC 9112 §7.1); extensions and trailers do not matter.
struct ChunkReader {
    private static let longestLine = 4_096

    private var bytes: [UInt8] = []
    /// The bytes of a chunk that are still to come; nil before its size.
    private var rest: Int?
    /// The body is whole, or is none of chunks.
    private(set) var isOver = false

    /// The data in these bytes, which follow those before.
    mutating func data(in more: [UInt8]) -> [UInt8] {
        bytes += more
        var data: [UInt8] = []
        while !isOver {
            if let count = rest {
                let taken = min(count, bytes.count)
                data += bytes.prefix(taken)
                bytes.removeFirst(taken)
                guard taken == count else {
                    rest = count - taken
                    return data
                }
                rest = nil
            }
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
                isOver = bytes.count > Self.longestLine
                return data
            }
            let line = String(decoding: bytes[..<end], as: UTF8.self)
            bytes.removeSubrange(...end)
            let digits = line.prefix(while: \.isHexDigit)
            // The line behind a chunk is empty.
            if digits.isEmpty, line.allSatisfy(\.isWhitespace) { continue }
            let size = Int(digits, radix: 16) ?? 0
            (rest, isOver) = (size, size == 0)
        }
        return data
    }
}
