// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Glibc

/// The sockets that libcurl has opened for one loop; some are closed since.
///
/// libcurl tells of a connection that it is about to use by its local port alone. Touched by the
/// transfer thread alone.
final class OpenSockets {
    private var descriptors: Set<Int32> = []
    /// HTTP/2 connections, as far as known.
    private var multiplexed: Set<Int32> = []

    func add(_ socket: Int32) {
        descriptors.insert(socket)
        multiplexed.remove(socket)
    }

    func socket(ofLocalPort port: Int32) -> Int32? {
        descriptors.first { utter_local_port($0) == port }
    }

    func noteMultiplexed(_ socket: Int32) { multiplexed.insert(socket) }

    /// Whether bytes wait on a connection over which nothing was asked.
    ///
    /// libcurl would take them for the next answer. On HTTP/2 that cannot happen: each answer names
    /// its request (RFC 9113 §5.1.1).
    func hasUnaskedBytes(_ socket: Int32) -> Bool {
        guard !multiplexed.contains(socket) else { return false }
        return Self.peek(socket) != nil
    }

    /// 0 at the end of the connection, 1 when bytes are there, nil when none are.
    static func peek(_ socket: Int32) -> Int? {
        var byte: UInt8 = 0
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count >= 0 ? count : nil
    }
}
