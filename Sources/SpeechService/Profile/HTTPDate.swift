// SPDX-License-Identifier: Apache-2.0

/// Dates in header fields (RFC 9110 §5.6.7).
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The seconds since 1970 that a date means, or nil when it is none.
    ///
    /// Read are `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and
    /// `Sun Nov  6 08:49:37 1994`. The name of the day is not checked.
    ///
    /// - Parameters:
    ///   - text: the date.
    ///   - now: seconds since 1970, for years of two digits: those that would be more than 50
    ///     years ahead are in the past.
    /// - Returns: seconds since 1970; nil for anything else.
    static func seconds(_ text: String, now: Int64) -> Int64? {
        let words = text.split(separator: " ").map(String.init)
        switch words.count {
        case 6 where words[0].hasSuffix(",") && words[5] == "GMT":
            return seconds(day: words[1], month: words[2], year: year(words[3]), time: words[4])
        case 4 where words[0].hasSuffix(",") && words[3] == "GMT":
            let parts = words[1].split(separator: "-").map(String.init)
            guard parts.count == 3 else { return nil }
            let year = shortYear(parts[2], now: now)
            return seconds(day: parts[0], month: parts[1], year: year, time: words[2])
        case 5:
            return seconds(day: words[2], month: words[1], year: year(words[4]), time: words[3])
        default: return nil
        }
    }

    private static func seconds(
        day: String, month: String, year: Int64?, time: String
    ) -> Int64? {
        guard let year, let index = months.firstIndex(of: month), let day = number(day),
            (1...31).contains(day)
        else { return nil }
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
            .compactMap { $0.count == 2 ? number(String($0)) : nil }
        // A minute may have a leap second.
        guard parts.count == 3, time.count == 8, parts[0] < 24, parts[1] < 60, parts[2] <= 60
        else { return nil }
        let days = daysSince1970(year: year, month: Int64(index + 1), day: day)
        return ((days * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2]
    }

    private static func year(_ text: String) -> Int64? {
        text.count == 4 ? number(text) : nil
    }

    private static func shortYear(_ text: String, now: Int64) -> Int64? {
        guard text.count == 2, let short = number(text) else { return nil }
        // The mean year is exact enough to tell which century is meant.
        let thisYear = 1970 + now / 31_556_952
        let year = thisYear / 100 * 100 + short
        return year > thisYear + 50 ? year - 100 : year
    }

    private static func number(_ text: String) -> Int64? {
        guard text.count <= 4, text.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
        return Int64(text)
    }

    /// Days of the Gregorian calendar; the year begins in March so that leap days come last.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear
        // 719,468 days lie between 0000-03-01 and 1970-01-01.
        return dayOfEra - 719_468
    }
}
