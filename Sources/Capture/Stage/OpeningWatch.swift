// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// For how long a source is being opened, and what follows from that.
///
/// Pure. A driver may block while its device is opened: a person hears of it, and a device that has
/// taken too long is given up.
struct OpeningWatch {
    enum Finding: Equatable {
        /// Nothing new.
        case nothing
        /// It takes so long that a person has to hear of it; found once.
        case late
        /// A device is not waited for any longer.
        case hopeless
    }

    /// Longer than a healthy card or sound server takes.
    static let lateness = Duration.seconds(1)
    /// A headset that wakes up, or a sound server that starts, takes less.
    private static let mostPatience = Duration.seconds(60)
    /// How long a driver may take for any other call.
    private static let leastPatience = Duration.seconds(5)
    /// After a stop of the whole program the driver gets this time to show that it is alive.
    private static let secondLook = Duration.seconds(1)

    private let isLive: Bool
    let patience: Duration
    private var began: ContinuousClock.Instant?
    private var doubtful: ContinuousClock.Instant?
    /// Whether a person has to hear of it.
    private(set) var isLate = false

    /// Waits for a device, if it `isLive`, or for a file or a pipe, which is never given up.
    ///
    /// A device is waited for no longer than the recording may become.
    init(isLive: Bool, longestFrames: Int?) {
        self.isLive = isLive
        let longest = longestFrames.map { StreamFormat.speech.duration(ofFrames: $0) }
        patience = min(Self.mostPatience, max(Self.leastPatience, longest ?? Self.mostPatience))
    }

    /// Looks; the first look is the beginning.
    mutating func look(at now: ContinuousClock.Instant) -> Finding {
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

    /// When to look again; nil when the opening alone matters.
    var due: ContinuousClock.Instant? {
        guard let began else { return nil }
        guard isLate else { return began + Self.lateness }
        guard isLive else { return nil }
        return doubtful.map { $0 + Self.secondLook } ?? began + patience
    }
}
