// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// Does the same with many things, some of them side by side, each on a thread that blocks.
enum Lanes {
    /// So many requests are under way.
    private static let count = 16

    /// Waits until all are done, or one has failed; what came of them is in any order.
    @discardableResult
    static func run<Thing: Sendable, Value: Sendable>(
        _ things: [Thing], _ body: @escaping @Sendable (Thing) throws -> Value
    ) throws -> [Value] {
        let state = Mutex(LaneState<Thing, Value>(rest: things[...]))
        let work: @Sendable () -> Void = {
            while let thing = state.withLock({ $0.next() }) {
                do {
                    let value = try body(thing)
                    state.withLock { $0.values.append(value) }
                } catch {
                    state.withLock { $0.failure = $0.failure ?? error }
                }
            }
        }
        let threads = try (0..<min(count, things.count)).map { _ in
            try NamedThread(name: "lane", work)
        }
        for thread in threads { thread.join() }
        return try state.withLock { state in
            if let failure = state.failure { throw failure }
            return state.values
        }
    }
}

private struct LaneState<Thing: Sendable, Value: Sendable> {
    var rest: ArraySlice<Thing>
    var values: [Value] = []
    var failure: (any Error)?

    mutating func next() -> Thing? { failure == nil ? rest.popFirst() : nil }
}
