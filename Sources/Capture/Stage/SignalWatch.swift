// SPDX-License-Identifier: Apache-2.0

/// Judges a microphone by the samples that it delivers, as they come.
///
/// Pure. It is given what the device delivers, before any conversion, which would hide the last bit
/// and full scale.
struct SignalWatch {
    /// How long no frame may come before that is told.
    ///
    /// A device is given a push after a second; that may help.
    static let patience = Duration.milliseconds(1_100)
    private(set) var state = SignalState.good
    /// In order; a late first frame is not a fault.
    private(set) var faults: [SignalState] = []

    private var second: Int
    /// In all, since the last sample that was not zero, and since the last above one bit.
    private var frames = 0
    private var zeroFrames = 0
    private var deadFrames = 0
    /// `wasHeard`: anything but zeros and the last bit.
    private var (wasHeard, wasLoud) = (false, false)
    private var fullCount = 0
    private var secondBegan = 0
    /// The end of the last second with many full-scale samples.
    private var clippedUntil: Int?

    /// -46 dBFS: a voice that a microphone is meant for is louder at least once in three seconds,
    /// the noise of a quiet room is not.
    private static let loud: UInt16 = 164
    /// How long a person may pause behind a noise gate, in seconds.
    private static let longestPause = 30
    /// Fewer full-scale samples a second are not heard.
    private static let many = 16

    init(sampleRate: Int) { second = max(1, sampleRate) }

    /// The device delivers at this rate from now on.
    mutating func listen(at sampleRate: Int) { second = max(1, sampleRate) }

    /// Interleaved samples; returns the state when it has changed.
    mutating func hear(_ samples: Span<Int16>, channels: Int) -> SignalState? {
        let count = samples.count / max(1, channels)
        guard count > 0 else { return nil }
        var (peak, full): (UInt16, Int32) = (0, 0)
        for index in samples.indices {
            let magnitude = samples[index].magnitude
            peak = max(peak, magnitude)
            full &+= magnitude >= UInt16(Int16.max) ? 1 : 0
        }
        fullCount += Int(full)
        frames += count
        zeroFrames = peak > 0 ? 0 : zeroFrames + count
        deadFrames = peak > 1 ? 0 : deadFrames + count
        if peak > 1 { wasHeard = true }
        if peak >= Self.loud { wasLoud = true }
        countClipping()
        return note(judgement)
    }

    mutating func miss() -> SignalState? { note(.absent) }

    private var judgement: SignalState {
        // A noise gate makes zeros of every pause between two sentences.
        let isGated = wasHeard && deadFrames < Self.longestPause * second
        if zeroFrames >= second, !isGated { return .zero }
        if deadFrames >= 2 * second, !isGated { return .dead }
        if clippedUntil != nil { return .clipped }
        // A signal that is nothing at all is not called faint for the time before that is known.
        let isKnown = deadFrames < second
        if !wasLoud, frames >= 3 * second, isKnown || state == .faint { return .faint }
        return .good
    }

    private mutating func countClipping() {
        if fullCount >= Self.many { clippedUntil = frames }
        if frames - secondBegan >= second { (fullCount, secondBegan) = (0, frames) }
        if let last = clippedUntil, frames - last >= 3 * second { clippedUntil = nil }
    }

    private mutating func note(_ next: SignalState) -> SignalState? {
        guard next != state else { return nil }
        state = next
        let isFault = next != .good && frames > 0 && !faults.contains(next)
        if isFault { faults.append(next) }
        return next
    }
}
