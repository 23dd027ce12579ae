// SPDX-License-Identifier: Apache-2.0

/// The meaning of one key that is watched on any number of keyboards.
///
/// Pure: times are given. Repeats mean nothing, nor does the release of a key that was down before.
/// A key that is down on two keyboards is down until both release it.
package struct HeldKey {
    package enum Meaning: Equatable, Sendable {
        case down
        case up
        /// Its keyboard was unplugged.
        case lost
        /// Part of a shortcut, or pressed with Escape: the recording is not wanted.
        case dismissed
    }

    /// Another key that goes down this soon makes a shortcut of both.
    static let chordTime = Duration.milliseconds(400)

    private let key: KeyNumber
    private var keyboards: Set<Int> = []
    private var downTime: ContinuousClock.Instant?

    init(_ key: KeyNumber) { self.key = key }

    mutating func handle(
        _ moved: KeyNumber, _ movement: KeyMovement, on keyboard: Int,
        at instant: ContinuousClock.Instant
    ) -> Meaning? {
        guard moved == key else {
            return movement == .press ? other(moved, on: keyboard, at: instant) : nil
        }
        switch movement {
        case .repetition: return nil
        case .press:
            let isFirst = keyboards.isEmpty
            keyboards.insert(keyboard)
            if isFirst { downTime = instant }
            return isFirst ? .down : nil
        case .release: return release(on: keyboard, as: .up)
        }
    }

    mutating func lose(_ keyboard: Int) -> Meaning? { release(on: keyboard, as: .lost) }

    private mutating func release(on keyboard: Int, as meaning: Meaning) -> Meaning? {
        guard keyboards.remove(keyboard) != nil, keyboards.isEmpty else { return nil }
        defer { downTime = nil }
        return downTime == nil ? nil : meaning
    }

    /// Only keys of the same keyboard count: a program that types has a keyboard of its own.
    private mutating func other(
        _ moved: KeyNumber, on keyboard: Int, at instant: ContinuousClock.Instant
    ) -> Meaning? {
        guard let downTime, keyboards.contains(keyboard), !moved.isButton,
            moved == .escape || instant - downTime < Self.chordTime
        else { return nil }
        self.downTime = nil
        return .dismissed
    }
}
