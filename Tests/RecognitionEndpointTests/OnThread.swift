// SPDX-License-Identifier: Apache-2.0

@testable import LinuxPlatform

/// Runs blocking calls on a thread of their own, because the server under test needs the pool.
func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    let box = JoinedThread()
    let result = try await withCheckedThrowingContinuation { continuation in
        do {
            try box.start {
                continuation.resume(with: Result(catching: body))
            }
        } catch {
            continuation.resume(throwing: error)
        }
    }
    box.join()
    return result
}

/// A thread that is joined by the task that waits for its result.
private final class JoinedThread: @unchecked Sendable {
    private var thread: NamedThread?

    func start(_ body: @escaping @Sendable () -> Void) throws {
        thread = try NamedThread(name: "test-client", body)
    }

    func join() {
        thread.take()?.join()
    }
}
