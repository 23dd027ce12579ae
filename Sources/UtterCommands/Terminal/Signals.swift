// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Synchronization
internal import Utter

/// What a person or another program asks of a running take.
package enum Request: Sendable, Equatable {
    /// SIGUSR1, or a line on a pipe: the recording is over, also one that is about to begin.
    case stop
    /// Enter on a terminal: the recording that runs is over.
    case enter
    /// SIGUSR2: the recording that runs is not wanted.
    case discard
    /// Ctrl-C (SIGINT).
    case cancel
    /// SIGTERM or SIGHUP; the number is the signal's.
    case leave(signal: Int32)
    /// The sender of SIGTERM or SIGHUP will not wait any longer.
    case leaveNow
}

/// Signals and the Enter key, as one sequence of requests.
///
/// A thread of its own reads a `signalfd(2)` and the terminal, so that no code of ours ever
/// runs in a signal handler.
package final class Signals: Sendable {
    private struct State {
        var handler: (@Sendable (Request) -> Void)?
        /// Where the next line goes when a question has been asked.
        var question: Question?
        /// What came before there was a handler, in order.
        var early: [Request] = []
    }

    private let state = Mutex(State())
    private let keyboard: Mutex<Keyboard?>
    private let echoedLines = Atomic(0)

    /// Blocks the watched signals and ignores SIGPIPE.
    ///
    /// Called before any thread is started.
    package static func block() {
        _ = inherited
        var mask = set
        _ = unsafe pthread_sigmask(SIG_BLOCK, &mask, nil)
        _ = signal(SIGPIPE, SIG_IGN)
        // A file that may not grow is an error of write(2) like a full disk, not an end.
        _ = signal(SIGXFSZ, SIG_IGN)
        // A shell without job control starts what it puts into the background with SIGINT
        // ignored; a program that sends it anyway means it. SIGHUP stays as nohup(1) left it.
        for number in [SIGINT, SIGTERM, SIGUSR1, SIGUSR2] { _ = signal(number, SIG_DFL) }
    }

    /// Undoes `block` on this thread, for a program that is about to be executed in place of
    /// this one, or for a wait in which nothing can be lost.
    package static func unblock() {
        var mask = inherited
        _ = unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
        _ = signal(SIGPIPE, SIG_DFL)
        _ = signal(SIGXFSZ, SIG_DFL)
    }

    /// The signals that are obeyed: SIGHUP unless nohup(1) had it ignored.
    private static let watched: [Int32] = {
        // Blocked signals reach a signalfd even when they are ignored.
        let before = signal(SIGHUP, SIG_IGN)
        let isIgnored =
            unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        if !isIgnored { _ = signal(SIGHUP, SIG_DFL) }
        return [SIGINT, SIGTERM, SIGUSR1, SIGUSR2] + (isIgnored ? [] : [SIGHUP])
    }()

    /// How often a program in the background looks whether the keyboard is its own again, in
    /// milliseconds; only while a person types.
    private static let foregroundInterval: Int32 = 250

    /// How long SIGTERM and SIGHUP leave to seal the take and to write what is known of it; what
    /// ends a session kills soon after that.
    private static let farewellTime = Duration.seconds(5)

    /// What was blocked when the program began.
    private static let inherited: sigset_t = {
        var mask = sigset_t()
        _ = unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
        return mask
    }()

    private static var set: sigset_t {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        for number in watched { _ = unsafe sigaddset(&mask, number) }
        return mask
    }

    /// Starts the thread.
    ///
    /// - Parameter isKeyboardMeant: whether a line from the terminal, or from a pipe on standard
    ///   input, asks to stop.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    package init(toEnter isKeyboardMeant: Bool) throws(SystemError) {
        let descriptor = try SignalDescriptor(signals: Self.watched)
        let keyboard = isKeyboardMeant ? Keyboard() : nil
        keyboard?.forgetWhatWasTyped()
        self.keyboard = Mutex(keyboard)
        _ = try NamedThread(name: "signals") { [self] in listen(to: descriptor) }
    }

    /// Whether there is a keyboard on which Enter can be pressed.
    package var hasKeyboard: Bool { keyboard.withLock { $0?.isInForeground ?? false } }

    /// The line feeds that typing has put on the screen since this was asked last.
    func takeEchoedLines() -> Int { echoedLines.exchange(0, ordering: .relaxed) }

    /// Gives every request to `handler`, on the thread of the signals.
    ///
    /// Those that have come before are given at once, on the calling thread. Called once.
    package func handle(_ handler: @escaping @Sendable (Request) -> Void) {
        let early = state.withLock { state in
            state.handler = handler
            defer { state.early = [] }
            return state.early
        }
        for request in early { handler(request) }
    }

    /// Whether there is a person at a terminal who can read a question and answer it.
    var hasTerminal: Bool {
        guard StandardError.isTerminal, let keyboard = keyboard.withLock({ $0 }) ?? Keyboard()
        else { return false }
        return isatty(keyboard.descriptor) == 1
    }

    /// Waits for a line from the keyboard, away from the cooperative pool.
    ///
    /// - Parameters:
    ///   - limit: how long the person has.
    ///   - isOver: asked now and then: whether the line is not wanted any more.
    /// - Returns: the line without its end; nil when none came.
    func line(
        within limit: Duration, unless isOver: @escaping @Sendable () -> Bool
    ) async -> String? {
        await withCheckedContinuation { continuation in
            do throws(SystemError) {
                let question = try Question()
                state.withLock { $0.question = question }
                let isListenedTo = keyboard.withLock { $0 != nil }
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

    /// Gives a line to the question that waits for one; false when there is none.
    private func take(_ line: String) -> Bool {
        guard let question = state.withLock({ $0.question }) else { return false }
        question.take(line)
        return true
    }

    private func ask(_ request: Request) {
        let handler = state.withLock { state in
            if state.handler == nil { state.early.append(request) }
            return state.handler
        }
        handler?(request)
    }

    private func listen(to descriptor: SignalDescriptor) {
        var keyboard = keyboard.withLock { $0 }
        var isInBackground = false
        var farewellEnd: ContinuousClock.Instant?
        while true {
            var descriptors = [
                pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0),
                pollfd(
                    fd: isInBackground ? -1 : keyboard?.descriptor ?? -1, events: Int16(POLLIN),
                    revents: 0),
            ]
            let wait = Self.wait(isInBackground: isInBackground, until: farewellEnd)
            let count = unsafe poll(&descriptors, 2, wait)
            guard count >= 0 || errno == EINTR else { return }
            if let end = farewellEnd, ContinuousClock.now >= end {
                ask(.leaveNow)
                farewellEnd = nil
            }
            isInBackground = false
            while let number = descriptor.next() {
                let request = Self.request(for: number)
                ask(request)
                if case .leave = request, farewellEnd == nil {
                    farewellEnd = .now + Self.farewellTime
                }
            }
            guard let present = keyboard, descriptors[1].revents != 0 else { continue }
            switch present.read() {
            case .line(let line):
                if take(line) { break }
                if present.isEchoing { echoedLines.add(1, ordering: .relaxed) }
                ask(present.isTerminal ? .enter : .stop)
            case .nothing: break
            case .inBackground: isInBackground = true
            case .end:
                ask(.enter)
                keyboard = nil
            case .closed: keyboard = nil
            }
        }
    }

    private static func request(for signal: Int32) -> Request {
        switch signal {
        case SIGINT: .cancel
        case SIGUSR1: .stop
        case SIGUSR2: .discard
        default: .leave(signal: signal)
        }
    }

    /// How long the next poll(2) may wait, in milliseconds; -1 is for ever.
    private static func wait(isInBackground: Bool, until end: ContinuousClock.Instant?) -> Int32 {
        guard let end else { return isInBackground ? foregroundInterval : -1 }
        let left = max(.zero, end - .now)
        // Rounded up: a poll that returns a little too early would spin.
        let milliseconds = Int32(left / .milliseconds(1)) + 1
        return isInBackground ? min(foregroundInterval, milliseconds) : milliseconds
    }
}
