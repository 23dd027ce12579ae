// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Lines of bytes, as they come in pieces.
///
/// Pure.
package struct ControlLine {
    private var bytes: [UInt8] = []
    /// As much of `bytes` has no line feed.
    private var looked = 0
    /// The most bytes of a line.
    let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func append(_ more: [UInt8]) { bytes += more }

    /// Whether a line is longer than it may be.
    var isTooLong: Bool { bytes.count > limit && looked > limit }

    /// The next whole line without its end; nil when there is none yet, or it is too long.
    mutating func next() -> [UInt8]? {
        guard let end = bytes[looked...].firstIndex(of: 0x0A) else {
            looked = bytes.count
            return nil
        }
        guard end <= limit else {
            looked = limit + 1
            return nil
        }
        defer {
            bytes.removeFirst(end + 1)
            looked = 0
        }
        return Array(bytes[..<end])
    }

    /// A value as a line of JSON, its end included.
    package static func encoded(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Our own values have neither infinite numbers nor anything else that has no JSON.
        guard let data = try? encoder.encode(value) else { return Array("{}\n".utf8) }
        return Array(data) + [0x0A]
    }
}
