// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The events of a take that its listener has not taken yet.
///
/// At most 256; the oldest are dropped then. Of long transcripts the newest alone waits: each
/// replaces the one before, and a long answer that comes in many pieces would fill the memory with
/// its copies. Called from any thread.
final class WaitingEvents: Sendable {
    private static let limit = 256
    /// The most bytes of transcripts that wait beside the newest.
    private static let byteLimit = 256 << 10

    private struct State {
        var events: [TakeEvent] = []
        var isFinished = false
        /// The listener, while it waits for the next one.
        var listener: CheckedContinuation<TakeEvent?, Never>?
    }

    private let state = Mutex(State())

    var stream: AsyncStream<TakeEvent> {
        AsyncStream(unfolding: { await self.next() }, onCancel: { self.finish() })
    }

    /// Hands an event to the listener, or keeps it.
    func add(_ event: TakeEvent) {
        let listener = state.withLock { state -> CheckedContinuation<TakeEvent?, Never>? in
            guard !state.isFinished else { return nil }
            if let listener = state.listener {
                state.listener = nil
                return listener
            }
            if case .heard(let transcript) = event {
                let byteCount = state.events.reduce(transcript.byteCount) { $0 + $1.byteCount }
                if byteCount > Self.byteLimit { state.events.removeAll { $0.byteCount > 0 } }
            }
            state.events.append(event)
            if state.events.count > Self.limit { state.events.removeFirst() }
            return nil
        }
        listener?.resume(returning: event)
    }

    func finish() {
        let listener = state.withLock { state in
            state.isFinished = true
            defer { state.listener = nil }
            return state.listener
        }
        listener?.resume(returning: nil)
    }

    private func next() async -> TakeEvent? {
        await withCheckedContinuation { continuation in
            let event = state.withLock { state -> TakeEvent?? in
                if !state.events.isEmpty { return state.events.removeFirst() }
                guard !state.isFinished else { return .some(nil) }
                state.listener = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }
}

extension TakeEvent {
    fileprivate var byteCount: Int {
        if case .heard(let transcript) = self { transcript.byteCount } else { 0 }
    }
}
