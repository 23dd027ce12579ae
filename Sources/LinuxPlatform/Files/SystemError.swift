// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The error of one system call.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    let call: String

    /// The value of `errno`.
    public let code: Int32

    package init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// Reads `errno`: call it right after the call that failed.
    package static func last(_ call: String) -> SystemError {
        SystemError(call: call, code: errno)
    }

    /// The corresponding C function is `strerror`.
    package var reason: String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }

    /// The message: what happened and why, in one line without capital and full stop.
    public var description: String { "\(call): \(reason)" }

    /// Whether a descriptor, memory or a thread could not be had; what was asked for may be
    /// there.
    package var isOfLimit: Bool {
        // EAGAIN of other calls means that the same may succeed later.
        [EMFILE, ENFILE, ENOMEM].contains(code) || code == EAGAIN && call == Self.threadCall
    }

    static let threadCall = "pthread_create"
}

/// How often a call that was interrupted is repeated.
///
/// Signals go to one thread and come one by one. A call that is interrupted so often in a row comes
/// from a file system that will never carry it out, and would keep a processor busy for ever.
private let interruptLimit = 100

/// Repeats a system call while it is interrupted by a signal (`EINTR`), a hundred times at most.
///
/// - Returns: what the call returned, at least zero.
/// - Throws: `SystemError` when it returned -1 with another `errno`, or was interrupted each time.
@discardableResult
package func retryingInterrupts<Value: SignedInteger>(
    _ call: String, _ body: () -> Value
) throws(SystemError) -> Value {
    var interruptCount = 0
    while true {
        let value = body()
        if value >= 0 { return value }
        let code = errno
        interruptCount += 1
        guard code == EINTR, interruptCount < interruptLimit else {
            throw SystemError(call: call, code: code)
        }
    }
}
