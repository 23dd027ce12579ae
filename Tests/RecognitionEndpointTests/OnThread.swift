// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Runs blocking calls on a thread of their own, because the server under test needs the pool.
func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await onOwnThread { Result(catching: body) }.get()
}
