// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// Runs blocking code on a thread of its own and hands back its result.
///
/// The cooperative pool of a small machine has two threads: two tests that block them stop all
/// others, and the code under test with them.
package func onOwnThread<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result
) async -> Result {
    await withCheckedContinuation { continuation in
        do {
            _ = try NamedThread(name: "test-wait") {
                continuation.resume(returning: body())
            }
        } catch {
            // No thread left: blocking the pool is still better than no answer.
            continuation.resume(returning: body())
        }
    }
}

/// A thread that can be kept in an array and is joined once, by the first caller.
final class JoinableThread: Sendable {
    private let thread: Mutex<NamedThread?>

    /// Starts a thread.
    init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        thread = Mutex(try NamedThread(name: name, body))
    }

    /// Waits until the thread has ended; a second call returns at once.
    func join() {
        let own = thread.withLock { $0.take() }
        own?.join()
    }
}

/// Does many things, a few side by side, and gathers what each has to say.
package func inLanes<Item: Sendable>(
    _ count: Int, _ items: [Item], _ body: @escaping @Sendable (Item) async throws -> [String]
) async throws -> [String] {
    try await withThrowingTaskGroup(of: [String].self) { group in
        var rest = items[...]
        var all: [String] = []
        for item in rest.prefix(count) { group.addTask { try await body(item) } }
        rest = rest.dropFirst(count)
        while let found = try await group.next() {
            all += found
            if let item = rest.popFirst() { group.addTask { try await body(item) } }
        }
        return all
    }
}

/// Waits until something is so, at which it looks every 10 ms; false when it was not in time.
package func comesTrue(_ isSo: @escaping @Sendable () -> Bool) async -> Bool {
    await onOwnThread { comesTrueBlocking(isSo) }
}

/// The same, blocking the calling thread.
package func comesTrueBlocking(_ isSo: () throws -> Bool) rethrows -> Bool {
    let deadline = MonotonicTime.now + .patience
    while try !isSo() {
        guard MonotonicTime.now < deadline else { return false }
        poll(nil, 0, 10)
    }
    return true
}
