// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc

/// A moment as it is written into names and manifests, to the second.
///
/// By `gmtime_r(3)` and `timegm(3)`: a calendar of Foundation costs every start half a millisecond.
struct UTCTime {
    /// Year, month, day, hour, minute and second, each with its zeros.
    private let parts: [String]

    /// Takes the whole second that the date falls into.
    init(_ date: Date) {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var time = unsafe tm()
        _ = unsafe gmtime_r(&seconds, &time)
        let year = unsafe Int(time.tm_year) + 1_900
        let rest = unsafe [
            time.tm_mon + 1, time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec,
        ]
        parts = ["\(year)"] + rest.map { $0 < 10 ? "0\($0)" : "\($0)" }
    }

    /// The moment that `compact` has written; nil for another text.
    static func date(compact text: String) -> Date? {
        var digits = text.utf8.filter { $0 != 0x2D }[...]
        let numbers = [4, 2, 2, 2, 2, 2].map { length in
            defer { digits = digits.dropFirst(length) }
            return Int32(String(decoding: digits.prefix(length), as: UTF8.self)) ?? -1
        }
        var time = unsafe tm()
        unsafe time.tm_year = numbers[0] - 1_900
        unsafe time.tm_mon = numbers[1] - 1
        unsafe time.tm_mday = numbers[2]
        unsafe time.tm_hour = numbers[3]
        unsafe time.tm_min = numbers[4]
        unsafe time.tm_sec = numbers[5]
        let date = unsafe Date(timeIntervalSince1970: TimeInterval(timegm(&time)))
        // The 31st of February is one to the function.
        return UTCTime(date).compact == text ? date : nil
    }

    /// Such as `20261121-052233`.
    var compact: String {
        "\(parts[0])\(parts[1])\(parts[2])-\(parts[3])\(parts[4])\(parts[5])"
    }

    /// Such as `2026-11-21T05:22:33Z` (ISO 8601).
    var iso8601: String {
        "\(parts[0])-\(parts[1])-\(parts[2])T\(parts[3]):\(parts[4]):\(parts[5])Z"
    }
}
