// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A value that becomes known once; any number of tasks wait for it.
package final class Settlement<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var value: Value {
        get async {
            while true {
                // Under the lock: the thread sanitizer does not see the order that resuming makes.
                if let value = state.withLock({ $0.value }) { return value }
                await withCheckedContinuation { continuation in
                    let isKnown = state.withLock { state in
                        if state.value == nil { state.waiting.append(continuation) }
                        return state.value != nil
                    }
                    if isKnown { continuation.resume() }
                }
            }
        }
    }

    /// Settles it with `late` when the deadline has passed before, or no thread is left to wait.
    ///
    /// A task that sleeps would start five threads of libdispatch, one of which wakes each second.
    package func value(by deadline: ContinuousClock.Instant, or late: Value) async -> Value {
        // It needs no descriptor, and so it is there.
        let news = try? Wakeup(isPolled: false)
        // Without a thread to wait, there is no time.
        let thread = try? NamedThread(name: "alarm") { [self] in
            while state.withLock({ $0.value == nil }), .now < deadline {
                news?.wait(.until(deadline))
            }
            settle(late)
        }
        if thread == nil { settle(late) }
        defer { news?.signal() }
        return await value
    }

    /// From any thread; the first call counts.
    package func settle(_ value: Value) {
        let waiting = state.withLock { state in
            if state.value == nil { state.value = value }
            // Once it is known, no task begins to wait.
            return exchange(&state.waiting, with: [])
        }
        for waiter in waiting { waiter.resume() }
    }
}
