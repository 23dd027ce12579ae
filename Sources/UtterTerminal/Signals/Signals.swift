// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// Signals, keys of the terminal and lines on a pipe, as one sequence of requests.
///
/// A thread reads a `signalfd(2)`, the terminal and the pipe; of our code only what puts the
/// terminal right runs in a signal handler.
package final class Signals: Sendable {
    /// How a person begins and ends a recording.
    package enum Controls: Sendable, Equatable {
        /// The terminal's keys; this process may still be in the background.
        case keys(KeyInterpreter.Reports)
        case lines
        case nothing
    }

    package struct Taken: Sendable {
        package let controls: Controls
        /// The killed process that had left its modes on the terminal.
        package private(set) var killed: Int32?
    }

    private struct State {
        var handler: (@Sendable (Request) -> Void)?
        /// Gets the next line.
        var question: Question?
        /// Requests before there was a handler, in order.
        var early: [Request] = []
        var orders: [Order] = []
    }

    private enum Order {
        case take(TalkKey, Duration?, Settlement<Taken>)
        case leave(Settlement<Void>)
        /// To another program, until it is taken back.
        case lend(Wakeup)
        case takeBack
    }

    private let state = Mutex(State())
    private let wakeup: Wakeup
    /// Standard input, if it is a pipe that is read.
    private let pipe: Keyboard?

    /// The time after SIGTERM and SIGHUP to seal the take and write what is known: the sender kills
    /// soon after that.
    private static let farewellTime = Duration.seconds(5)

    /// Called on the main thread, while all other threads block all signals.
    ///
    /// - Parameter readsPipe: whether a line from a pipe on standard input asks to stop.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    package init(readingPipe readsPipe: Bool) throws(SystemError) {
        Self.blockJobControl()
        let descriptor = try SignalDescriptor(signals: Self.watched + Self.jobControl)
        wakeup = try Wakeup()
        pipe = readsPipe ? Keyboard.pipe : nil
        _ = try NamedThread(name: "signals") { [self] in listen(to: descriptor) }
    }

    /// Calls `handler` for every request, on the thread of the signals.
    ///
    /// Earlier requests are given at once, on the calling thread. Another handler takes its place.
    package func handle(_ handler: @escaping @Sendable (Request) -> Void) {
        let early = state.withLock { state in
            state.handler = handler
            return exchange(&state.early, with: [])
        }
        for request in early { handler(request) }
    }

    // MARK: - The terminal

    /// Listens to the keys of the terminal, if there is one and no pipe says what to do.
    ///
    /// Earlier keys are dropped. The terminal is in modes of ours until `leaveKeys`, and at most
    /// until this process ends. `answerTime` is how long it has to say if it reports releases; nil
    /// asks nothing.
    package func takeKeys(_ key: TalkKey, answerTime: Duration?) async -> Taken {
        guard pipe == nil else { return Taken(controls: .lines) }
        let taken = Settlement<Taken>()
        order(.take(key, answerTime, taken))
        return await taken.value
    }

    /// Puts the terminal right, and reads its keys no more.
    package func leaveKeys() async {
        let left = Settlement<Void>()
        order(.leave(left))
        await left.value
    }

    /// Reads no keys until `takeKeysBack`, and puts the terminal right for another program; blocks
    /// until that is done.
    func lendKeys() {
        // Without a descriptor the other program shares the terminal with the keys.
        guard let done = try? Wakeup() else { return }
        order(.lend(done))
        // The thread of the signals waits for nothing but the terminal's last answer.
        _ = waitUntilReadable(done.descriptor, by: .now + .seconds(5))
    }

    /// If they were read before.
    func takeKeysBack() { order(.takeBack) }

    private func order(_ order: Order) {
        state.withLock { $0.orders.append(order) }
        wakeup.signal()
    }

    // MARK: - Questions

    /// Whether a person can read and answer a question.
    package var hasTerminal: Bool {
        guard StandardError.isTerminal, let keyboard = pipe ?? Keyboard() else { return false }
        return isatty(keyboard.descriptor) == 1
    }

    /// Waits for a line from the keyboard, away from the cooperative pool.
    ///
    /// Called when no keys are read. `isOver` is asked now and then: whether the line is not wanted
    /// any more.
    ///
    /// - Returns: the line without its end; nil when none came.
    package func line(
        within limit: Duration, unless isOver: @escaping @Sendable () -> Bool
    ) async -> String? {
        await withCheckedContinuation { continuation in
            do throws(SystemError) {
                let question = try Question()
                state.withLock { $0.question = question }
                let isListenedTo = pipe != nil
                _ = try NamedThread(name: "question") { [self] in
                    let line = question.wait(
                        within: limit, isListenedTo ? nil : Keyboard(), isOver: isOver)
                    state.withLock { $0.question = nil }
                    continuation.resume(returning: line)
                }
            } catch {
                // A process that has no thread left cannot ask.
                continuation.resume(returning: nil)
            }
        }
    }

    private func take(_ line: String) -> Bool {
        guard let question = state.withLock({ $0.question }) else { return false }
        question.take(line)
        return true
    }

    // MARK: - The thread

    private func ask(_ request: Request) {
        let handler = state.withLock { state in
            if state.handler == nil { state.early.append(request) }
            return state.handler
        }
        handler?(request)
    }

    private func listen(to descriptor: SignalDescriptor) {
        var pipe = pipe
        var terminal = TerminalWatch()
        var farewellEnd: ContinuousClock.Instant?
        while true {
            let deadlines = [farewellEnd, terminal.keys?.deadline(at: .now)].compactMap(\.self)
            var descriptors = [
                descriptor.number, wakeup.descriptor, pipe?.descriptor ?? -1,
                terminal.keys?.descriptor ?? -1,
            ].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let time = WorkerPause(until: deadlines.min()).milliseconds
            let count = unsafe poll(&descriptors, UInt(descriptors.count), time)
            guard count >= 0 || errno == EINTR else { return }
            if let end = farewellEnd, ContinuousClock.now >= end {
                ask(.leaveNow)
                farewellEnd = nil
            }
            while let number = descriptor.next() {
                let request = handle(number, &terminal)
                if let request { ask(request) }
                if case .leave = request, farewellEnd == nil {
                    farewellEnd = .now + Self.farewellTime
                }
            }
            wakeup.drain()
            for order in state.withLock({ exchange(&$0.orders, with: []) }) {
                obey(order, &terminal)
            }
            if descriptors[3].revents != 0 || terminal.keys != nil {
                let now = ContinuousClock.now
                let meanings = terminal.step(isReadable: descriptors[3].revents != 0, at: now)
                for meaning in meanings { mean(meaning, at: now) }
            }
            guard let present = pipe, descriptors[2].revents != 0 else { continue }
            switch present.read() {
            case .line(let line): if !take(line) { ask(.line) }
            case .nothing: break
            case .closed: pipe = nil
            }
        }
    }

    private func mean(_ meaning: KeyInterpreter.Meaning, at now: ContinuousClock.Instant) {
        guard case .signal(let signal) = meaning else { return ask(.key(meaning, at: now)) }
        signal.send()
    }

    private func obey(_ order: Order, _ terminal: inout TerminalWatch) {
        switch order {
        case .take(let key, let answerTime, let taken):
            terminal.take(key, answerTime, telling: taken)
        case .leave(let left):
            terminal.leave()
            left.settle(())
        case .lend(let done):
            // The key may go up while the other program has the keyboard.
            if terminal.keys != nil { ask(.key(.focusLost, at: .now)) }
            terminal.keys?.lend()
            done.signal()
        case .takeBack: terminal.keys?.takeBack()
        }
    }

    /// The request that a signal makes of the takes; nil: none.
    private func handle(_ number: Int32, _ terminal: inout TerminalWatch) -> Request? {
        switch number {
        case SIGINT: return .cancel
        case SIGUSR1: return .toggle
        case SIGUSR2: return .dismiss
        case SIGCONT: terminal.keys?.goOn()
        case SIGTSTP:
            // The key may go up while other programs have the keyboard.
            if terminal.keys != nil { ask(.key(.focusLost, at: .now)) }
            terminal.keys?.leave()
            Self.take(SIGTSTP)
            terminal.keys?.goOn()
        case SIGQUIT:
            terminal.leave(isInHaste: true)
            Self.take(SIGQUIT)
        default:
            terminal.leave(isInHaste: true)
            return .leave(signal: number)
        }
        return nil
    }

    /// The signal's default action.
    private static func take(_ signal: Int32) {
        SignalMask.change(SIG_UNBLOCK, [signal])
        kill(getpid(), signal)
        SignalMask.change(SIG_BLOCK, [signal])
    }
}

// MARK: - The mask

extension Signals {
    /// Blocks the watched signals and ignores SIGPIPE.
    ///
    /// Called before any thread is started.
    package static func block() {
        _ = inherited
        SignalMask.change(SIG_BLOCK, watched)
        _ = signal(SIGPIPE, SIG_IGN)
        // A file that may not grow is an error of write(2) like a full disk, not an end.
        _ = signal(SIGXFSZ, SIG_IGN)
        // A shell without job control starts what it puts into the background with SIGINT
        // ignored; a program that sends it anyway means it. SIGHUP stays as nohup(1) left it.
        for number in [SIGINT, SIGTERM, SIGUSR1, SIGUSR2] { _ = signal(number, SIG_DFL) }
    }

    /// Undoes `block` on this thread, before `exec`, or for a wait in which nothing can be lost.
    package static func unblock() {
        inherited.restore()
        _ = signal(SIGPIPE, SIG_DFL)
        _ = signal(SIGXFSZ, SIG_DFL)
    }

    /// Blocks the terminal's signals to stop or end, too: the terminal is put right first.
    ///
    /// Only for commands that read keys.
    static func blockJobControl() { SignalMask.change(SIG_BLOCK, jobControl) }

    /// SIGHUP unless nohup(1) had it ignored.
    static let watched = [SIGINT, SIGTERM, SIGUSR1, SIGUSR2] + (isIgnored(SIGHUP) ? [] : [SIGHUP])

    /// They act as usual, after the terminal was put right.
    static let jobControl = [SIGTSTP, SIGQUIT].filter { !isIgnored($0) } + [SIGCONT]

    private static let inherited = SignalMask.change(SIG_BLOCK, [])

    /// Inherited; left as it is.
    ///
    /// Blocked signals reach a signalfd even when they are ignored.
    private static func isIgnored(_ number: Int32) -> Bool {
        let before = signal(number, SIG_IGN)
        let isIgnored =
            unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        if !isIgnored { _ = signal(number, SIG_DFL) }
        return isIgnored
    }
}

/// A request to the running takes, by a person or another program.
package enum Request: Sendable, Equatable {
    /// A line on a pipe: ends the recording, also one that is about to begin.
    case line
    /// SIGUSR1: begins or ends a recording.
    case toggle
    /// SIGUSR2: drops the newest take.
    case dismiss
    /// With the time at which it was read.
    case key(KeyInterpreter.Meaning, at: ContinuousClock.Instant)
    case cancel
    /// SIGTERM or SIGHUP.
    case leave(signal: Int32)
    /// The sender of SIGTERM or SIGHUP will not wait any longer.
    case leaveNow
}
