// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// What the threads of a `RecordingServer` share; it outlives the server's last reference until
/// they have ended.
final class RecordingServerCore: Sendable {
    struct State: Sendable {
        var requests: [RecordedRequest] = []
        var connectionCount = 0
        var problems: [String] = []
        var scripts: ArraySlice<[ServerStep]>
    }

    let state: Observed<State>
    let otherwise: [ServerStep]

    /// Signalled once and never drained, so that every wait sees it.
    let stop: Wakeup

    /// Open when connections may succeed.
    let release = Gate()

    let limit: Duration

    init(scripts: [[ServerStep]], otherwise: [ServerStep], stop: Wakeup, limit: Duration) {
        state = Observed(State(scripts: scripts[...]))
        self.otherwise = otherwise
        self.stop = stop
        self.limit = limit
    }

    /// Accepts until the server is stopped, then joins the connections; on the acceptor's thread.
    func accept(from listener: ListeningSocket) {
        var connections: [JoinableThread] = []
        defer { for connection in connections { connection.join() } }
        guard release.waitBlocking(within: .seconds(600), interruptedBy: stop.descriptor) else {
            return
        }
        listener.releaseConnects()
        while true {
            let deadline = MonotonicTime.now + .seconds(600)
            let ready = pollReadable([stop.descriptor, listener.number], until: deadline)
            if ready[0] { return }
            guard ready[1], let socket = listener.accept() else { continue }
            let number = state.update { state in
                state.connectionCount += 1
                return state.connectionCount - 1
            }
            let acceptedAt = MonotonicTime.now
            do throws(SystemError) {
                connections.append(
                    try JoinableThread(name: "test-serve-\(number)") {
                        RecordingServerConnection(
                            core: self, socket: socket, number: number, acceptedAt: acceptedAt
                        ).run()
                    })
            } catch {
                close(socket)
                report("connection \(number) has no thread: \(error.description)")
            }
        }
    }

    /// Whether the next list of steps begins before the client has said anything.
    var nextScriptActsAtOnce: Bool {
        state.look { state in
            switch (state.scripts.first ?? otherwise).first {
            case .readHead, .readBody, .readBodyToEnd, .readOn, nil: false
            default: true
            }
        }
    }

    /// Opens the record of a request and takes the steps that are its own.
    func beginRequest(
        connection: Int, acceptedAt: MonotonicTime
    ) -> (index: Int, steps: [ServerStep]) {
        state.update { state in
            state.requests.append(RecordedRequest(connection: connection, acceptedAt: acceptedAt))
            return (state.requests.count - 1, state.scripts.popFirst() ?? otherwise)
        }
    }

    func report(_ problem: String) {
        state.update { $0.problems.append(problem) }
    }
}
