// SPDX-License-Identifier: Apache-2.0

/// Tells a key that is held from one that is pressed again, for terminals that send the same bytes
/// for both.
///
/// Pure: times are given. A keyboard repeats a key 250 to 660 ms after its press, and then 10 to 40
/// times a second. So the same key within 700 ms of its first press is a repeat, and so is one
/// within 150 ms of a repeat. A person who presses a key twice within 700 ms is not understood,
/// which costs a press; the other mistake would cost a recording.
///
/// One key is another matter: Enter, whose press has started this program. It may be held still, and
/// then it is repeated; or it is pressed. So it is looked at again when the repeat would have come.
struct RepeatFilter {
    enum Verdict: Equatable, Sendable {
        case press
        case repetition
        /// `due(at:)` tells at that time.
        case unknown(until: ContinuousClock.Instant)
    }

    private struct Held {
        var first: ContinuousClock.Instant
        var last: ContinuousClock.Instant
        /// The first press was for another program.
        var isForeign: Bool
    }

    /// From the press to the first repeat, at most.
    static let delay = Duration.milliseconds(700)
    /// From one repeat to the next, at most.
    static let interval = Duration.milliseconds(150)

    private var held: [KeyCode: Held] = [:]
    private var pending: (key: KeyCode, at: ContinuousClock.Instant)?

    /// `key` may be down already, for another program.
    init(held key: KeyCode? = nil, at now: ContinuousClock.Instant) {
        if let key { held[key] = Held(first: now, last: now, isForeign: true) }
    }

    /// Call `due` first.
    mutating func press(_ key: KeyCode, at now: ContinuousClock.Instant) -> Verdict {
        // Only keys that are repeated matter: what is remembered is bounded.
        held = held.filter { now - $0.value.last <= Self.delay }
        let wasPending = pending?.key == key
        if wasPending { pending = nil }
        guard let before = held[key] else {
            held[key] = Held(first: now, last: now, isForeign: false)
            return .press
        }
        let isFirst = before.last == before.first && !wasPending
        guard now - before.last <= Self.interval || now - before.first <= Self.delay else {
            held[key] = Held(first: now, last: now, isForeign: false)
            return .press
        }
        held[key]?.last = now
        guard before.isForeign, isFirst else { return .repetition }
        pending = (key, now)
        return .unknown(until: now + Self.interval)
    }

    mutating func release(_ key: KeyCode) { held[key] = nil }

    /// When `due` knows more.
    var deadline: ContinuousClock.Instant? { pending.map { $0.at + Self.interval } }

    /// A key that was pressed and not repeated, once that is certain.
    mutating func due(at now: ContinuousClock.Instant) -> KeyCode? {
        guard let (key, at) = pending, now >= at + Self.interval else { return nil }
        pending = nil
        held[key] = Held(first: at, last: at, isForeign: false)
        return key
    }
}
