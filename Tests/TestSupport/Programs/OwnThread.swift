// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

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
