// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A value that becomes known once; any number of tasks wait for it.
package final class Settlement<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [CheckedContinuation<Value, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state in
                    if state.value == nil { state.waiting.append(continuation) }
                    return state.value
                }
                if let known { continuation.resume(returning: known) }
            }
        }
    }

    /// Makes the value known, from any thread; the first one counts.
    package func settle(_ value: Value) {
        let waiting = state.withLock { state in
            guard state.value == nil else { return [CheckedContinuation<Value, Never>]() }
            state.value = value
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume(returning: value) }
    }
}
