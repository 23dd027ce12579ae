// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc

/// A moment as it is written into names and manifests, to the second.
///
/// By `gmtime_r(3)`: a calendar of Foundation costs every start half a millisecond.
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

    /// Such as `20261121-052233`.
    var compact: String { parts[..<3].joined() + "-" + parts[3...].joined() }

    /// Such as `2026-11-21T05:22:33Z` (ISO 8601).
    var iso8601: String {
        parts[..<3].joined(separator: "-") + "T" + parts[3...].joined(separator: ":") + "Z"
    }
}
