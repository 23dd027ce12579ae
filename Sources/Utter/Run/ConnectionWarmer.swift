// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import Synchronization
internal import Upload

/// Keeps a connection to a service open between takes: names are looked up, and TLS is agreed on,
/// before the key is pressed.
///
/// It asks for the head of the server's root (`HEAD /`), without secrets, now and then. What the
/// server answers does not matter. From any thread; never blocks.
package final class ConnectionWarmer: Sendable {
    private struct State {
        var schedule = WarmthSchedule()
        /// The use that waits for its time, or runs.
        var next: TransferID?
        var hasBegun = false
        /// Takes that use the connection now.
        var takes = 0
        var isOver = false
        var limit: Duration?
    }

    private let transport: any Transport
    private let request: TransferRequest
    private let state = Mutex(State())

    init(to plan: DeliveryPlan, over transport: any Transport) {
        self.transport = transport
        var request = TransferRequest(
            url: plan.service.url.origin.description + "/",
            headers: [(name: "User-Agent", value: "utter/\(UtterVersion.text)")],
            body: RequestBody([]), deadlines: plan.deadlines)
        request.method = "HEAD"
        request.connection = plan.connection(to: plan.service.url)
        request.leavesConnection = true
        // As long as it is open.
        request.longestIdleTime = .seconds(3_600)
        self.request = request
    }

    /// How long the connection may have been idle that a take uses.
    package var longestIdleTime: Duration { state.withLock { $0.schedule.longestIdleTime } }

    /// Opens the connection, and keeps it.
    package func begin() { use(after: .zero) }

    /// A take uses the connection.
    package func takeBegins() {
        let waiting = state.withLock { state -> TransferID? in
            state.takes += 1
            defer { if !state.hasBegun { state.next = nil } }
            return state.hasBegun ? nil : state.next
        }
        if let waiting { transport.cancel(waiting) }
    }

    /// A take has left the connection, or closed it.
    package func takeEnded() {
        let isLast = state.withLock { state in
            state.takes -= 1
            return state.takes == 0 && state.next == nil
        }
        if isLast { use(after: longestIdleTime - .seconds(1)) }
    }

    /// Lets go of the connection.
    package func end() {
        let next = state.withLock { state in
            state.isOver = true
            return state.next
        }
        if let next { transport.cancel(next) }
    }

    private func use(after pause: Duration) {
        guard state.withLock({ !$0.isOver && $0.takes == 0 }) else { return }
        let observer = Use(of: self)
        let id = transport.start(request, after: pause, atLeast: .zero, observer: observer)
        state.withLock { ($0.next, $0.hasBegun, $0.limit) = (id, false, nil) }
    }

    /// One use of the connection.
    private final class Use: TransferObserver {
        private let warmer: ConnectionWarmer

        init(of warmer: ConnectionWarmer) { self.warmer = warmer }

        func transferDidConnect() { warmer.state.withLock { $0.hasBegun = true } }

        func transferDidSend(byteCount: Int, wireByteCount: Int) {}

        func transferDidReceiveHead(status: Int, headers: [(name: String, value: String)]) {
            let field = headers.first { $0.name == "keep-alive" }?.value
            warmer.state.withLock { $0.limit = field.flatMap(WarmthSchedule.limit) }
        }

        func transferDidReceive(_ bytes: Span<UInt8>) {}

        func transferDidEnd(_ result: TransferResult) { warmer.didEnd(result) }
    }

    private func didEnd(_ result: TransferResult) {
        if case .cancelled = result.ending { return }
        let pause = state.withLock { state in
            let finding: WarmthSchedule.Finding =
                result.status == nil ? .failed : result.hasReusedConnection ? .kept : .lost
            state.schedule.note(finding, limit: state.limit)
            (state.next, state.hasBegun) = (nil, false)
            return state.schedule.wait
        }
        use(after: pause)
    }
}

extension Pipeline {
    /// Keeps a connection to the service of a plan ready, for takes whose plan says so.
    package func warmer(for plan: DeliveryPlan) -> ConnectionWarmer {
        ConnectionWarmer(to: plan, over: wiring.transfer)
    }
}

extension DeliveryPlan {
    /// How connections to a URL are made.
    func connection(to url: ServiceURL) -> ConnectionSettings {
        var connection = service.connection
        // No proxy of the environment can reach this machine's own services.
        if connection.proxy == nil, url.isLoopback { connection.proxy = Proxy.none }
        return connection
    }
}
