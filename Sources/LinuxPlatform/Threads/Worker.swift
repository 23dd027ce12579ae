// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What one loop does: it takes in what others send, works for a turn, and waits.
///
/// Made on the thread of its `WorkerLoop` and touched by it alone, so that it needs no lock.
package protocol Worker: SendableMetatype {
    associatedtype Message

    mutating func receive(_ message: Message)

    /// Does what there is to do now.
    ///
    /// - Parameter isLast: the loop has been shut down; all that was sent before has been received.
    ///   Turns go on while they say `.goesOn`.
    /// - Returns: what comes before the next turn.
    mutating func turn(isLast: Bool) -> WorkerPause

    /// Waits for the wake-up or for what else the next turn needs.
    ///
    /// Not called before a turn that is the last. An interrupted wait is one that ends early.
    ///
    /// - Returns: whether `wakeup` is readable.
    mutating func wait(for wakeup: Int32, _ pause: WorkerPause) -> Bool

    mutating func end()

    /// Is given what was sent too late to be received.
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
    /// Nothing: there is more to do.
    case goesOn
    /// A wait until the loop is woken, or the clock has reached this instant.
    case until(ContinuousClock.Instant)
    /// A wait until the loop is woken.
    case untilWoken

    /// Until the earlier of two instants; nil is never.
    package init(until instant: ContinuousClock.Instant?) {
        self = instant.map { .until($0) } ?? .untilWoken
    }

    /// Waits for a descriptor alone, and says whether it is readable.
    package func wait(for number: Int32) -> Bool {
        if case .goesOn = self { return false }
        var descriptor = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&descriptor, 1, milliseconds) > 0
    }

    /// What is left of it, as `poll(2)` wants it: rounded up, -1 for ever.
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
