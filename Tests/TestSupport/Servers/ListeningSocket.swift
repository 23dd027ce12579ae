// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import LinuxPlatform

/// A TCP socket that listens on a free port of 127.0.0.1.
final class ListeningSocket: Sendable {
    let port: UInt16
    private let descriptor: OwnedDescriptor

    /// The connections of our own that keep the accept queue full, and their ports.
    private let fillers: [FillingConnection]

    private init(
        port: UInt16, descriptor: consuming OwnedDescriptor, fillers: [FillingConnection]
    ) {
        self.port = port
        self.descriptor = descriptor
        self.fillers = fillers
    }

    /// Closing alone would not end the listening at once: a program that another test starts has a
    /// copy of the socket between its fork and its exec.
    deinit { refuseConnects() }

    /// Opens a socket whose accept queue may be kept full, so that the kernel drops the first packet
    /// of every client until `releaseConnects()`, and whose connections may have a `SO_RCVBUF`.
    static func open(
        holdsConnects: Bool, receiveBufferBytes: Int32?
    ) throws(SystemError) -> ListeningSocket {
        let descriptor = try openSocket()
        let number = descriptor.number
        if var bytes = receiveBufferBytes {
            setsockopt(number, SOL_SOCKET, SO_RCVBUF, &bytes, 4)
        }
        try bindAnywhere(number)
        try retryingInterrupts("listen") { listen(number, holdsConnects ? 0 : 128) }
        let address = LoopbackAddress(ofSocket: number, getsockname)
        let fillers = holdsConnects ? try FillingConnection.fill(address) : []
        return ListeningSocket(port: address.port, descriptor: descriptor, fillers: fillers)
    }

    /// Binds to a port of the system's choice, by its number: only then does the socket keep it
    /// while it does not listen.
    private static func bindAnywhere(_ number: Int32) throws(SystemError) {
        var attempts = 0
        while true {
            let probe = try openSocket()
            try retryingInterrupts("bind") {
                LoopbackAddress(port: 0).withPointer { bind(probe.number, $0, $1) }
            }
            let address = LoopbackAddress(ofSocket: probe.number, getsockname)
            close(probe)
            attempts += 1
            do throws(SystemError) {
                try retryingInterrupts("bind") { address.withPointer { bind(number, $0, $1) } }
                return
            } catch {
                // Another process was given the port in between.
                guard error.code == EADDRINUSE, attempts < 100 else { throw error }
            }
        }
    }

    private static func close(_ descriptor: consuming OwnedDescriptor) {}

    var number: Int32 { descriptor.number }

    /// Makes the accept queue long enough for every client.
    func releaseConnects() {
        listen(descriptor.number, 128)
    }

    /// Stops listening, so that every connect is refused until `releaseConnects()`.
    func refuseConnects() {
        shutdown(descriptor.number, Int32(SHUT_RDWR))
    }

    /// Takes the next connection, which the caller closes; nil when it was one of our own fillers,
    /// or is gone again.
    func accept() -> Int32? {
        let number = utter_accept(descriptor.number)
        guard number >= 0 else { return nil }
        let peer = LoopbackAddress(ofSocket: number, getpeername).port
        guard fillers.contains(where: { $0.port == peer }) else { return number }
        Glibc.close(number)
        return nil
    }

    /// Opens a TCP socket that children do not inherit.
    static func openSocket() throws(SystemError) -> OwnedDescriptor {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let number = try retryingInterrupts("socket") { socket(AF_INET, type, 0) }
        return OwnedDescriptor(taking: number)
    }
}

/// A connection that does nothing but occupy the accept queue of our own listener.
private final class FillingConnection: Sendable {
    let port: UInt16
    private let descriptor: OwnedDescriptor

    private init(port: UInt16, descriptor: consuming OwnedDescriptor) {
        self.port = port
        self.descriptor = descriptor
    }

    /// Connects until a connection gets no answer; a queue of "0" has room for one or two.
    static func fill(_ address: LoopbackAddress) throws(SystemError) -> [FillingConnection] {
        var fillers: [FillingConnection] = []
        while fillers.count < 8 {
            let descriptor = try ListeningSocket.openSocket()
            _ = fcntl(descriptor.number, F_SETFL, O_NONBLOCK)
            _ = address.withPointer { connect(descriptor.number, $0, $1) }
            let wait = pollfd(fd: descriptor.number, events: Int16(POLLOUT), revents: 0)
            // On loopback the answer comes within microseconds, or not before the next second.
            let events = pollEvents([wait], until: MonotonicTime.now + .milliseconds(300))
            guard events != [0] else { return fillers }
            let port = LoopbackAddress(ofSocket: descriptor.number, getsockname).port
            fillers.append(FillingConnection(port: port, descriptor: descriptor))
        }
        throw SystemError(call: "connect", code: EISCONN)
    }
}

struct LoopbackAddress: Sendable {
    private var content = sockaddr_in()

    init(port: UInt16) {
        content.sin_family = sa_family_t(AF_INET)
        content.sin_port = port.bigEndian
        content.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    }

    /// Asks a socket for one of its two addresses; port 0 when it has none.
    init(
        ofSocket number: Int32,
        _ ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) {
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &content) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(number, $0, &length) }
        }
    }

    var port: UInt16 { UInt16(bigEndian: content.sin_port) }

    /// Hands the address to a system call.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: content) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
