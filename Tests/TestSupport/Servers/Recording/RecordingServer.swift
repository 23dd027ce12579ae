// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// An HTTP/1.1 server on a raw loopback socket that records every byte's arrival and does with each
/// request what the test's list of `ServerStep`s says.
///
/// It is deliberately no good server: it answers at the wrong moment, stops reading, resets. One
/// thread accepts, and each connection has a thread of its own. All waits are bounded. The server
/// stops when `stop()` is called or its last reference goes.
package final class RecordingServer: Sendable {
    /// How the server treats new connections.
    package enum Connecting: Sendable {
        case atOnce

        /// Their first packet goes unanswered until `releaseConnects()`; the kernel of the client
        /// asks again after 1 s, so that a connect takes 1 s more than the hold, rounded down.
        case whenReleased
    }

    private let core: RecordingServerCore
    private let acceptor: JoinableThread
    package let port: UInt16

    /// Opens the socket and starts to serve.
    ///
    /// - Parameters:
    ///   - scripts: what happens to the first, second, … request; requests are counted when their
    ///     first byte comes, over all connections. A list that does not begin by reading acts as
    ///     soon as a connection has been accepted.
    ///   - otherwise: what happens to all further requests.
    ///   - connecting: whether connections succeed at once.
    ///   - receiveBufferBytes: the socket's receive buffer, small to let a stall be felt soon.
    ///   - limit: the longest that a step waits for the client.
    /// - Throws: `SystemError` when no socket or thread is to be had.
    package init(
        scripts: [[ServerStep]] = [],
        otherwise: [ServerStep] = .answer(text: ""),
        connecting: Connecting = .atOnce,
        receiveBufferBytes: Int32? = nil,
        limit: Duration = .patience
    ) throws(SystemError) {
        let listener = try ListeningSocket.open(
            holdsConnects: connecting == .whenReleased, receiveBufferBytes: receiveBufferBytes)
        port = listener.port
        let core = RecordingServerCore(
            scripts: scripts, otherwise: otherwise, stop: try Wakeup(), limit: limit)
        self.core = core
        acceptor = try JoinableThread(name: "test-accept") { core.accept(from: listener) }
        if connecting == .atOnce { core.release.open() }
    }

    deinit {
        stop()
    }

    package func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Lets connections succeed from now on, after `Connecting.whenReleased`.
    package func releaseConnects() {
        core.release.open()
    }

    /// All requests so far, in the order of their first bytes.
    package var requests: [RecordedRequest] { core.state.look { $0.requests } }

    package var connectionCount: Int { core.state.look { $0.connectionCount } }

    /// What went wrong in the server itself, such as a step that waited in vain.
    package var problems: [String] { core.state.look { $0.problems } }

    /// Waits until request `number`, from 0, has ended and its steps are done; nil for none in time.
    package func finishedRequest(
        _ number: Int = 0, within limit: Duration = .patience
    ) async -> RecordedRequest? {
        await request(number, within: limit) { $0.isFinished }
    }

    /// Waits until the head of request `number`, from 0, is there; nil for none in time.
    package func waitForRequest(
        _ number: Int = 0, within limit: Duration = .patience
    ) async -> RecordedRequest? {
        await request(number, within: limit) { $0.headEndedAt != nil }
    }

    /// Waits until so many bytes of the body of request `number` have come; nil for none in time.
    package func wait(
        untilBytes byteCount: Int, ofRequest number: Int = 0, within limit: Duration = .patience
    ) async -> RecordedRequest? {
        await request(number, within: limit) { $0.body.count >= byteCount }
    }

    /// Waits until request `number`, from 0, is as `condition` wants it; nil for none in time.
    package func request(
        _ number: Int, within limit: Duration = .patience,
        where condition: @escaping @Sendable (RecordedRequest) -> Bool
    ) async -> RecordedRequest? {
        await core.state.wait(within: limit) { state in
            guard number < state.requests.count, condition(state.requests[number]) else {
                return nil
            }
            return state.requests[number]
        }
    }

    /// Closes all connections and joins all threads; a second call does nothing.
    package func stop() {
        core.stop.signal()
        acceptor.join()
    }
}
