// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Testing

/// `nghttpd`, a server that speaks HTTP/2 over TLS and nothing else.
package final class HTTP2Server: Sendable {
    /// The port on 127.0.0.1.
    package let port: UInt16
    /// The certificate to trust.
    package let certificateFile: String
    private let folder: TemporaryFolder
    private let run: CommandRun
    /// Keeps the port from other programs.
    private let reservation: OwnedDescriptor

    /// Starts to answer requests for `/answer` with a text, each when its body has ended.
    package init(answer: String) async throws {
        folder = try TemporaryFolder()
        try folder.write(Array(answer.utf8), to: "answer")
        let certificate = try await TestCertificate(in: folder)
        certificateFile = certificate.path
        let number: Int32
        (number, port) = try Self.reservePort()
        reservation = OwnedDescriptor(taking: number)
        run = try CommandRun(
            "nghttpd",
            [
                "-v", "-a", "127.0.0.1", "-d", folder.path, "\(port)", certificate.keyPath,
                certificate.path,
            ])
        try #require(await run.wait(for: "listen 127.0.0.1:", in: .output))
    }

    /// Where the answer is.
    package var url: String { "https://127.0.0.1:\(port)/answer" }

    /// What it says of frames.
    package var log: String { String(decoding: run.output, as: UTF8.self) }

    /// How many TLS handshakes it has seen.
    package var handshakeCount: Int {
        run.error.ranges(of: Array("SSL/TLS handshake completed".utf8)).count
    }

    /// Waits until it has said this.
    package func wait(for text: String) async -> Bool { await run.wait(for: text, in: .output) }

    /// Ends it, and with it all connections.
    package func stop() { run.signal(SIGKILL) }

    /// A port that only a server can have that shares addresses, as this one does: it is bound, and
    /// nothing listens.
    private static func reservePort() throws(SystemError) -> (Int32, UInt16) {
        let number = try retryingInterrupts("socket") {
            socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        }
        var on: Int32 = 1
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(number, address, length) == 0 ? getsockname(number, address, &length) : -1
            }
        }
        guard code == 0 else {
            let error = SystemError.last("bind")
            close(number)
            throw error
        }
        return (number, UInt16(bigEndian: address.sin_port))
    }
}
