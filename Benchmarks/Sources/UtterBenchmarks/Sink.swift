// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A server that takes any number of bodies at once, throws them away and answers each; a process of
/// its own, so that its processor time is not counted with what is measured.
final class Sink {
    /// What the URL of a request is.
    let url: String
    private let id: pid_t

    /// Starts the server.
    ///
    /// - Throws: `BenchmarkError` when it cannot listen.
    init() throws(BenchmarkError) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | 0o2000000, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, length) == 0 && listen(socket, 1_000) == 0
                    && getsockname(socket, address, &length) == 0
            }
        }
        guard isListening else { throw BenchmarkError("cannot listen") }
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/"
        // This program again, which serves on its standard input.
        id = try Child.serving(on: socket)
        close(socket)
    }

    deinit {
        kill(id, SIGKILL)
        waitpid(id, nil, 0)
    }

    /// Serves on standard input until it is killed.
    static func serve() {
        var descriptors = [pollfd(fd: 0, events: Int16(POLLIN), revents: 0)]
        var ends: [[UInt8]] = [[]]
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        let answer =
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n"
            + "Connection: close\r\n\r\nok\n"
        while poll(&descriptors, nfds_t(descriptors.count), -1) >= 0 {
            for index in descriptors.indices.reversed() where descriptors[index].revents != 0 {
                if index == 0 {
                    let connection = accept(0, nil, nil)
                    guard connection >= 0 else { continue }
                    descriptors.append(pollfd(fd: connection, events: Int16(POLLIN), revents: 0))
                    ends.append([])
                    continue
                }
                let count = read(descriptors[index].fd, &buffer, buffer.count)
                // Chunked bodies only: their last bytes say so.
                ends[index] = Array((ends[index] + buffer[..<max(0, count)]).suffix(7))
                let isComplete = ends[index] == Array("\r\n0\r\n\r\n".utf8)
                guard count <= 0 || isComplete else { continue }
                if isComplete { _ = write(descriptors[index].fd, answer, answer.utf8.count) }
                close(descriptors[index].fd)
                descriptors.remove(at: index)
                ends.remove(at: index)
            }
        }
    }
}
