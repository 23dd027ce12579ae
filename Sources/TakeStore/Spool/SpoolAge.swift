// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
internal import LinuxPlatform

struct ClockReading: Sendable {
    /// The time by the clock that can be set.
    let now: Date
    /// The name of this start of the machine, and the seconds since, suspended ones included; nil
    /// when they are not known.
    let boot: (id: String, seconds: Int)?

    init(_ now: Date, boot: (id: String, seconds: Int)? = nil) {
        (self.now, self.boot) = (now, boot)
    }

    /// Reads the clocks; the corresponding files are in proc(5).
    static var now: ClockReading {
        let words = ["sys/kernel/random/boot_id", "uptime"].map { name in
            FileManager.default.contents(atPath: "/proc/" + name)
                .map { String(decoding: $0, as: UTF8.self) }?
                .split { " .\n".contains($0) }.first.map(String.init)
        }
        guard let id = words[0], let seconds = words[1].flatMap({ Int($0) }) else {
            return ClockReading(Date())
        }
        return ClockReading(Date(), boot: (id, seconds))
    }
}

/// How old things on the disk are, by a clock that may jump.
///
/// Nothing is older than the last jump: names, file times and the clock itself may be years off, and
/// then something is kept too long rather than deleted early. The state folder remembers when the
/// clock was seen last. Within one start of the machine, a jump is a difference of an hour to the
/// clock that is never set: so the age of a take that was recorded before a machine without a
/// battery knew the time counts from when it did. Over a restart, a step back of an hour is a jump,
/// and one forward of a year.
package struct SpoolAge: Sendable {
    // The time as it was seen last, and as it was when it last jumped, in seconds since 1970; behind
    // them, where it is known, the time of the machine's start and that start's name.
    private static let fileName = "clock"
    /// Clocks are set back by less than this when they are corrected.
    private static let correction = 3_600
    /// A program is not used for this long at most; after that, ages begin again.
    private static let absence = 366 * 86_400
    /// The time is noted no more often than this.
    private static let interval = 3_600

    private let now: Date
    private let jump: Date
    /// Whether the clock was last noted an hour ago or more, or has jumped since, or the machine was
    /// started since.
    let isNewHour: Bool

    package init(in store: TakeStore) { self.init(in: store, at: .now) }

    init(in store: TakeStore, at time: ClockReading = .now, isNoted: Bool = false) {
        now = time.now
        let seconds = Int(now.timeIntervalSince1970)
        let start = time.boot.map { seconds - $0.seconds }
        let known = Known(in: store.state)
        // A clock that was never seen before has jumped.
        var hasJumped = true
        if let known, let start, let before = known.start, known.boot == time.boot?.id {
            hasJumped = abs(start - before) >= Self.correction
        } else if let known {
            hasJumped =
                seconds <= known.last - Self.correction || seconds >= known.last + Self.absence
        }
        let jump = hasJumped ? seconds : min(known?.jump ?? seconds, seconds)
        self.jump = Date(timeIntervalSince1970: TimeInterval(jump))
        isNewHour =
            known?.jump != jump || known?.boot != time.boot?.id
            || seconds > (known?.last ?? 0) + Self.interval
        guard isNoted, isNewHour else { return }
        let boot = time.boot.map { " \(seconds - $0.seconds) \($0.id)" } ?? ""
        // Not noted, the same is found next time.
        try? store.state.replaceFile(
            Self.fileName, with: Array("\(seconds) \(jump)\(boot)\n".utf8))
    }

    /// The time since the last of some moments that are not in the future, or the last jump.
    package func age(since moments: Date?...) -> Duration {
        let last = moments.compactMap(\.self).filter { $0 <= now }.max() ?? jump
        return .seconds(now.timeIntervalSince(max(last, jump)))
    }

    private struct Known {
        var last, jump: Int
        var start: Int?
        var boot: String?

        init?(in folder: Folder) {
            // The first start has none.
            guard let bytes = try? folder.contents(of: fileName, limit: 128) else { return nil }
            let words = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
            let numbers = words.prefix(3).compactMap { Int($0) }
            // A damaged file says nothing.
            guard [2, 4].contains(words.count), numbers.count == min(words.count, 3),
                numbers.allSatisfy({ abs($0) < 1 << 40 }), numbers[0] >= 0, numbers[1] >= 0
            else { return nil }
            (last, jump) = (numbers[0], numbers[1])
            if words.count == 4 { (start, boot) = (numbers[2], String(words[3])) }
        }
    }
}
