// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Asks the program that owns the control socket.
///
/// Blocks the calling thread.
package struct ControlClient: ~Copyable {
    private let socket: OwnedDescriptor
    private var input = ControlLine(limit: ControlClient.byteLimit)

    /// The longest line of an answer: the longest transcript, with each byte escaped.
    private static let byteLimit = 64 << 20
    /// How long the other side may be silent while an answer is awaited.
    package static let patience = Duration.seconds(10)
    /// How long an answer may take: as long as the command that prints a token, and more.
    ///
    /// Longer than the other side waits for a client's word, so that nothing is done for one that
    /// has given up.
    private static let firstPatience = Duration.seconds(30)
    /// How often, and how long, a program that ends and does not answer is looked for again.
    private static let attempts = 100
    private static let searchTime = Duration.seconds(30)

    package enum Said {
        case answer(ControlAnswer)
        case line([UInt8])
        case closed
        case nothing
    }

    private init(_ socket: consuming OwnedDescriptor) { self.socket = socket }

    /// Connects; nil when no process listens there.
    package static func connect(to place: SocketPlace) throws(ControlFailure) -> ControlClient? {
        try place.checkFolder()
        do throws(SystemError) {
            let socket = try LocalSocket.connect(to: place.path, within: Self.patience)
            let peer = try LocalSocket.peer(of: socket.number)
            guard peer.user == geteuid() || peer.user == 0 else {
                throw SystemError(call: "\(place.path) belongs to another user", code: EPERM)
            }
            return ControlClient(socket)
        } catch {
            if [ENOENT, ECONNREFUSED, ENOTDIR].contains(error.code) { return nil }
            throw ControlFailure(
                "the control socket cannot be used: \(error.description)",
                status: error.code == EAGAIN ? .notDelivered : .configuration, cause: error)
        }
    }

    /// The connection and the first line of the answer; nil when no process answers.
    ///
    /// A process that ends before it has answered is looked for again: it has done nothing.
    package static func ask(
        _ request: ControlRequest, at place: SocketPlace
    ) throws(ControlFailure) -> Conversation? {
        let deadline = ContinuousClock.now + searchTime
        for attempt in 0..<attempts {
            guard var client = try connect(to: place) else { return nil }
            let (said, isConfirmed) = client.ask(request)
            switch said {
            case .answer(let answer): return Conversation(client: client, first: answer)
            case .nothing: throw silence(of: place, mayBeDone: isConfirmed)
            case .line:
                throw ControlFailure(
                    "what has the control socket does not speak version "
                        + "\(ControlRequest.version) of its protocol",
                    hint: "the two are of different versions of utter: end the other one",
                    status: .configuration)
            case .closed:
                // Behind a connection that ssh forwards there is no process to wait for.
                if place.isGiven, attempt > 2 { return nil }
                guard deadline > .now else { throw silence(of: place, mayBeDone: false) }
                _ = poll(nil, 0, Int32(min(attempt + 1, 50)))
            }
        }
        throw silence(of: place, mayBeDone: false)
    }

    /// Asks, and says that this process is still there when it is asked that.
    private mutating func ask(_ request: ControlRequest) -> (Said, isConfirmed: Bool) {
        var request = request
        request.confirm = request.command.hasEffect ? true : nil
        guard say(request) else { return (.closed, false) }
        let said = next(within: Self.patience)
        guard case .answer(let answer) = said, answer.kind == .ready else { return (said, false) }
        guard say(ControlRequest(.confirmed)) else { return (.closed, false) }
        return (next(within: Self.firstPatience), true)
    }

    private static func silence(of place: SocketPlace, mayBeDone: Bool) -> ControlFailure {
        ControlFailure(
            "the utter that has the control socket does not answer, and "
                + (mayBeDone ? "may do what it was asked for" : "has done nothing"),
            hint: mayBeDone
                ? "see what it does with: utter status"
                : place.isGiven
                    ? "see whether the connection to its machine is alive"
                    : "end it, and try again",
            status: .notDelivered)
    }

    /// Says something; false when the other side is gone.
    package func say(_ request: ControlRequest) -> Bool {
        // A line this short goes through at once, or not at all.
        let count = try? LocalSocket.send(request.line[...], to: socket.number)
        return count == request.line.count
    }

    /// The next line, for which it waits no longer than `limit`; nil: for ever.
    package mutating func next(within limit: Duration?) -> Said {
        let deadline = limit.map { ContinuousClock.now + $0 }
        while true {
            if let line = input.next() {
                return ControlAnswer(line: line).map { .answer($0) } ?? .line(line)
            }
            if input.isTooLong { return .closed }
            guard WorkerPause(until: deadline).wait(for: socket.number) else {
                if let deadline, deadline <= .now { return .nothing }
                continue
            }
            do throws(SystemError) {
                guard let bytes = try LocalSocket.receive(from: socket.number) else { continue }
                if bytes.isEmpty { return .closed }
                input.append(bytes)
            } catch {
                // A broken connection says nothing more.
                return .closed
            }
        }
    }

    package struct Conversation: ~Copyable {
        package var client: ControlClient
        package let first: ControlAnswer
    }
}
