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
        var use = 0
        /// Whether that waits for its time, or runs.
        var isPending = false
        var transfer: TransferID?
        var hasBegun = false
        /// How long the service says that it leaves a connection open.
        var limit: Duration?
        var takes = 0
        var isOver = false
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

    package func begin() { use(after: .zero) }

    package func takeBegins() {
        let waiting = state.withLock { state -> TransferID? in
            state.takes += 1
            guard state.isPending, !state.hasBegun else { return nil }
            (state.use, state.isPending) = (state.use + 1, false)
            defer { state.transfer = nil }
            return state.transfer
        }
        if let waiting { transport.cancel(waiting) }
    }

    package func takeEnded() {
        let wait = state.withLock { state -> Duration? in
            state.takes = max(0, state.takes - 1)
            return state.takes == 0 && !state.isPending ? state.schedule.wait : nil
        }
        if let wait { use(after: wait) }
    }

    package func end() {
        let transfer = state.withLock { state in
            state.isOver = true
            return state.transfer
        }
        if let transfer { transport.cancel(transfer) }
    }

    private func use(after pause: Duration) {
        let number = state.withLock { state -> Int? in
            guard !state.isOver, state.takes == 0, !state.isPending else { return nil }
            (state.use, state.isPending) = (state.use + 1, true)
            (state.hasBegun, state.limit) = (false, nil)
            return state.use
        }
        guard let number else { return }
        let transfer = transport.start(
            request, after: pause, atLeast: .zero, observer: Use(number, of: self))
        let isMeant = state.withLock { state in
            let isMeant = state.use == number && !state.isOver
            if isMeant, state.isPending { state.transfer = transfer }
            return isMeant
        }
        if !isMeant { transport.cancel(transfer) }
    }

    private final class Use: TransferObserver {
        private let number: Int
        private let warmer: ConnectionWarmer

        init(_ number: Int, of warmer: ConnectionWarmer) {
            (self.number, self.warmer) = (number, warmer)
        }

        func transferDidConnect() { warmer.state.withLock { $0.hasBegun = true } }

        func transferDidSend(byteCount: Int, wireByteCount: Int) {}

        func transferDidReceiveHead(status: Int, headers: [(name: String, value: String)]) {
            let field = headers.first { $0.name == "keep-alive" }?.value
            warmer.state.withLock { $0.limit = field.flatMap(WarmthSchedule.limit) }
        }

        func transferDidReceive(_ bytes: Span<UInt8>) {}

        func transferDidEnd(_ result: TransferResult) { warmer.didEnd(number, result) }
    }

    private func didEnd(_ number: Int, _ result: TransferResult) {
        let pause = state.withLock { state -> Duration? in
            guard number == state.use else { return nil }
            (state.isPending, state.hasBegun, state.transfer) = (false, false, nil)
            if case .cancelled = result.ending { return nil }
            let finding: WarmthSchedule.Finding =
                result.status == nil ? .failed : result.hasReusedConnection ? .kept : .lost
            state.schedule.note(finding, limit: state.limit)
            return state.schedule.wait
        }
        if let pause { use(after: pause) }
    }
}

extension Pipeline {
    /// Keeps a connection to the service of a plan ready, for takes whose plan says so.
    package func warmer(for plan: DeliveryPlan) -> ConnectionWarmer {
        ConnectionWarmer(to: plan, over: wiring.transfer)
    }
}

extension DeliveryPlan {
    func connection(to url: ServiceURL) -> ConnectionSettings {
        var connection = service.connection
        // No proxy of the environment can reach this machine's own services.
        if connection.proxy == nil, url.isLoopback { connection.proxy = Proxy.none }
        return connection
    }
}
