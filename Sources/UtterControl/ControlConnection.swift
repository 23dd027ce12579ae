// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

package struct ControlClientID: Hashable, Sendable {
    let number: Int
}

/// A client of the control socket, as its owner sees it.
///
/// Touched by the control thread alone. A client that does not read costs one buffer, and one
/// that does not speak costs a time.
final class ControlConnection {
    enum State: Equatable {
        case asking
        /// Its word that it is still there.
        case confirming
        /// The answer to what it has asked for.
        case asked
        /// The end of a take, which it waits for.
        case waiting
        /// Changes, until it leaves.
        case following
        /// Its word that it has printed the result.
        case printing
        /// Nothing, once it has read what there is.
        case closing
    }

    let id: ControlClientID
    private let socket: OwnedDescriptor
    private(set) var state = State.asking
    /// The request that it is to confirm.
    private var unconfirmed: ControlRequest?
    private var input = ControlLine(limit: ControlRequest.byteLimit)
    private var output: ArraySlice<UInt8> = []
    /// When the awaited answer must have come.
    private(set) var deadline: ContinuousClock.Instant?
    /// Whether it will ask for nothing more.
    private(set) var hasFinished = false
    private(set) var isLost = false
    /// Whether it was promised a result, and what became of that is not known.
    private(set) var isOwedResult = false
    private var pending: ControlStatus?
    private var told: ControlStatus?
    private var nextChange = ContinuousClock.now
    private let accepted = ContinuousClock.now

    /// How long a request, a read or a word that is awaited may take.
    static let patience = Duration.seconds(5)
    /// So often a client that waits hears that it still does.
    static let reassurance = Duration.seconds(2)
    /// The least time between two changes that are told.
    static let changeInterval = Duration.milliseconds(50)
    /// How long a client keeps its place, though it has not asked yet and others wait for one.
    private static let grace = Duration.milliseconds(500)

    init(_ id: ControlClientID, _ socket: consuming OwnedDescriptor) {
        self.id = id
        self.socket = socket
        deadline = .now + Self.patience
    }

    var poll: pollfd {
        let reads = hasFinished ? 0 : Int16(POLLIN)
        let writes = output.isEmpty ? 0 : Int16(POLLOUT)
        return pollfd(fd: socket.number, events: reads | writes, revents: 0)
    }

    /// Whether a program of this name has connected itself, at this machine.
    var isOfThisDesk: Bool {
        // A peer that the kernel does not know is elsewhere.
        guard let peer = try? LocalSocket.peer(of: socket.number).process else { return false }
        return LoginSession.isOwn(peer)
    }

    var isFlushed: Bool { output.isEmpty }

    var isOver: Bool {
        isLost || isFlushed && (state == .closing || hasFinished && isToSayMore)
    }

    /// Whether nothing is done for it before it has said something.
    private var isToSayMore: Bool { state == .asking || state == .confirming }

    // MARK: - Reading

    /// Reads what has come; `isHungUp` says that the other side is closed for reading too.
    func receive(isHungUp: Bool) {
        do throws(SystemError) {
            // A bounded number of pieces, so that one client does not keep the others waiting.
            for _ in 0..<4 {
                guard let bytes = try LocalSocket.receive(from: socket.number) else { break }
                guard !bytes.isEmpty else {
                    hasFinished = true
                    break
                }
                // Bytes behind its last word are read, so that it can read the answer, and dropped.
                if state != .closing { input.append(bytes) }
                if input.isTooLong { break }
            }
        } catch {
            isLost = true
        }
        // Closed on both sides; what it had said before has been read.
        if isHungUp { (isLost, hasFinished) = (true, true) }
    }

    /// The next line that it has sent, or why there is none; nil while it may still come.
    func nextLine() -> Result<[UInt8], ControlMistake>? {
        if let line = input.next() { return .success(line) }
        return input.isTooLong ? .failure(.tooLong) : nil
    }

    // MARK: - Confirming

    func askToConfirm(_ request: ControlRequest) {
        unconfirmed = request
        become(.confirming)
        tell(ControlAnswer(.ready))
    }

    /// Its request; nil when its word took so long that it may be gone again.
    func confirmed(at now: ContinuousClock.Instant) -> ControlRequest? {
        defer { unconfirmed = nil }
        guard let deadline, now < deadline else { return nil }
        return unconfirmed
    }

    // MARK: - Writing

    func tell(_ answer: ControlAnswer) { write(answer.line) }

    /// Writes bytes, or keeps what does not go through at once.
    func write(_ bytes: [UInt8]) {
        if output.isEmpty { deadline = .now + Self.patience }
        output += bytes
        flush()
    }

    func flush() {
        guard !isLost else { return }
        do throws(SystemError) {
            while !output.isEmpty {
                let count = try LocalSocket.send(output, to: socket.number)
                guard count > 0 else { return }
                output = output.dropFirst(count)
                deadline = .now + Self.patience
            }
            output = []
            settleDeadline()
        } catch {
            isLost = true
        }
    }

    /// Goes on to another state; what is awaited then has its time from now on.
    func become(_ state: State) {
        self.state = state
        if state == .waiting { isOwedResult = true }
        deadline = .now + Self.patience
        settleDeadline()
    }

    private func settleDeadline() {
        guard output.isEmpty else { return }
        switch state {
        // A follower has to read what it was told.
        case .asking, .confirming, .printing, .closing, .following: break
        case .waiting: deadline = .now + Self.reassurance
        case .asked: deadline = nil
        }
    }

    /// Whether the other side has read all that it was told.
    private var hasReadAll: Bool { isFlushed && LocalSocket.unreadCount(of: socket.number) == 0 }

    /// The time for what the client should have done is over: it hears that it still waits, or is
    /// given up.
    func miss() {
        switch state {
        case .waiting where isFlushed:
            tell(ControlAnswer(.waiting))
            become(.waiting)
        case .following where hasReadAll: deadline = nil
        default: giveUp()
        }
    }

    func giveUp() { isLost = true }

    /// The client with the highest number gives way to a new one first; nil when it has asked for
    /// something, or has had no time to ask.
    func expendability(at now: ContinuousClock.Instant) -> Int? {
        switch state {
        case .following: hasReadAll ? 0 : 2
        case .asking, .closing: now - accepted > Self.grace ? 1 : nil
        case .confirming, .asked, .waiting, .printing: nil
        }
    }

    /// Notes that what became of its result is known; false when it was known before.
    func settleResult() -> Bool { exchange(&isOwedResult, with: false) }

    // MARK: - Changes

    func change(to status: ControlStatus) {
        pending = status == told ? nil : status
    }

    /// Tells the newest change if it is time, and the client has read the last one; says when to look
    /// again, or nil.
    func tellChange(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard state == .following, let status = pending, output.isEmpty, !isLost else { return nil }
        guard now >= nextChange else { return nextChange }
        guard hasReadAll else { return now + Self.changeInterval }
        (pending, told) = (nil, status)
        nextChange = now + Self.changeInterval
        tell(.status(status))
        return nil
    }
}
