// SPDX-License-Identifier: Apache-2.0

/// An IPv6 address as it stands in a URL (RFC 3986 §3.2.2, RFC 4291 §2.2), without a zone.
struct IPv6Address: Hashable, CustomStringConvertible {
    /// Eight groups of 16 bits, most significant first.
    let groups: [UInt16]

    /// Reads an address; nil when it is none.
    init?(_ text: some StringProtocol) {
        let text = String(text)
        var head: [UInt16] = []
        var tail: [UInt16] = []
        guard let gap = Self.doubleColon(in: text) else {
            guard let groups = Self.groups(text[...]), groups.count == 8 else { return nil }
            self.groups = groups
            return
        }
        guard let before = Self.groups(text[..<gap.lowerBound]),
            let after = Self.groups(text[gap.upperBound...]), before.count + after.count < 8
        else { return nil }
        head = before
        tail = after
        groups = head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    }

    /// The canonical text (RFC 5952 §4): lower case, the longest run of zeros as `::`.
    var description: String {
        var best = 0..<0
        var start = 0
        while start < 8 {
            let end = groups[start...].firstIndex { $0 != 0 } ?? 8
            if end - start > max(best.count, 1) { best = start..<end }
            start = max(end, start) + 1
        }
        let hex = groups.map { String($0, radix: 16) }
        guard !best.isEmpty else { return hex.joined(separator: ":") }
        return hex[..<best.lowerBound].joined(separator: ":") + "::"
            + hex[best.upperBound...].joined(separator: ":")
    }

    private static func doubleColon(in text: String) -> Range<String.Index>? {
        var previous: String.Index?
        for index in text.indices {
            if text[index] == ":", let previous, text[previous] == ":" {
                return previous..<text.index(after: index)
            }
            previous = index
        }
        return nil
    }

    private static func groups(_ text: Substring) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        var groups: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (position, part) in parts.enumerated() {
            if position == parts.count - 1, part.contains(".") {
                let bytes = part.split(separator: ".", omittingEmptySubsequences: false)
                    .compactMap { $0.count <= 3 && $0.first != "+" ? UInt8($0) : nil }
                guard bytes.count == 4, part.count(where: { $0 == "." }) == 3 else { return nil }
                groups.append(UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
                groups.append(UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
                continue
            }
            guard (1...4).contains(part.count), part.allSatisfy(\.isHexDigit),
                let group = UInt16(part, radix: 16)
            else { return nil }
            groups.append(group)
        }
        return groups
    }
}
