// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform

/// The control thread's work: it reads what clients ask for, has it done, and tells them.
///
/// A client can harm itself alone: its lines have a length, its silence a time, and what it does
/// not read is not said twice.
package struct ControlWorker: Worker {
    package enum Message: Sendable {
        case reply(ControlReply, ControlClientID)
        /// Something changed, for those who follow.
        case change(ControlStatus)
        /// The socket is another's now: those who follow are to ask there.
        case giveUp
        /// The result that a client waits for, and the lines of a report behind it.
        case result(ControlAnswer, report: String?, ControlClientID)
    }

    package static let isPolling = true

    private let owner: SocketOwner
    private let handler: any ControlHandler
    private var connections: [ControlConnection] = []
    private var nextNumber = 1
    /// Its descriptor is given back for a client when the process has no other left.
    private var reserve: Wakeup?
    /// Whether the person knows that there was none.
    private var isShort = false
    /// Until then no client is accepted, because there is no room or no descriptor for one.
    private var acceptsAgain: ContinuousClock.Instant?

    /// As many clients are served at once; for more, those that ask for nothing give way.
    private static let clientLimit = 256
    /// How long no client is accepted after there was no place for one.
    private static let acceptPause = Duration.milliseconds(100)
    /// How long those who wait for a result are written to at the end.
    private static let farewellTime: Int32 = 500

    /// For a loop called `control`; `handler` is kept until that ends.
    package init(_ owner: SocketOwner, _ handler: any ControlHandler) {
        (self.owner, self.handler) = (owner, handler)
    }

    package mutating func receive(_ message: Message) {
        switch message {
        case .reply(let reply, let client): give(reply, to: client)
        case .change(let status):
            for connection in connections where connection.state == .following {
                connection.change(to: status)
            }
        case .giveUp:
            for connection in connections where connection.state == .following {
                connection.become(.closing)
            }
        case .result(let answer, let report, let client):
            guard let connection = connection(client) else { return }
            connection.become(connection.hasFinished ? .closing : .printing)
            connection.write(answer.line + (report.map { Array($0.utf8) + [0x0A] } ?? []))
        }
    }

    package mutating func turn(isLast: Bool) -> WorkerPause {
        // There may be none yet.
        if reserve == nil { reserve = try? Wakeup() }
        let now = ContinuousClock.now
        var next = [acceptsAgain]
        for connection in connections {
            next.append(connection.tellChange(now: now))
            if let deadline = connection.deadline, deadline <= now { connection.miss() }
            next.append(connection.deadline)
        }
        removeEnded()
        return isLast ? .untilWoken : WorkerPause(until: next.compactMap(\.self).min())
    }

    package mutating func wait(for wakeup: Wakeup, _ pause: WorkerPause) {
        if let again = acceptsAgain, again <= .now { acceptsAgain = nil }
        let listener = acceptsAgain == nil ? owner.listener : -1
        var events = [
            pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
        ]
        events += connections.map(\.poll)
        guard unsafe Glibc.poll(&events, nfds_t(events.count), pause.milliseconds) > 0 else {
            return
        }
        for (connection, event) in zip(connections, events[2...]) where event.revents != 0 {
            serve(connection, event.revents)
        }
        if events[1].revents != 0 { accept() }
        if events[0].revents != 0 { wakeup.drain() }
    }

    /// Gives those who wait for a result a moment to read it.
    package mutating func end() {
        var events = connections.filter { !$0.isFlushed }.map(\.poll)
        guard !events.isEmpty else { return }
        _ = unsafe Glibc.poll(&events, nfds_t(events.count), Self.farewellTime)
        for connection in connections { connection.flush() }
    }

    // MARK: - Clients

    /// Takes in those who wait, as far as there is room; a full table has room for one at a time.
    private mutating func accept() {
        var wasShort = isShort
        guard connections.count < Self.clientLimit || makeRoom() else { return pauseAccepting() }
        isShort = false
        repeat {
            do throws(SystemError) {
                guard let socket = try LocalSocket.accept(from: owner.listener) else { return }
                // A peer that the kernel does not know is refused.
                let user = try? LocalSocket.peer(of: socket.number).user
                let connection = ControlConnection(ControlClientID(number: nextNumber), socket)
                nextNumber += 1
                connections.append(connection)
                if user != geteuid() {
                    refuse(connection, .foreign(user: user ?? .max))
                }
            } catch {
                if !wasShort { handler.lacksDescriptor(error) }
                (isShort, wasShort) = (true, true)
                guard reserve != nil || makeRoom() else { return pauseAccepting() }
                reserve = nil
            }
        } while connections.count < Self.clientLimit
    }

    private mutating func pauseAccepting() { acceptsAgain = .now + Self.acceptPause }

    /// Lets go of a client that asks for nothing, for one that may; false without such a client.
    private mutating func makeRoom() -> Bool {
        let now = ContinuousClock.now
        let idle = connections.compactMap { connection in
            connection.expendability(at: now).map { (connection, $0) }
        }
        // The oldest of them.
        guard let (connection, _) = idle.max(by: { $0.1 < $1.1 }) else { return false }
        connection.giveUp()
        removeEnded()
        return true
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
        // A client that has gone does not hear what has come of its request.
        case .asking where connection.isLost && request.command.hasEffect: return
        case .asking where request.confirm == true: return connection.askToConfirm(request)
        case .asking: break
        case .confirming where request.command == .confirmed:
            guard let confirmed = connection.confirmed(at: .now) else { return connection.giveUp() }
            request = confirmed
        case .printing where request.command == .taken:
            settle(connection, hasPrinted: true)
            return connection.become(.closing)
        // Each client has one request; all else that it says costs nothing.
        default: return
        }
        guard request.instant != nil else { return refuse(connection, .late) }
        guard request.places == nil && request.notify != true || connection.isOfThisDesk else {
            return refuse(connection, .elsewhere)
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
        connection.tell(.refused(ControlFailure(mistake.description, status: .usage)))
    }

    private mutating func removeEnded() {
        let ended = connections.filter(\.isOver)
        guard !ended.isEmpty else { return }
        connections.removeAll(where: \.isOver)
        // A client that has closed its side cannot say that it has printed what it has read.
        for connection in ended {
            // Its request may not be begun yet.
            if connection.state == .asked { handler.didEnd(connection.id, hasPrinted: false) }
            settle(connection, hasPrinted: !connection.isLost)
        }
    }

    private func settle(_ connection: ControlConnection, hasPrinted: Bool) {
        guard connection.settleResult() else { return }
        handler.didEnd(connection.id, hasPrinted: hasPrinted)
    }
}

/// Carries out what clients of the control socket ask for.
///
/// Called on the control thread; must not block.
package protocol ControlHandler: AnyObject, Sendable {
    /// Does what a client asks for; the answer is sent to the worker, once.
    func receive(_ request: ControlRequest, from client: ControlClientID)

    /// A client that waited for a result has printed it, or has gone without.
    func didEnd(_ client: ControlClientID, hasPrinted: Bool)

    func lacksDescriptor(_ error: SystemError)
}

package enum ControlReply: Sendable, Equatable {
    case answer(ControlAnswer)
    /// It is answered, and its result follows.
    case wait(ControlAnswer)
    /// It is answered with what happens, now and from now on.
    case follow(ControlStatus)
    /// It is not answered, because the program ends: the client asks again, elsewhere.
    case leave
}
