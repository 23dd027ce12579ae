// SPDX-License-Identifier: Apache-2.0

/// Times as people write them: `5s`, `300ms`, `1m30s`, `1:30`, `1:02:03`, or a number of seconds.
package enum TimeText {
    package static func seconds(_ text: String) -> Double? { clock(text) ?? sum(text) }

    /// The units, in seconds.
    private static let units: [Substring: Double] = [
        "ms": 0.001, "msec": 0.001,
        "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
        "m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60,
        "h": 3_600, "hr": 3_600, "hour": 3_600, "hours": 3_600,
    ]

    /// Minutes and seconds, or hours too, with a colon between.
    private static func clock(_ text: String) -> Double? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count) else { return nil }
        var seconds = 0.0
        for (index, part) in parts.enumerated() {
            let digits = part.prefix { $0.isASCII && $0.isNumber }
            let isLast = index == parts.count - 1
            guard let number = number(part), isLast || digits.count == part.count,
                index == 0 || digits.count == 2 && number < 60
            else { return nil }
            seconds = seconds * 60 + number
        }
        return seconds
    }

    /// Numbers with their units, the greater first; or one without.
    private static func sum(_ text: String) -> Double? {
        if let seconds = number(text[...]) { return seconds }
        var rest = text[...]
        var seconds = 0.0
        var smallest = Double.infinity
        repeat {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            let unit = rest.dropFirst(digits.count).prefix { $0.isASCII && $0.isLetter }
            guard let number = number(digits), let factor = units[unit], factor < smallest
            else { return nil }
            rest = rest.dropFirst(digits.count + unit.count)
            seconds += number * factor
            smallest = factor
        } while !rest.isEmpty
        return seconds
    }

    private static func number(_ text: Substring) -> Double? {
        guard text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else { return nil }
        return Double(text)
    }
}
