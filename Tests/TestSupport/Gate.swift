// SPDX-License-Identifier: Apache-2.0

/// Closed until it is opened, and open from then on; how a test and a server tell each other "now".
package final class Gate: Sendable {
    let state = Observed(false)

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

    /// Blocks the calling thread until the gate is open.
    ///
    /// - Parameters:
    ///   - limit: the longest time to wait.
    ///   - interruption: a descriptor that ends the wait when it becomes readable, or -1.
    /// - Returns: false when the wait was ended before.
    package func waitBlocking(
        within limit: Duration = .patience, interruptedBy interruption: Int32 = -1
    ) -> Bool {
        state.waitBlocking(within: limit, interruptedBy: interruption) { $0 ? true : nil } ?? false
    }
}
