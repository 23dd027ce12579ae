// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Waits on the calling thread; false when `isOver` has become true.
package func waits(_ time: Duration, unless isOver: () -> Bool = { false }) -> Bool {
    let end = ContinuousClock.now + time
    // It needs no descriptor, and so it is there.
    let news = try? Wakeup(isPolled: false)
    while end > .now {
        if isOver() { return false }
        news?.wait(.until(min(end, .now + .milliseconds(250))))
    }
    return !isOver()
}

/// Runs what waits, and blocks the calling thread until it has ended; not on the cooperative pool.
package func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () async -> Value
) -> Value {
    let found = Found<Value>()
    // It needs no descriptor, and so it is there.
    let news = try? Wakeup(isPolled: false)
    Task {
        let value = await body()
        found.value.withLock { $0 = value }
        news?.signal()
    }
    while true {
        if let value = found.value.withLock({ $0 }) { return value }
        news?.wait(.until(.now + .seconds(60)))
    }
}

private final class Found<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
}
