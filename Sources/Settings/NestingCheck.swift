// SPDX-License-Identifier: Apache-2.0

/// Looks for keys with so many dots that their tables would nest deeper than a stack holds.
///
/// toml++ bounds how deep values nest, and not how many parts a key has.
enum NestingCheck {
    /// Per line, outside of strings and comments.
    static let limit = 32

    private enum Place { case bare, remark, text(quote: UInt8, isLong: Bool) }

    static func check(_ bytes: [UInt8]) throws(SettingsError) {
        var place = Place.bare
        var (line, column, dotCount) = (1, 0, 0)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            column += 1
            if byte == UInt8(ascii: "\n") {
                (line, column, dotCount) = (line + 1, 0, 0)
                if case .text(_, isLong: true) = place { continue }
                place = .bare
                continue
            }
            switch place {
            case .remark: break
            case .bare:
                if byte == UInt8(ascii: "#") { place = .remark }
                if byte == UInt8(ascii: ".") { dotCount += 1 }
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    let isLong = isRow(of: byte, at: index, in: bytes)
                    if isLong { index += 2 }
                    place = .text(quote: byte, isLong: isLong)
                }
            case .text(let quote, let isLong):
                if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                    // A line that ends so is counted all the same.
                    if index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
                } else if byte == quote, !isLong || isRow(of: byte, at: index, in: bytes) {
                    if isLong { index += 2 }
                    place = .bare
                }
            }
            guard dotCount <= limit else {
                throw SettingsError(
                    "it is not valid TOML: a line with more than \(limit) dots nests too deep",
                    at: SettingsPosition(line: line, column: column))
            }
        }
    }

    private static func isRow(of quote: UInt8, at index: Int, in bytes: [UInt8]) -> Bool {
        bytes[index...].prefix(2).elementsEqual([quote, quote])
    }
}
