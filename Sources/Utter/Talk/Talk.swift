// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// Push to talk, carried out: keys and commands come in, takes are started and ended.
///
/// Usable from any thread. Everything happens on one thread of its own, in the order in which it
/// was said.
package final class Talk: Sendable {
    private let loop: WorkerLoop<TalkWorker>

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - machine: decides.
    ///   - delegate: starts takes, and tells the person.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    package init(
        _ machine: TalkMachine = TalkMachine(), delegate: any TalkDelegate
    ) throws(SystemError) {
        loop = try WorkerLoop(name: "talk") { TalkWorker(machine, delegate) }
    }

    /// Says that a key or a command has come, now or at an earlier instant.
    ///
    /// From any thread; does not wait for what follows.
    package func handle(
        _ event: TalkMachine.Event, at instant: ContinuousClock.Instant = .now
    ) {
        loop.send(.event(event, instant))
    }

    /// Calls `body` on the talk's thread with the phase, after all that was said before.
    package func look(_ body: @escaping @Sendable (TalkMachine.Phase) -> Void) {
        loop.send(.look(body))
    }

    /// Says what has happened to a take that the delegate has started.
    package func note(_ event: TakeEvent, of number: Int) {
        switch event {
        case .began: handle(.listening(number))
        case .resumed: handle(.resumed(number))
        case .captured: handle(.captured(number))
        case .sent: handle(.sent(number))
        default: break
        }
    }

    /// Says that a take is over.
    package func settle(_ number: Int, _ outcome: TakeOutcome) {
        handle(.settled(number, TalkMachine.Ending(outcome)))
    }

    /// Carries out what was said before, ends the thread and waits for it.
    ///
    /// Takes that still run go on.
    package func shutDown() { loop.shutDown() }
}

extension TalkMachine.Ending {
    /// Sums an outcome up.
    package init(_ outcome: TakeOutcome) {
        switch outcome.result {
        case .success: self = .done
        case .failure(.cancelled): self = .cancelled
        case .failure: self = outcome.account.capturedFrames > 0 ? .kept : .dropped
        }
    }
}
