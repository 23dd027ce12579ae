// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import UtterTerminal

/// Shows how far the sending of many recordings has come.
///
/// From any thread.
final class BatchProgress: Sendable {
    private let count: Mutex<BatchCount>
    /// The line; nil where there is none.
    let live: LiveLine?

    /// Begins to show a count, where there is a line for it.
    init(_ count: BatchCount, on live: LiveLine?) {
        self.live = live
        self.count = Mutex(count)
        live?.show(count)
    }

    /// Learns what has happened.
    func note(_ change: (inout BatchCount) -> Void) {
        count.withLock { count in
            change(&count)
            // Under the lock: what is older is not shown behind what is newer.
            live?.show(count)
        }
    }

    /// Has lines written that stay, above the one that changes.
    @discardableResult
    func write<Value: Sendable>(_ body: () -> Value) -> Value {
        guard let live else { return body() }
        return live.write(body)
    }

    /// Takes the line away, for good.
    ///
    /// - Returns: the count.
    func end() -> BatchCount {
        live?.end()
        return count.withLock { $0 }
    }
}
