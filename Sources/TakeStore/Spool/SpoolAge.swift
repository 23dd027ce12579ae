// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
internal import LinuxPlatform

/// How old things on the disk are, by a clock that may jump.
///
/// Nothing is older than the last jump: names, file times and the clock itself may be years off, and
/// then something is kept too long rather than deleted early. The state folder remembers when the
/// clock was seen last; a step back of an hour, or forward of a year, is a jump.
package struct SpoolAge {
    /// Takes that have waited for longer are sent only on request: 30 days.
    package static let longestWait = Duration.seconds(30 * 86_400)

    /// Holds the time as it was seen last, and as it was when it last jumped: seconds since 1970.
    private static let fileName = "clock"
    /// Clocks are set back by less than this when they are corrected.
    private static let correction = 3_600
    /// A program is not used for this long at most; after that, ages begin again.
    private static let absence = 366 * 86_400
    /// The time is noted no more often than this.
    private static let interval = 3_600

    private let now: Date
    private let jump: Date
    /// Whether the clock was last noted an hour ago or more, or has jumped since.
    let isNewHour: Bool

    /// Looks at the clock.
    ///
    /// Blocks on the disk.
    ///
    /// - Parameters:
    ///   - store: whose state folder remembers the clock.
    ///   - now: the present time.
    ///   - isNoted: whether the folder is told that the clock was seen, which is written seldom.
    package init(in store: TakeStore, now: Date = Date(), isNoted: Bool = false) {
        let seconds = Int(now.timeIntervalSince1970)
        let known = Self.known(in: store.state)
        var jump = seconds
        // A clock that was never seen before has jumped.
        if let known, seconds > known.last - Self.correction, seconds < known.last + Self.absence {
            jump = min(known.jump, seconds)
        }
        self.now = now
        self.jump = Date(timeIntervalSince1970: TimeInterval(jump))
        isNewHour = known?.jump != jump || seconds > (known?.last ?? 0) + Self.interval
        guard isNoted, isNewHour else { return }
        // Not noted, the same is found next time.
        try? store.state.replaceFile(Self.fileName, with: Array("\(seconds) \(jump)\n".utf8))
    }

    /// The time since the last of some moments that are not in the future, or the last jump.
    package func age(since moments: Date?...) -> Duration {
        let last = moments.compactMap(\.self).filter { $0 <= now }.max() ?? jump
        return .seconds(now.timeIntervalSince(max(last, jump)))
    }

    private static func known(in folder: Folder) -> (last: Int, jump: Int)? {
        // The first start has none.
        guard let bytes = try? folder.contents(of: fileName, limit: 64) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard parts.count == 2, let last = Int(parts[0]), let jump = Int(parts[1]),
            // A damaged file says nothing.
            [last, jump].allSatisfy({ (0..<(1 << 40)).contains($0) })
        else { return nil }
        return (last, jump)
    }
}
