// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
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
    /// - Parameter now: the present time.
    /// - Returns: a moment that is not after `now`.
    public func clockJump(now: Date) -> Date {
        let now = Int(now.timeIntervalSince1970)
        let known = seen()
        var jump = now
        if let known, now > known.last - Self.correction, now < known.last + Self.absence {
            jump = min(known.jump, now)
        }
        if known?.jump != jump || now > (known?.last ?? 0) + Self.interval {
            // Not noted, the same is found next time.
            try? state.replaceFile(Self.clockName, with: Array("\(now) \(jump)\n".utf8))
        }
        return Date(timeIntervalSince1970: TimeInterval(jump))
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
