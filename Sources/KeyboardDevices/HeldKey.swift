// SPDX-License-Identifier: Apache-2.0

/// Says what one key means that is watched on any number of keyboards.
///
/// Pure: times are given. Repeats mean nothing, nor does the release of a key that was down before
/// it was watched. A key that is down on two keyboards is down until both have let it go.
package struct HeldKey {
    package enum Meaning: Equatable, Sendable {
        case down
        case up
        /// The keyboard on which it was held is gone.
        case lost
        /// It was part of a shortcut, or the person pressed Escape with it: what began is not meant.
        case dismissed
    }

    /// Another key that goes down so soon makes a shortcut of both.
    ///
    /// Later the person talks.
    static let chordTime = Duration.milliseconds(400)

    private let key: KeyNumber
    private var keyboards: Set<Int> = []
    private var downTime: ContinuousClock.Instant?

    /// Watches a key, which is up or does not count until it was.
    init(_ key: KeyNumber) { self.key = key }

    private var isMeant: Bool { downTime != nil }

    /// Says what the movement of a key means; nil is nothing.
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

    /// Says what the loss of a keyboard means; nil is nothing.
    mutating func lose(_ keyboard: Int) -> Meaning? { release(on: keyboard, as: .lost) }

    private mutating func release(on keyboard: Int, as meaning: Meaning) -> Meaning? {
        guard keyboards.remove(keyboard) != nil, keyboards.isEmpty else { return nil }
        defer { downTime = nil }
        return isMeant ? meaning : nil
    }

    /// Another key: of the same keyboard, since a program that types has one of its own.
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
