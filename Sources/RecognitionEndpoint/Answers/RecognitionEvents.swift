// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Hands what was heard from the recogniser's thread to the connection's task.
///
/// Holds one partial text and one end: a newer partial replaces one that was not read yet, so
/// a client that does not read its answer costs no memory.
final class RecognitionEvents: Sendable {
    enum Event: Sendable, Equatable {
        case partial(PartialRecognition)
        /// The audio is over and this was said; the last event.
        case final(Recognition)
        case failed(BodyFailure)
    }

    private struct State {
        var partial: PartialRecognition?
        var ending: Event?
        var waiter: CheckedContinuation<Event, Never>?
    }

    private let state = Mutex(State())

    /// Hands an event over; never blocks, called on the recogniser's thread.
    func post(_ event: Event) {
        let waiter = state.withLock { state in
            if let waiter = state.waiter.take() { return Optional(waiter) }
            switch event {
            case .partial(let partial): state.partial = partial
            case .final, .failed: state.ending = event
            }
            return nil
        }
        waiter?.resume(returning: event)
    }

    /// Waits for the next event; called by one task, and not again after the last event.
    func next() async -> Event {
        await withCheckedContinuation { continuation in
            let event: Event? = state.withLock { state in
                // A partial text is worth nothing beside the final one.
                if let ending = state.ending { return ending }
                if let partial = state.partial.take() { return .partial(partial) }
                state.waiter = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }
}
