// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform

extension ProgramStart {
    /// The moment from which a command counts ages.
    var now: Date { Date(timeIntervalSince1970: time) }
}

/// A moment by the clock on the wall, as the variable `TZ` or the system says (`localtime_r(3)`).
struct LocalTime {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private let date: Date
    private let year, month, day, hour, minute, second: Int

    init(_ date: Date) {
        self.date = date
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var time = unsafe tm()
        // The function alone need not look at TZ.
        tzset()
        _ = unsafe localtime_r(&seconds, &time)
        year = unsafe Int(time.tm_year) + 1_900
        (month, day) = unsafe (Int(time.tm_mon), Int(time.tm_mday))
        (hour, minute, second) = unsafe (Int(time.tm_hour), Int(time.tm_min), Int(time.tm_sec))
    }

    /// Such as `today 14:02`, `Nov 19 14:02`, or `2025 Nov 19`.
    func text(at now: LocalTime) -> String {
        guard year == now.year else { return "\(year) \(monthAndDay)" }
        return "\(isSameDay(as: now) ? "today" : monthAndDay) \(clock)"
    }

    var exact: String {
        "\(year)-\(Self.two(month + 1))-\(Self.two(day)) \(clock):\(Self.two(second))"
    }

    /// In few columns: `14:02` today, otherwise how long ago.
    func shortText(at now: LocalTime) -> String {
        if isSameDay(as: now) { return clock }
        return age(at: now) ?? monthAndDay
    }

    /// Such as `5 min`, `3 h` or `2 d`; nil of what lies in the future.
    func age(at now: LocalTime) -> String? {
        let seconds = Int(now.date.timeIntervalSince(date))
        switch seconds {
        case ..<0: return nil
        case ..<60: return "now"
        case ..<3_600: return "\(seconds / 60) min"
        case ..<86_400: return "\(seconds / 3_600) h"
        default: return "\(seconds / 86_400) d"
        }
    }

    private var monthAndDay: String { "\(Self.months[month]) \(day)" }

    private var clock: String { "\(Self.two(hour)):\(Self.two(minute))" }

    private func isSameDay(as other: LocalTime) -> Bool {
        (year, month, day) == (other.year, other.month, other.day)
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
