// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

final class FaultProxyCore: Sendable {
    struct State: Sendable {
        var plans: ArraySlice<LinkPlan>
        var accepted = 0
        /// The bytes that have passed each connection, to the service and to the client.
        var passed: [Int: [Int]] = [:]
        /// How many connections fell silent at a request that a plan names.
        var holds = 0
        var isCut = false
        /// Whether the acceptor has done what `isCut` says.
        var isCutDone = false
        /// How often the link was cut: a connection of an earlier time is reset.
        var cuts = 0
    }

    let service: UInt16
    let state: Observed<State>
    let otherwise: @Sendable () -> LinkPlan
    /// Signalled once and never drained, so that every wait sees it.
    let stop: Wakeup
    /// Tells the acceptor that the link was cut or mended.
    private let change: Wakeup

    init(
        service: UInt16, plans: [LinkPlan], otherwise: @escaping @Sendable () -> LinkPlan,
        stop: Wakeup, change: Wakeup
    ) {
        self.service = service
        self.otherwise = otherwise
        self.stop = stop
        self.change = change
        state = Observed(State(plans: plans[...]))
    }

    /// Cuts or mends the link, and waits until the acceptor has done it.
    func setCut(_ isCut: Bool) async {
        state.update { state in
            state.isCut = isCut
            if isCut { state.cuts += 1 }
        }
        change.signal()
        _ = await state.wait(within: .patience) { $0.isCutDone == isCut ? true : nil }
    }

    /// Accepts until the proxy is stopped, then joins the connections; on the acceptor's thread.
    func accept(from listener: ListeningSocket) {
        var connections: [JoinableThread] = []
        defer { for connection in connections { connection.join() } }
        var isCut = false
        while true {
            let ready = pollReadable(
                [stop.descriptor, change.descriptor, isCut ? -1 : listener.number],
                until: .now + .seconds(600))
            if ready[0] { return }
            if ready[1] {
                change.drain()
                isCut = state.look { $0.isCut }
                // A socket that does not listen refuses; it keeps its port.
                if isCut { listener.refuseConnects() } else { listener.releaseConnects() }
                state.update { [isCut] in $0.isCutDone = isCut }
                continue
            }
            guard ready[2], let client = listener.accept() else { continue }
            let (number, plan, cuts) = state.update { state in
                state.accepted += 1
                return (state.accepted - 1, state.plans.popFirst() ?? otherwise(), state.cuts)
            }
            do throws(SystemError) {
                connections.append(
                    try JoinableThread(name: "test-link-\(number)") { [self] in
                        FaultProxyConnection(
                            core: self, client: client, number: number, plan: plan, cuts: cuts
                        ).run()
                    })
            } catch {
                close(client)
            }
        }
    }
}
