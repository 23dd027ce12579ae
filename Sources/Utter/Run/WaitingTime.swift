// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
package import TakeStore

/// How long takes have waited for their answer, by a clock that may have jumped.
///
/// Decides what is still sent without being asked for, never what is deleted. Tries to send a take
/// do not make it younger.
package struct WaitingTime: Sendable {
    /// Whoever has waited for longer wants to be asked: 30 days.
    package static let standardLimit = Duration.seconds(30 * 86_400)

    private let now: Date
    private let jump: Date

    /// Looks at the clock.
    ///
    /// Writes nothing.
    package init(in store: TakeStore, now: Date = Date()) {
        self.now = now
        jump = store.lastClockJump(now: now)
    }

    /// The time since a take began, or, when that is shorter or the name lies in the future, since
    /// the clock was last seen to jump.
    package func duration(of take: TakeID) -> Duration {
        Retention.age(at: now, since: [take.date, jump])
    }
}
