// SPDX-License-Identifier: Apache-2.0

/// How long a service asks us to wait (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// The longest wait that is honoured; a service that asks for more gets this.
    package static let limit = Duration.seconds(3600)

    /// Reads the value of a `Retry-After` field.
    ///
    /// - Parameters:
    ///   - value: seconds, or a date in one of the three forms of RFC 9110 §5.6.7.
    ///   - now: seconds since 1970-01-01T00:00:00Z.
    /// - Returns: zero for a date in the past, at most `limit`; nil when the value is neither.
    package static func parse(_ value: String, now: Int64) -> Duration? {
        let text = value.trimmingBlanks
        guard !text.isEmpty, text.utf8.count <= 64 else { return nil }
        if text.allSatisfy({ ("0"..."9").contains($0) }) {
            // Digits that overflow are a very long time.
            guard let seconds = Int64(text) else { return limit }
            return .seconds(min(seconds, limit.components.seconds))
        }
        guard let date = HTTPDate.seconds(String(text), now: now) else { return nil }
        return .seconds(max(0, min(date - now, limit.components.seconds)))
    }
}

extension String {
    fileprivate var trimmingBlanks: Substring {
        var text = self[...]
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
