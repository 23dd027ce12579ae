// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A network of its own, with nothing but a loopback interface that the test can cut.
///
/// Threads and processes that are started inside live in it, and so do their sockets. Only root
/// may make one, and cutting needs `tc` of iproute2.
package final class NetworkNamespace: Sendable {
    package static let isAvailable: Bool = {
        guard geteuid() == 0 else { return false }
        do {
            let namespace = try NetworkNamespace()
            try namespace.cut()
            return true
        } catch {
            return false
        }
    }()

    /// The type of `unshare(2)` and the descriptor of `setns(2)`: a network (`CLONE_NEWNET`).
    private static let network: Int32 = 0x4000_0000

    private let descriptor: OwnedDescriptor

    /// Makes a network whose loopback interface is up.
    package init() throws {
        let made = try Self.onNewThread { () throws in
            typealias Unshare = @convention(c) (Int32) -> Int32
            guard let unshare = Self.function("unshare", as: Unshare.self),
                unshare(Self.network) == 0
            else { throw SystemError.last("unshare") }
            try ForeignTool("ip").run(["link", "set", "lo", "up"])
            return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
        }
        guard made >= 0 else { throw SystemError(call: "open", code: ENOENT) }
        descriptor = OwnedDescriptor(taking: made)
    }

    /// Runs blocking code inside, on a thread of its own.
    package func inside<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        let number = descriptor.number
        return try Self.onNewThread {
            typealias SetNamespace = @convention(c) (Int32, Int32) -> Int32
            guard let enter = Self.function("setns", as: SetNamespace.self),
                enter(number, Self.network) == 0
            else { throw SystemError.last("setns") }
            return try body()
        }
    }

    /// Lets every packet disappear from now on, without a word to either side.
    package func cut() throws {
        _ = try inside {
            try ForeignTool("tc").run(["qdisc", "replace", "dev", "lo", "root", "blackhole"])
        }
    }

    /// Lets packets pass again.
    package func mend() throws {
        _ = try inside {
            try ForeignTool("tc").run(["qdisc", "del", "dev", "lo", "root"])
        }
    }

    private static func onNewThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        let result = Observed<Result<Value, any Error>?>(nil)
        let thread = try JoinableThread(name: "test-network") {
            let outcome = Result { try body() }
            result.update { $0 = outcome }
        }
        thread.join()
        guard let outcome = result.value else { throw SystemError(call: "pthread", code: EAGAIN) }
        return try outcome.get()
    }

    /// A function of the C library whose header Swift does not show.
    private static func function<Function>(_ name: String, as: Function.Type) -> Function? {
        guard let address = dlsym(nil, name) else { return nil }
        return unsafeBitCast(address, to: Function.self)
    }
}
