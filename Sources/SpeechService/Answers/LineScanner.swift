// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into lines that end in CR, LF or CRLF, whatever the chunks it comes in.
///
/// A byte-order mark at the start is skipped. It holds the bytes of one unfinished line; its owner
/// bounds them by `byteCount`.
struct LineScanner: Sendable {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private var line: [UInt8] = []
    private var hasEndedInCR = false
    private var isFirst = true

    /// Bytes seen so far.
    private(set) var byteCount = 0
    /// Where in the stream the line begins that is being read.
    private(set) var lineOffset = 0

    /// Takes one byte.
    ///
    /// - Returns: the line that it ends, without its end; or nil.
    mutating func take(_ byte: UInt8) -> [UInt8]? {
        defer { byteCount += 1 }
        let isSecondHalf = hasEndedInCR && byte == 0x0A
        hasEndedInCR = byte == 0x0D
        if isSecondHalf {
            lineOffset += 1
            return nil
        }
        guard byte == 0x0A || byte == 0x0D else {
            line.append(byte)
            return nil
        }
        return close(at: byteCount + 1)
    }

    /// Ends the stream.
    ///
    /// - Returns: the line that nothing has ended, unless it is empty.
    mutating func finish() -> [UInt8]? {
        line.isEmpty ? nil : close(at: byteCount)
    }

    private mutating func close(at next: Int) -> [UInt8] {
        defer {
            line = []
            isFirst = false
            lineOffset = next
        }
        guard isFirst, line.starts(with: Self.byteOrderMark) else { return line }
        return Array(line.dropFirst(3))
    }
}
