// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform

/// A TCP proxy on loopback that harms the connections that lead through it, byte by byte as the
/// test says.
///
/// One thread accepts, and each connection has a thread of its own. It knows nothing of HTTP.
package final class FaultProxy: Sendable {
    private let core: FaultProxyCore
    private let acceptor: JoinableThread
    package let port: UInt16

    /// Begins to forward to a port on 127.0.0.1, with a plan for the first, second, … connection, and
    /// one of the acceptor's thread for each further one.
    package init(
        to service: UInt16, plans: [LinkPlan] = [],
        otherwise: @escaping @Sendable () -> LinkPlan = { .clean }
    ) throws(SystemError) {
        let listener = try ListeningSocket.open(holdsConnects: false, receiveBufferBytes: nil)
        port = listener.port
        let core = FaultProxyCore(
            service: service, plans: plans, otherwise: otherwise, stop: try Wakeup(),
            change: try Wakeup())
        self.core = core
        acceptor = try JoinableThread(name: "test-proxy") { core.accept(from: listener) }
    }

    deinit { stop() }

    package func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    package var connectionCount: Int { core.state.look { $0.accepted } }

    /// How many bytes of the request, and of the answer, have passed through connection `number`.
    package func passed(_ number: Int = 0) -> (request: Int, answer: Int) {
        core.state.look { $0.passed[number].map { ($0[0], $0[1]) } ?? (0, 0) }
    }

    /// How many connections fell silent at the request that their plan names.
    package var holdCount: Int { core.state.look { $0.holds } }

    /// Cuts the link: connections are reset and new ones refused until `mend`, from when this returns.
    package func cut() async { await core.setCut(true) }

    /// Lets connections succeed again, from when this returns.
    package func mend() async { await core.setCut(false) }

    /// Closes all connections and joins all threads; a second call does nothing.
    package func stop() {
        core.stop.signal()
        acceptor.join()
    }
}
