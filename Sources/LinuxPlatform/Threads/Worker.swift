// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What one loop does: it takes in what others send, works for a turn, and waits.
///
/// Made on the thread of its `WorkerLoop` and touched by it alone, so that it needs no lock.
package protocol Worker: SendableMetatype {
    associatedtype Message

    mutating func receive(_ message: Message)

    /// One turn; `isLast`: the loop has been shut down, and all messages were received.
    ///
    /// After the shut-down turns go on while the result is `.goesOn`.
    mutating func turn(isLast: Bool) -> WorkerPause

    /// Waits for the wake-up, or for what the next turn needs; not called before the last turn. May
    /// return early.
    ///
    /// - Returns: whether `wakeup` is readable.
    mutating func wait(for wakeup: Int32, _ pause: WorkerPause) -> Bool

    mutating func end()

    /// Takes a message that came after the last turn.
    mutating func refuse(_ message: Message)
}

extension Worker {
    package mutating func wait(for wakeup: Int32, _ pause: WorkerPause) -> Bool {
        pause.wait(for: wakeup)
    }

    package mutating func end() {}

    package mutating func refuse(_ message: Message) {}
}

package enum WorkerPause: Equatable {
    case goesOn
    case until(ContinuousClock.Instant)
    case untilWoken

    /// Nil is never.
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
        switch self {
        case .goesOn: return 0
        case .untilWoken: return -1
        case .until(let instant):
            let left = max(.zero, instant - .now).components
            return Int32(
                clamping: left.seconds * 1_000
                    + (left.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
    }
}
