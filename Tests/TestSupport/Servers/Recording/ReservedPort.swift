// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform

/// A port for a server that cannot be told to choose one: it is bound, and nothing listens, so that
/// only a server can have it that shares addresses.
package final class ReservedPort: Sendable {
    package let port: UInt16
    private let descriptor: OwnedDescriptor

    package init() throws(SystemError) {
        let descriptor = try ListeningSocket.openSocket()
        let number = descriptor.number
        self.descriptor = descriptor
        var on: Int32 = 1
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        try retryingInterrupts("bind") {
            LoopbackAddress(port: 0).withPointer { bind(number, $0, $1) }
        }
        port = LoopbackAddress(ofSocket: number, getsockname).port
    }

    /// Waits until a server listens; false when none does in time.
    package func waitUntilOpen() async -> Bool {
        await onOwnThread { [port] in
            let deadline = MonotonicTime.now + .patience
            while MonotonicTime.now < deadline {
                let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                defer { close(number) }
                let address = LoopbackAddress(port: port)
                if address.withPointer({ connect(number, $0, $1) }) == 0 { return true }
                poll(nil, 0, 10)
            }
            return false
        }
    }
}
