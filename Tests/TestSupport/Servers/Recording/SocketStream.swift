// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// A connected socket of a test server; every call is bounded and ends when the server stops.
struct SocketStream: ~Copyable {
    enum Received {
        case bytes([UInt8], MonotonicTime)
        case end
        case reset
        case stopped
        case timedOut
    }

    private var descriptor: OwnedDescriptor?
    private let stop: Int32
    private let limit: Duration
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(taking number: Int32, stop: Int32, limit: Duration) {
        descriptor = OwnedDescriptor(taking: number)
        self.number = number
        self.stop = stop
        self.limit = limit
        // Answers in step with the upload must not wait for the client's acknowledgements.
        var on: Int32 = 1
        setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
    }

    /// Whether `close` and `reset` have not been called.
    var isOpen: Bool { number >= 0 }

    /// The descriptor's number, or -1 when it is closed.
    private var number: Int32

    mutating func receive() -> Received {
        let deadline = MonotonicTime.now + limit
        while true {
            let ready = pollReadable([stop, number], until: deadline)
            if ready[0] { return .stopped }
            guard ready[1] else { return .timedOut }
            let count = recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            let code = errno
            if count > 0 { return .bytes(Array(buffer[..<count]), .now) }
            if count == 0 { return .end }
            guard code == EAGAIN || code == EINTR else { return .reset }
        }
    }

    /// Sends all bytes.
    ///
    /// - Returns: false when the client is gone, does not read, or the server stops.
    func send(_ bytes: [UInt8]) -> Bool {
        sendAll(bytes[...], to: number, stop: stop, until: .now + limit)
    }

    func closeSending() {
        shutdown(number, Int32(SHUT_WR))
    }

    mutating func close() {
        descriptor = nil
        number = -1
    }

    mutating func reset() {
        resetWhenClosed(number)
        close()
    }
}

/// Makes the close of a socket a reset (RST).
func resetWhenClosed(_ number: Int32) {
    var now = linger(l_onoff: 1, l_linger: 0)
    setsockopt(number, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
}
