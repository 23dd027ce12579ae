// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
internal import LinuxPlatform

/// Whether the clock can be believed.
extension TakeStore {
    /// Holds the time as it was seen last, and as it was when it last jumped: seconds since 1970.
    private static let clockName = "clock"
    /// Clocks are set back by less than this when they are corrected.
    private static let correction = 3_600
    /// Nobody is away for longer than this; whoever is loses nothing but some order.
    private static let absence = 366 * 86_400
    /// The time is noted no more often than this.
    private static let interval = 3_600

    /// When the clock was last seen to jump, and that it was seen now.
    ///
    /// Blocks on the disk, seldom. A clock that was never seen before has jumped.
    ///
    /// - Parameter date: the present time.
    /// - Returns: a moment that is not after the present.
    package func clockJump(now date: Date) -> Date {
        let now = Int(date.timeIntervalSince1970)
        let known = seen()
        let jump = Self.jump(known, now: now)
        if known?.jump != jump || now > (known?.last ?? 0) + Self.interval {
            // Not noted, the same is found next time.
            try? state.replaceFile(Self.clockName, with: Array("\(now) \(jump)\n".utf8))
        }
        return Date(timeIntervalSince1970: TimeInterval(jump))
    }

    /// The same without a note that the time was seen: for who only looks.
    package func lastClockJump(now: Date) -> Date {
        let jump = Self.jump(seen(), now: Int(now.timeIntervalSince1970))
        return Date(timeIntervalSince1970: TimeInterval(jump))
    }

    private static func jump(_ known: (last: Int, jump: Int)?, now: Int) -> Int {
        guard let known, now > known.last - correction, now < known.last + absence
        else { return now }
        return min(known.jump, now)
    }

    private func seen() -> (last: Int, jump: Int)? {
        // The first start has none.
        guard let bytes = try? state.contents(of: Self.clockName, limit: 64) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard parts.count == 2, let last = Int(parts[0]), let jump = Int(parts[1]),
            // A damaged file says nothing.
            [last, jump].allSatisfy({ (0..<(1 << 40)).contains($0) })
        else { return nil }
        return (last, jump)
    }
}
