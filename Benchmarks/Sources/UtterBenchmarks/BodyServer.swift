// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A server of raw sockets on the loopback: takes one POST at a time and notes when what came.
final class BodyServer {
    /// What the URL of a request is.
    let url: String
    private let socket: Int32
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)

    /// Listens on a port of its own.
    init() throws(BenchmarkError) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | 0o2000000, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, size) == 0 && listen(socket, 8) == 0
                    && getsockname(socket, pointer, &size) == 0
            }
        }
        guard isBound else { throw BenchmarkError("cannot listen on the loopback") }
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/recognize"
    }

    deinit { close(socket) }

    /// Takes one request and answers it.
    ///
    /// - Parameters:
    ///   - answer: the answer's body, and `type` what it is.
    ///   - type: its media type.
    ///   - onTick: called about every 100 ms while nothing comes, and between reads.
    ///   - onBody: called with each piece of the body, without framing, and when it was read.
    /// - Throws: `BenchmarkError` when no client connects within 10 s, or the body breaks off.
    func receive(
        answer: String = "ok\n", type: String = "text/plain",
        onTick: () -> Void = {}, onBody: (ArraySlice<UInt8>, Int64) -> Void
    ) throws(BenchmarkError) {
        guard isReadable(socket, milliseconds: 10_000) else {
            throw BenchmarkError("no client connects")
        }
        let connection = accept(socket, nil, nil)
        guard connection >= 0 else { throw BenchmarkError("cannot accept") }
        defer { close(connection) }
        var framing = BodyFraming()
        var lastTick = monotonicTime()
        while !framing.isComplete {
            let isReadable = isReadable(connection, milliseconds: 100)
            if !isReadable || monotonicTime() - lastTick > 100_000_000 {
                lastTick = monotonicTime()
                onTick()
            }
            guard isReadable else { continue }
            let count = read(connection, &buffer, buffer.count)
            let now = monotonicTime()
            guard count > 0 else { throw BenchmarkError("the body broke off") }
            try framing.take(buffer[..<count]) { onBody($0, now) }
        }
        let bytes = Array(
            ("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n"
                + "Content-Length: \(answer.utf8.count)\r\nConnection: close\r\n\r\n\(answer)").utf8
        )
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                write(connection, $0.baseAddress, $0.count)
            }
            guard count > 0 else { throw BenchmarkError("the client takes no answer") }
            written += count
        }
    }

    private func isReadable(_ descriptor: Int32, milliseconds: Int32) -> Bool {
        var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, milliseconds) > 0
    }
}
