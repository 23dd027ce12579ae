// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The work of one loop: it takes in what others send, works for a turn, and waits.
///
/// Made on the thread of its `WorkerLoop` and touched by it alone, so that it needs no lock.
package protocol Worker: SendableMetatype {
    associatedtype Message

    mutating func receive(_ message: Message)

    /// Works for one turn; `isLast`: the loop has been shut down, and all messages were received.
    ///
    /// After the shut-down turns go on while the result is `.goesOn`.
    mutating func turn(isLast: Bool) -> WorkerPause

    /// Whether `wait` polls the wake-up's descriptor beside others.
    static var isPolling: Bool { get }

    /// Waits for the wake-up, whose signals it takes back, or for what the next turn needs; not called
    /// before the last turn. May return early.
    mutating func wait(for wakeup: Wakeup, _ pause: WorkerPause)

    mutating func end()

    /// Takes a message that came after the last turn.
    mutating func refuse(_ message: Message)
}

extension Worker {
    package static var isPolling: Bool { false }

    package mutating func wait(for wakeup: Wakeup, _ pause: WorkerPause) { wakeup.wait(pause) }

    package mutating func end() {}

    package mutating func refuse(_ message: Message) {}
}

package enum WorkerPause: Equatable {
    case goesOn
    case until(ContinuousClock.Instant)
    case untilWoken

    /// Waits until an instant; nil: until woken.
    package init(until instant: ContinuousClock.Instant?) {
        self = instant.map { .until($0) } ?? .untilWoken
    }

    /// - Returns: whether the descriptor is readable.
    package func wait(for number: Int32) -> Bool {
        if case .goesOn = self { return false }
        var descriptor = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&descriptor, 1, milliseconds) > 0
    }

    /// The rest, for `poll(2)`: rounded up, -1 for ever.
    package var milliseconds: Int32 {
        let left = nanoseconds
        return left < 0 ? -1 : Int32(clamping: left / 1_000_000 + (left % 1_000_000).signum())
    }

    /// The rest, -1 for ever.
    var nanoseconds: Int {
        switch self {
        case .goesOn: 0
        case .untilWoken: -1
        case .until(let instant):
            max(0, Int(clamping: (instant - .now).attoseconds / 1_000_000_000))
        }
    }
}
