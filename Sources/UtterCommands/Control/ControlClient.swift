// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Asks the program that owns the control socket.
///
/// Blocks the calling thread.
struct ControlClient: ~Copyable {
    private let socket: OwnedDescriptor
    private var input = ControlLine(limit: ControlClient.byteLimit)

    /// The longest line of an answer: the longest transcript, with each byte escaped.
    private static let byteLimit = 64 << 20
    /// How long the other side may be silent while an answer is awaited.
    static let patience = Duration.seconds(10)
    /// How long an answer may take: as long as the command that prints a token, and more.
    private static let firstPatience = Duration.seconds(30)
    /// How often a program that ends, and does not answer any more, is looked for again.
    private static let attempts = 100

    /// What a connection says next.
    enum Said {
        case answer(ControlAnswer)
        /// A line that is no answer.
        case line([UInt8])
        case closed
        case nothing
    }

    private init(_ socket: consuming OwnedDescriptor) { self.socket = socket }

    /// Connects; nil when no process listens there.
    ///
    /// - Throws: `CommandFailure` when that cannot be found out, or the other side is another user's.
    static func connect(to place: ControlPlace) throws(CommandFailure) -> ControlClient? {
        do throws(SystemError) {
            let socket = try LocalSocket.connect(to: place.path, within: Self.patience)
            let peer = try LocalSocket.peer(of: socket.number)
            guard peer.user == geteuid() || peer.user == 0 else {
                throw SystemError(call: "\(place.path) belongs to another user", code: EPERM)
            }
            return ControlClient(socket)
        } catch {
            if [ENOENT, ECONNREFUSED, ENOTDIR].contains(error.code) { return nil }
            throw CommandFailure(
                "the control socket cannot be used: \(error.description)", hint: Hints.of(error),
                status: error.code == EAGAIN ? .notDelivered : .configuration)
        }
    }

    /// Asks for something.
    ///
    /// - Returns: the connection and the first line of the answer; nil when no process answers. One
    ///   that ends before it has answered is looked for again: it has done nothing.
    /// - Throws: `CommandFailure` when there is a process that does not answer.
    static func ask(
        _ request: ControlRequest, at place: ControlPlace
    ) throws(CommandFailure) -> Conversation? {
        for attempt in 0..<attempts {
            guard var client = try connect(to: place) else { return nil }
            switch client.say(request) ? client.next(within: firstPatience) : .closed {
            case .answer(let answer): return Conversation(client: client, first: answer)
            case .nothing:
                throw CommandFailure(
                    "the utter that has the control socket does not answer",
                    hint: "end it, and try again", status: .notDelivered)
            case .line:
                throw CommandFailure(
                    "what has the control socket does not speak version "
                        + "\(ControlRequest.version) of its protocol",
                    hint: "the two are of different versions of utter: end the other one",
                    status: .configuration)
            case .closed:
                // Behind a connection that ssh forwards there is no process to wait for.
                if place.isGiven, attempt > 2 { return nil }
                _ = poll(nil, 0, Int32(min(attempt + 1, 50)))
            }
        }
        throw CommandFailure(
            "the utter that has the control socket does not answer",
            hint: "end it, and try again", status: .notDelivered)
    }

    /// Says something; false when the other side is gone.
    func say(_ request: ControlRequest) -> Bool {
        // A line this short goes through at once, or not at all.
        let count = try? LocalSocket.send(request.line[...], to: socket.number)
        return count == request.line.count
    }

    /// The next line, for which it waits no longer than `limit`; nil is for ever.
    mutating func next(within limit: Duration?) -> Said {
        let deadline = limit.map { ContinuousClock.now + $0 }
        while true {
            if let line = input.next() {
                return ControlAnswer(line: line).map { .answer($0) } ?? .line(line)
            }
            if input.isTooLong { return .closed }
            let pause = deadline.map { WorkerPause.until($0) } ?? .untilWoken
            guard pause.wait(for: socket.number) else {
                if let deadline, deadline <= .now { return .nothing }
                continue
            }
            do throws(SystemError) {
                guard let bytes = try LocalSocket.receive(from: socket.number) else { continue }
                if bytes.isEmpty { return .closed }
                input.append(bytes)
            } catch {
                // One that broke says nothing more.
                return .closed
            }
        }
    }

    /// A client that was answered.
    struct Conversation: ~Copyable {
        var client: ControlClient
        let first: ControlAnswer
    }
}
