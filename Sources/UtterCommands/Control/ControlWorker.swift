// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// What the control thread does: it reads what clients ask for, has it done, and tells them.
///
/// A client can harm itself alone: its lines have a length, its silence a time, and what it does
/// not read is not said twice.
struct ControlWorker: Worker {
    /// What other threads send.
    enum Message: Sendable {
        /// The answer to what a client has asked for.
        case reply(ControlReply, ControlClientID)
        /// Something changed, for those who follow.
        case change(ControlStatus)
        /// The result that a client waits for, and the lines of a report behind it.
        case result(ControlAnswer, report: String?, ControlClientID)
    }

    private let owner: ControlOwner
    private let handler: any ControlHandler
    private var connections: [ControlConnection] = []
    private var nextNumber = 1
    /// Until then no client is accepted, because the process has no descriptor left.
    private var acceptsAgain: ContinuousClock.Instant?

    /// As many clients are served at once; others wait in the system's queue.
    private static let clientLimit = 256
    /// How long no client is accepted after there was no descriptor for one.
    private static let acceptPause = Duration.milliseconds(100)
    /// How long those who wait for a result are written to at the end.
    private static let farewellTime: Int32 = 500

    init(_ owner: ControlOwner, _ handler: any ControlHandler) {
        (self.owner, self.handler) = (owner, handler)
    }

    mutating func receive(_ message: Message) {
        switch message {
        case .reply(let reply, let client): give(reply, to: client)
        case .change(let status):
            for connection in connections where connection.state == .following {
                connection.change(to: status)
            }
        case .result(let answer, let report, let client):
            guard let connection = connection(client) else { return }
            connection.become(connection.hasFinished ? .closing : .printing)
            connection.write(answer.line + (report.map { Array($0.utf8) + [0x0A] } ?? []))
        }
    }

    mutating func turn(isLast: Bool) -> WorkerPause {
        let now = ContinuousClock.now
        var next: ContinuousClock.Instant?
        for connection in connections {
            if let instant = connection.tellChange(now: now) {
                next = min(next ?? instant, instant)
            }
            if let deadline = connection.deadline {
                if deadline <= now { miss(connection) }
                if let deadline = connection.deadline { next = min(next ?? deadline, deadline) }
            }
        }
        removeEnded()
        if let again = acceptsAgain { next = min(next ?? again, again) }
        return isLast ? .untilWoken : WorkerPause(until: next)
    }

    /// Waits for clients as well.
    mutating func wait(for wakeup: Int32, _ pause: WorkerPause) -> Bool {
        if let again = acceptsAgain, again <= .now { acceptsAgain = nil }
        let accepts = connections.count < Self.clientLimit && acceptsAgain == nil
        var events = [
            pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0),
            pollfd(fd: accepts ? owner.listener : -1, events: Int16(POLLIN), revents: 0),
        ]
        events += connections.map(\.poll)
        guard unsafe Glibc.poll(&events, nfds_t(events.count), pause.milliseconds) > 0 else {
            return false
        }
        for (connection, event) in zip(connections, events[2...]) where event.revents != 0 {
            serve(connection, event.revents)
        }
        if events[1].revents != 0 { accept() }
        return events[0].revents != 0
    }

    /// Gives those who wait for a result a moment to read it.
    mutating func end() {
        var events = connections.filter { !$0.isFlushed }.map(\.poll)
        guard !events.isEmpty else { return }
        _ = unsafe Glibc.poll(&events, nfds_t(events.count), Self.farewellTime)
        for connection in connections { connection.flush() }
    }

    // MARK: - Clients

    private mutating func accept() {
        do throws(SystemError) {
            while connections.count < Self.clientLimit {
                guard let socket = try LocalSocket.accept(from: owner.listener) else { return }
                // A peer that the kernel does not know is none of ours.
                let user = try? LocalSocket.peer(of: socket.number).user
                let connection = ControlConnection(ControlClientID(number: nextNumber), socket)
                nextNumber += 1
                connections.append(connection)
                if user != geteuid() {
                    refuse(connection, .foreign(user: user ?? .max))
                }
            }
        } catch {
            acceptsAgain = .now + Self.acceptPause
        }
    }

    private func serve(_ connection: ControlConnection, _ events: Int16) {
        if events & Int16(POLLOUT) != 0 { connection.flush() }
        let isHungUp = events & Int16(POLLHUP | POLLERR) != 0
        if events & Int16(POLLIN) != 0 || isHungUp { connection.receive(isHungUp: isHungUp) }
        while let line = connection.nextLine() {
            guard connection.state != .closing else { return }
            do throws(ControlMistake) {
                take(try ControlRequest(line: line.get()), of: connection)
            } catch {
                refuse(connection, error)
                return
            }
        }
    }

    private func take(_ request: ControlRequest, of connection: ControlConnection) {
        var request = request
        switch connection.state {
        // One that has gone does not hear what has come of it.
        case .asking where connection.isLost && request.command.hasEffect: return
        case .asking where request.confirm == true: return connection.askToConfirm(request)
        case .asking: break
        case .confirming where request.command == .confirmed:
            guard let confirmed = connection.confirmed(at: .now) else { return connection.giveUp() }
            request = confirmed
        case .printing where request.command == .taken:
            settle(connection, hasPrinted: true)
            return connection.become(.closing)
        // One request a client; what else it says costs nothing.
        default: return
        }
        connection.become(.asked)
        handler.receive(request, from: connection.id)
    }

    private func connection(_ client: ControlClientID) -> ControlConnection? {
        connections.first { $0.id == client }
    }

    private func give(_ reply: ControlReply, to client: ControlClientID) {
        guard let connection = connection(client) else {
            // It has gone before it was answered.
            if case .wait = reply { handler.didEnd(client, hasPrinted: false) }
            return
        }
        switch reply {
        case .answer(let answer):
            connection.become(.closing)
            connection.tell(answer)
        case .wait(let answer):
            connection.become(.waiting)
            connection.tell(answer)
        case .follow(let status):
            connection.become(.following)
            connection.change(to: status)
        case .leave:
            connection.become(.closing)
        }
    }

    private func refuse(_ connection: ControlConnection, _ mistake: ControlMistake) {
        settle(connection, hasPrinted: false)
        connection.become(.closing)
        connection.tell(.refused(CommandFailure(mistake.description, status: .usage)))
    }

    /// The time for what a client should have done is over.
    private func miss(_ connection: ControlConnection) {
        guard connection.state == .waiting, connection.isFlushed else { return connection.giveUp() }
        connection.tell(ControlAnswer(.waiting))
        connection.become(.waiting)
    }

    private mutating func removeEnded() {
        let ended = connections.filter(\.isOver)
        guard !ended.isEmpty else { return }
        connections.removeAll(where: \.isOver)
        // One that has closed its side cannot say that it has printed what it has read.
        for connection in ended { settle(connection, hasPrinted: !connection.isLost) }
    }

    private func settle(_ connection: ControlConnection, hasPrinted: Bool) {
        guard connection.settleResult() else { return }
        handler.didEnd(connection.id, hasPrinted: hasPrinted)
    }
}
