// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Runs blocking code on a thread of its own, beside one that opens and closes folders all the time
/// and so takes every number of a descriptor that is free.
package func besideReusedNumbers<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    let isOver = Gate()
    let thread = try JoinableThread(name: "reuse") {
        while !isOver.isOpen {
            let numbers = (0..<4).map { _ in open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
            for number in numbers { close(number) }
        }
    }
    let result = await onOwnThread { Result { try body() } }
    isOver.open()
    thread.join()
    return try result.get()
}
