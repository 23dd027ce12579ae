// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport

@testable import LinuxPlatform

/// An HTTP client that sends exactly the bytes that a test wants, and waits no longer than tests do.
///
/// Its calls block; use it inside of `onThread`.
final class RawClient: Sendable {
    enum Failure: Error, Equatable {
        case connectionRefused
        case timeout
        case reset
        case ended
    }

    private let socket: OwnedDescriptor
    private let received = Mutex<[UInt8]>([])

    init(port: Int) throws {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let number = Glibc.socket(AF_INET, type, 0)
        guard number >= 0 else { throw SystemError.last("socket") }
        socket = OwnedDescriptor(taking: number)
        var time = timeval(tv_sec: Int(Duration.patience.components.seconds), tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &time, size)
        setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &time, size)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Failure.connectionRefused }
    }

    // MARK: - Sending

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw errno == EAGAIN ? Failure.timeout : Failure.reset }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends a request's head whose body comes in chunks, unless `framing` says otherwise.
    func sendHead(
        _ target: String = "/recognize", _ fields: [String] = [], method: String = "POST",
        framing: String = "Transfer-Encoding: chunked"
    ) throws {
        let lines = ["\(method) \(target) HTTP/1.1", "Host: test", framing] + fields
        try send(Array((lines + ["", ""]).joined(separator: "\r\n").utf8))
    }

    func sendChunk(_ bytes: some Sequence<UInt8>) throws {
        let bytes = Array(bytes)
        try send(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8))
    }

    /// Sends the end of a body that came in chunks.
    func sendEnd() throws { try send(Array("0\r\n\r\n".utf8)) }

    /// Sends the last chunk that holds bytes, and the end.
    func sendEnd(_ bytes: some Sequence<UInt8>) throws {
        try sendChunk(bytes)
        try sendEnd()
    }

    /// Sends a whole request whose body comes in chunks of a size, and reads the answer.
    func post(
        _ body: [UInt8], _ fields: [String] = [], to target: String = "/recognize",
        by limit: Int = 3_001
    ) throws -> (head: Head, body: String) {
        try sendHead(target, fields)
        for start in stride(from: 0, to: body.count, by: limit) {
            try sendChunk(body[start...].prefix(limit))
        }
        try sendEnd()
        return try readAnswer()
    }

    func get(_ target: String) throws -> (head: Head, body: String) {
        try send(Array("GET \(target) HTTP/1.1\r\nHost: test\r\n\r\n".utf8))
        return try readAnswer()
    }

    /// Says that nothing more will be sent (FIN).
    func endSending() {
        shutdown(socket.number, Int32(SHUT_WR))
    }

    // MARK: - Receiving

    /// The head of an answer.
    struct Head {
        var status: Int
        var fields: [String: String]
    }

    func readHead() throws -> Head {
        let first = try readLine().split(separator: " ")
        guard first.count > 1, let status = Int(first[1]) else { throw Failure.ended }
        var head = Head(status: status, fields: [:])
        while true {
            let line = try readLine()
            guard !line.isEmpty else { return head }
            let parts = line.split(separator: ":", maxSplits: 1)
            head.fields[parts[0].lowercased()] = parts[1].drop { $0 == " " }.description
        }
    }

    /// Reads the next chunk of an answer's body; empty at its end.
    func readChunk() throws -> String {
        guard let count = Int(try readLine(), radix: 16) else { throw Failure.ended }
        let bytes = try read(count)
        _ = try readLine()
        return String(decoding: bytes, as: UTF8.self)
    }

    func readBody(_ head: Head) throws -> String {
        if let length = head.fields["content-length"].flatMap({ Int($0) }) {
            return String(decoding: try read(length), as: UTF8.self)
        }
        var body = ""
        while true {
            let chunk = try readChunk()
            guard !chunk.isEmpty else { return body }
            body += chunk
        }
    }

    func readAnswer() throws -> (head: Head, body: String) {
        var head = try readHead()
        // By this a slow endpoint finds out whether a client is there that sends no more.
        while head.status == 100 { head = try readHead() }
        return (head, try readBody(head))
    }

    /// Reads until the server ends the connection.
    func readTextToEnd() throws -> String { String(decoding: try readToEnd(), as: UTF8.self) }

    func readToEnd() throws -> [UInt8] {
        while true {
            do {
                try receive()
            } catch Failure.ended {
                return received.withLock { received in
                    defer { received = [] }
                    return received
                }
            }
        }
    }

    private func readLine() throws -> String {
        while true {
            let line = received.withLock { received -> [UInt8]? in
                guard let end = received.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                defer { received.removeSubrange(...end) }
                return received[..<end].filter { $0 != UInt8(ascii: "\r") }
            }
            if let line { return String(decoding: line, as: UTF8.self) }
            try receive()
        }
    }

    private func read(_ count: Int) throws -> [UInt8] {
        while received.withLock(\.count) < count { try receive() }
        return received.withLock { received in
            defer { received.removeFirst(count) }
            return Array(received.prefix(count))
        }
    }

    private func receive() throws {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket.number, &buffer, buffer.count, 0)
        guard count >= 0 else {
            throw errno == EAGAIN ? Failure.timeout : Failure.reset
        }
        guard count > 0 else { throw Failure.ended }
        received.withLock { $0 += buffer[..<count] }
    }
}
