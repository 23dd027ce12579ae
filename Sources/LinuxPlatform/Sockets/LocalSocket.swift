// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A stream socket that processes of one machine reach by a path (`unix(7)`).
package enum LocalSocket {
    /// The longest path, in bytes: `sun_path` without its end, and room for the mark of a new one.
    package static let longestPath = 106

    /// The most clients that wait to be accepted; the system's own limit may be lower.
    private static let backlog: Int32 = 1_024

    /// Makes a socket that listens at `path`, in place of what is there.
    ///
    /// It gets its name when it can be used, so that no client finds one that does not listen.
    /// Its owner alone may connect.
    ///
    /// - Throws: `SystemError`; `ENAMETOOLONG` when the path is longer than `longestPath`.
    package static func listen(at path: String) throws(SystemError) -> OwnedDescriptor {
        let hidden = path + "~"
        let socket = try open()
        // A program that was killed may have left it.
        _ = unsafe unlink(hidden.cPath)
        unsafe try withAddress(of: hidden) { address, length throws(SystemError) in
            try retryingInterrupts("bind \(path)") { unsafe bind(socket.number, address, length) }
        }
        guard unsafe chmod(hidden.cPath, 0o600) == 0 else {
            throw SystemError.last("chmod \(path)")
        }
        try retryingInterrupts("listen \(path)") { Glibc.listen(socket.number, backlog) }
        guard unsafe rename(hidden.cPath, path.cPath) == 0 else {
            throw SystemError.last("rename \(path)")
        }
        makeNonblocking(socket.number)
        return socket
    }

    /// Waits up to `limit` for a place in the queue of the other side.
    ///
    /// - Throws: `SystemError`: `EAGAIN` without one; `ENOENT` or `ECONNREFUSED` without a
    ///   listener.
    package static func connect(
        to path: String, within limit: Duration
    ) throws(SystemError) -> OwnedDescriptor {
        let socket = try open()
        var time = timeval(
            tv_sec: Int(limit.components.seconds),
            tv_usec: Int(limit.components.attoseconds / 1_000_000_000_000))
        _ = unsafe setsockopt(
            socket.number, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        unsafe try withAddress(of: path) { address, length throws(SystemError) in
            try retryingInterrupts("connect \(path)") {
                unsafe Glibc.connect(socket.number, address, length)
            }
        }
        return socket
    }

    /// Accepts a client; nil when none waits; never blocks.
    package static func accept(from listener: Int32) throws(SystemError) -> OwnedDescriptor? {
        let number = utter_accept(listener)
        if number >= 0 { return OwnedDescriptor(taking: number) }
        switch errno {
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: throw SystemError.last("accept")
        default: return nil
        }
    }

    /// As the kernel knows them (`SO_PEERCRED`).
    package static func peer(of socket: Int32) throws(SystemError) -> (user: UInt32, process: Int32)
    {
        // `struct ucred`: process, user, group.
        var credentials: [UInt32] = [0, 0, 0]
        var length = socklen_t(credentials.count * MemoryLayout<UInt32>.size)
        try retryingInterrupts("getsockopt") {
            unsafe getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
        }
        return (user: credentials[1], process: Int32(bitPattern: credentials[0]))
    }

    package static func isListening(_ number: Int32) -> Bool {
        option(SO_ACCEPTCONN, of: number) == 1 && option(SO_DOMAIN, of: number) == AF_UNIX
            && option(SO_TYPE, of: number) == Int32(SOCK_STREAM.rawValue)
    }

    /// Non-blocking and close-on-exec.
    package static func makeNonblocking(_ number: Int32) {
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
    }

    /// Never blocks.
    ///
    /// - Returns: the bytes; empty at the end; nil when there are none yet.
    package static func receive(from number: Int32) throws(SystemError) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count >= 0 { return Array(buffer[..<count]) }
        if errno == EAGAIN || errno == EINTR { return nil }
        throw SystemError.last("recv")
    }

    /// Writes what the connection takes; never blocks.
    package static func send(
        _ bytes: ArraySlice<UInt8>, to number: Int32
    ) throws(SystemError) -> Int {
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(number, $0.baseAddress, $0.count, flags)
        }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        throw SystemError.last("send")
    }

    /// In bytes, with the kernel's overhead.
    package static func unreadCount(of number: Int32) -> Int { Int(utter_unread(number)) }

    /// Sends one datagram to the socket at a path, or at an abstract name that begins with "@".
    package static func sendDatagram(_ text: String, to path: String) throws(SystemError) {
        let socket = try open(SOCK_DGRAM)
        let bytes = Array(text.utf8)
        unsafe try withAddress(of: path) { address, length throws(SystemError) in
            try retryingInterrupts("sendto \(path)") {
                unsafe sendto(
                    socket.number, bytes, bytes.count, Int32(MSG_NOSIGNAL), address,
                    length)
            }
        }
    }

    private static func open(
        _ type: __socket_type = SOCK_STREAM
    ) throws(SystemError) -> OwnedDescriptor {
        let type = Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        return try OwnedDescriptor(of: "socket") { socket(AF_UNIX, type, 0) }
    }

    private static func option(_ name: Int32, of number: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(number, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    private static func withAddress(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemError) -> Void
    ) throws(SystemError) {
        var bytes = path.pathBytes
        var address = sockaddr_un()
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < room else {
            throw SystemError(call: path, code: ENAMETOOLONG)
        }
        // An abstract name begins with a zero (unix(7)), and its length is counted.
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        let isAbstract = bytes.first == 0
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let offset = MemoryLayout<sockaddr_un>.size - room
        let length = socklen_t(offset + bytes.count + (isAbstract ? 0 : 1))
        unsafe try withUnsafePointer(to: &address) { pointer throws(SystemError) in
            unsafe try pointer.withMemoryRebound(
                to: sockaddr.self, capacity: 1
            ) { base throws(SystemError) in
                unsafe try body(base, length)
            }
        }
    }
}

/// Where systemd's journal takes entries with fields of their own (systemd-journald.service(8)).
package struct JournalSocket: Sendable {
    private let path: String

    /// Fails unless the descriptor leads to the journal: `stream` is its device and inode number.
    ///
    /// `stream` is what systemd sets as `JOURNAL_STREAM` (systemd.exec(5)).
    package init?(
        leadingFrom descriptor: Int32, named stream: String?,
        at path: String = "/run/systemd/journal/socket"
    ) {
        var status = stat()
        guard let stream, unsafe fstat(descriptor, &status) == 0,
            stream == "\(status.st_dev):\(status.st_ino)"
        else { return nil }
        self.path = path
    }

    /// Hands over a line for information; false when the journal does not take it.
    ///
    /// Field names have capital letters, digits and underscores; line breaks in values become spaces.
    package func take(_ message: String, _ fields: [String: String]) -> Bool {
        let program = CommandLine.arguments.first?.split(separator: "/").last ?? "utter"
        var entry = [
            "MESSAGE": message, "PRIORITY": "6", "SYSLOG_IDENTIFIER": String(program),
        ]
        entry.merge(fields) { own, _ in own }
        let text = entry.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(TerminalText.singleLine($0.value))\n" }.joined()
        // A journal that is not there has no fields.
        return (try? LocalSocket.sendDatagram(text, to: path)) != nil
    }
}
