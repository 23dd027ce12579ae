// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into lines that end in CR, LF or CRLF, whatever the chunks it comes in.
///
/// A byte-order mark at the start is skipped. It holds the bytes of one unfinished line; its owner
/// bounds them by `byteCount`.
struct LineScanner: Sendable {
    struct Line {
        var bytes: [UInt8]
        var offset: Int
    }

    private var line: [UInt8] = []
    private var lineOffset = 0
    private var hasEndedInCR = false
    private var isFirst = true

    private(set) var byteCount = 0

    /// Takes bytes from `index` on: to the end of the first line, or all.
    mutating func take(_ bytes: Span<UInt8>, from index: inout Int) -> Line? {
        if hasEndedInCR, index < bytes.count {
            hasEndedInCR = false
            if bytes[index] == 0x0A {
                index += 1
                byteCount += 1
                lineOffset += 1
            }
        }
        var end = index
        while end < bytes.count, bytes[end] != 0x0A, bytes[end] != 0x0D { end += 1 }
        line.append(bytes.extracting(index..<end))
        byteCount += end - index
        index = end
        guard end < bytes.count else { return nil }
        hasEndedInCR = bytes[end] == 0x0D
        index += 1
        byteCount += 1
        return close()
    }

    /// - Returns: the unfinished line, unless it is empty.
    mutating func finish() -> Line? { line.isEmpty ? nil : close() }

    private mutating func close() -> Line {
        defer {
            line = []
            isFirst = false
            lineOffset = byteCount
        }
        return Line(bytes: isFirst ? Array(line.withoutByteOrderMark) : line, offset: lineOffset)
    }
}
