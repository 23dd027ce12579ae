// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// Does the same with many things, some of them side by side, each on a thread that blocks.
enum Lanes {
    /// So many requests are under way.
    private static let count = 16

    /// Waits until all are done, or one has failed.
    ///
    /// - Parameters:
    ///   - things: the things.
    ///   - body: what is done with each.
    /// - Returns: what came of them, in any order.
    /// - Throws: the first failure.
    @discardableResult
    static func run<Thing: Sendable, Value: Sendable>(
        _ things: [Thing], _ body: @escaping @Sendable (Thing) throws -> Value
    ) throws -> [Value] {
        let state = LaneState<Thing, Value>(things)
        let threads = try (0..<min(count, things.count)).map { _ in
            try NamedThread(name: "lane") {
                while let thing = state.next() {
                    do {
                        state.end(try body(thing))
                    } catch {
                        state.fail(error)
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        return try state.values()
    }
}

private final class LaneState<Thing: Sendable, Value: Sendable>: Sendable {
    private struct State {
        var rest: ArraySlice<Thing>
        var values: [Value] = []
        var failure: (any Error)?
    }

    private let state: Mutex<State>

    init(_ things: [Thing]) { state = Mutex(State(rest: things[...])) }

    func next() -> Thing? { state.withLock { $0.failure == nil ? $0.rest.popFirst() : nil } }

    func end(_ value: Value) { state.withLock { $0.values.append(value) } }

    func fail(_ error: any Error) { state.withLock { $0.failure = $0.failure ?? error } }

    func values() throws -> [Value] {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            return state.values
        }
    }
}
