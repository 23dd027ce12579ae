// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A socket of TCP at an address of this machine, in digits.
package enum NumericSocket {
    /// Listens at an address and a port; port 0 lets the system choose.
    ///
    /// - Throws: `SystemError`; `EINVAL` when the address is not one in digits.
    package static func listen(
        at address: String, port: UInt16
    ) throws(SystemError) -> OwnedDescriptor {
        let name = "\(address):\(port)"
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(address, "\(port)", &hints, &found) == 0, let info = unsafe found
        else { throw SystemError(call: name, code: EINVAL) }
        defer { unsafe freeaddrinfo(info) }
        let (family, place) = unsafe (info.pointee.ai_family, info.pointee.ai_addr)
        let length = unsafe info.pointee.ai_addrlen
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listener = try OwnedDescriptor(of: "socket") { socket(family, type, 0) }
        var one: Int32 = 1
        _ = unsafe setsockopt(listener.number, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        try retryingInterrupts("bind \(name)") { unsafe bind(listener.number, place, length) }
        try retryingInterrupts("listen \(name)") { Glibc.listen(listener.number, 64) }
        LocalSocket.makeNonblocking(listener.number)
        return listener
    }

    /// The port of a socket that listens; 0 when it has none.
    package static func port(of listener: borrowing OwnedDescriptor) -> Int {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let number = listener.number
        return unsafe withUnsafeMutableBytes(of: &address) { bytes in
            guard let base = bytes.baseAddress,
                unsafe getsockname(
                    number, base.assumingMemoryBound(to: sockaddr.self), &length) == 0
            else { return 0 }
            // In both families the port stands behind the family (ip(7), ipv6(7)).
            return unsafe Int(bytes[2]) << 8 | Int(bytes[3])
        }
    }
}
