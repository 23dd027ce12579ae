// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// Judges how long a source has been opening; pure.
///
/// A driver may block while its device is opened: the person is told, and the device is given up in
/// the end.
struct OpeningWatch {
    enum Lateness: Equatable {
        case nothing
        /// Told once.
        case late
        /// Not awaited any longer.
        case hopeless
    }

    /// Longer than a healthy card or sound server takes.
    static let lateness = Duration.seconds(1)
    /// A headset or a sound server that starts needs less.
    private static let mostPatience = Duration.seconds(60)
    /// For any other call of a driver.
    private static let leastPatience = Duration.seconds(5)
    /// After a stop of the whole program (SIGSTOP), the driver gets this long.
    private static let secondLook = Duration.seconds(1)

    private let isLive: Bool
    let patience: Duration
    private var began: ContinuousClock.Instant?
    private var doubtful: ContinuousClock.Instant?
    private(set) var isLate = false

    /// Only a device (`isLive`) is given up, and no sooner than the recording could end.
    init(isLive: Bool, longestFrames: Int?) {
        self.isLive = isLive
        let longest = longestFrames.map { StreamFormat.speech.duration(ofFrames: $0) }
        patience = min(Self.mostPatience, max(Self.leastPatience, longest ?? Self.mostPatience))
    }

    /// The first call is the beginning.
    mutating func look(at now: ContinuousClock.Instant) -> Lateness {
        let since = began ?? now
        began = since
        guard isLate else {
            isLate = now >= since + Self.lateness
            return isLate ? .late : .nothing
        }
        guard isLive, now >= since + patience else { return .nothing }
        guard let doubtful else {
            doubtful = now
            return .nothing
        }
        return now >= doubtful + Self.secondLook ? .hopeless : .nothing
    }

    /// When the watch has something to say; nil when only the opening matters.
    var due: ContinuousClock.Instant? {
        guard let began else { return nil }
        guard isLate else { return began + Self.lateness }
        guard isLive else { return nil }
        return doubtful.map { $0 + Self.secondLook } ?? began + patience
    }
}
