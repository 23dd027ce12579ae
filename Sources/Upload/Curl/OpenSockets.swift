// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Glibc

/// The sockets that libcurl has opened for one loop; some are closed since.
///
/// libcurl tells of a connection that it is about to use by its local port alone. Touched by the
/// transfer thread alone.
final class OpenSockets {
    private var descriptors: Set<Int32> = []
    /// Those on which HTTP/2 is spoken, as far as is known.
    private var multiplexed: Set<Int32> = []

    func add(_ socket: Int32) {
        descriptors.insert(socket)
        multiplexed.remove(socket)
    }

    func socket(ofLocalPort port: Int32) -> Int32? {
        descriptors.first { utter_local_port($0) == port }
    }

    func noteMultiplexed(_ socket: Int32) { multiplexed.insert(socket) }

    /// Whether something waits to be read on a connection over which nothing was asked.
    ///
    /// libcurl would take it for the answer to what is asked next. On HTTP/2 it cannot be: each
    /// answer there names its request (RFC 9113 §5.1.1).
    func hasUnaskedBytes(_ socket: Int32) -> Bool {
        guard !multiplexed.contains(socket) else { return false }
        return Self.peek(socket) != nil
    }

    /// How many bytes a look at the connection sees, up to 1: 0 is its end, nil is nothing yet.
    static func peek(_ socket: Int32) -> Int? {
        var byte: UInt8 = 0
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count >= 0 ? count : nil
    }
}
