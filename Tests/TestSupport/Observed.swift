// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// A value that threads change and tests wait for; every wait has an end.
package final class Observed<Value: Sendable>: Sendable {
    private let content: Mutex<Content>

    private struct Content {
        var value: Value
        var waiters: [ObjectIdentifier: Wakeup] = [:]
    }

    package init(_ value: Value) {
        content = Mutex(Content(value: value))
    }

    package var value: Value { content.withLock { $0.value } }

    /// Looks at the value without copying it, from any thread.
    package func look<Result: Sendable>(_ body: (Value) -> Result) -> Result {
        content.withLock { body($0.value) }
    }

    /// Changes the value and lets all waiters look at it again, from any thread.
    @discardableResult
    package func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        content.withLock { content in
            let result = change(&content.value)
            for waiter in content.waiters.values { waiter.signal() }
            return result
        }
    }

    /// Waits, away from the cooperative pool, until `condition` gives something.
    ///
    /// - Returns: what `condition` gave, or nil when `limit` has passed.
    package func wait<Result: Sendable>(
        within limit: Duration, until condition: @escaping @Sendable (Value) -> Result?
    ) async -> Result? {
        await onOwnThread { self.waitBlocking(within: limit, until: condition) }
    }

    /// Blocks the calling thread until `condition` gives something.
    ///
    /// - Parameters:
    ///   - limit: the longest time to wait.
    ///   - interruption: a descriptor that ends the wait when it becomes readable, or -1.
    ///   - condition: called with the lock held, at once and after each change.
    /// - Returns: what `condition` gave, or nil when the wait was ended before.
    package func waitBlocking<Result: Sendable>(
        within limit: Duration, interruptedBy interruption: Int32 = -1,
        until condition: (Value) -> Result?
    ) -> Result? {
        let deadline = MonotonicTime.now + limit
        let wakeup = requireWakeup()
        content.withLock { $0.waiters[ObjectIdentifier(wakeup)] = wakeup }
        defer { content.withLock { $0.waiters[ObjectIdentifier(wakeup)] = nil } }
        while true {
            if let result = look(condition) { return result }
            let ready = pollReadable([wakeup.descriptor, interruption], until: deadline)
            if !ready[0] { return nil }
            wakeup.drain()
        }
    }
}

/// Closed until it is opened, and open from then on; how a test and a server tell each other "now".
package final class Gate: Sendable {
    private let state = Observed(false)

    package init() {}

    /// Lets every task through that waits or will wait, from any thread.
    package func open() {
        state.update { $0 = true }
    }

    package var isOpen: Bool { state.value }

    /// Waits, away from the cooperative pool, until the gate is open.
    ///
    /// - Returns: false when `limit` has passed before.
    package func wait(within limit: Duration = .patience) async -> Bool {
        await state.wait(within: limit) { $0 ? true : nil } ?? false
    }

    /// The same on the calling thread, until the descriptor, if there is one, is readable.
    package func waitBlocking(
        within limit: Duration = .patience, interruptedBy interruption: Int32 = -1
    ) -> Bool {
        state.waitBlocking(within: limit, interruptedBy: interruption) { $0 ? true : nil } ?? false
    }
}
