// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// What the threads of a `CommandRun` share: they collect its output, feed it and wait for its end.
package final class CommandCollector: Sendable {
    package enum Stream: Sendable {
        /// Descriptor 1, unless it is the terminal.
        case output

        /// Descriptor 2, unless it is the terminal.
        case error

        case screen
    }

    struct State: Sendable {
        var output: [UInt8] = []
        var error: [UInt8] = []
        var screen: [UInt8] = []
        /// How it ended; nil while it runs.
        var status: CommandResult.Status?
        var isFinished = false
        /// Bytes that the program has not read yet.
        var input: ArraySlice<UInt8> = []
        var isInputEnded = false

        subscript(stream: Stream) -> [UInt8] {
            switch stream {
            case .output: output
            case .error: error
            case .screen: screen
            }
        }
    }

    /// How long an ended program's pipes may be silent when another process holds them open.
    private static let grace = Duration.seconds(2)

    let state = Observed(State())
    private let wakeup: Wakeup
    private let terminal: PseudoTerminal?

    init(terminal: PseudoTerminal?) throws(SystemError) {
        self.terminal = terminal
        wakeup = try Wakeup()
    }

    /// What has come so far, in a copy of its own.
    ///
    /// An array that was handed out would be written again where it is as soon as it is let go of
    /// elsewhere, which the thread sanitizer takes for a race.
    func bytes(of stream: Stream) -> [UInt8] {
        state.look { $0[stream].withUnsafeBufferPointer { Array($0) } }
    }

    func hangUp() {
        terminal?.hangUp()
        // A poll(2) that has begun keeps the terminal open until it returns.
        wakeup.signal()
    }

    func queueInput(_ bytes: [UInt8]) {
        state.update { $0.input += bytes }
        wakeup.signal()
    }

    func queueInputEnd() {
        state.update { $0.isInputEnded = true }
        wakeup.signal()
    }

    func reap(_ process: Int32) {
        // The process stays a zombie, and its number its own, until the lock is held.
        var information = siginfo_t()
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        state.update { state in
            var status: Int32 = 0
            waitpid(process, &status, 0)
            let number = status & 0x7F
            state.status = number == 0 ? .exited((status >> 8) & 0xFF) : .signalled(number)
        }
        wakeup.signal()
    }

    /// Reads and feeds until the process has ended and its pipes are empty, on its own thread.
    func collect(_ ends: CommandLaunch.Ends) {
        ignorePipeSignal()
        var ends = ends
        if ends.input >= 0 { _ = fcntl(ends.input, F_SETFL, O_NONBLOCK) }
        while true {
            let hasEnded = state.look { $0.status != nil }
            if hasEnded, ends.output < 0, ends.error < 0 { break }
            // What an ended program wrote lies in the pipes: they are read until they are silent.
            let wait = hasEnded ? Self.grace : .seconds(600)
            if !step(&ends, within: wait), hasEnded { break }
        }
        drainScreen()
        for end in [ends.input, ends.output, ends.error] where end >= 0 { close(end) }
        state.update { $0.isFinished = true }
    }

    /// Moves what can be moved; false when there was nothing for so long.
    private func step(_ ends: inout CommandLaunch.Ends, within wait: Duration) -> Bool {
        feed(&ends.input)
        let wantsToWrite = ends.input >= 0 && state.look { !$0.input.isEmpty }
        let events = pollEvents(
            [
                pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: ends.output, events: Int16(POLLIN), revents: 0),
                pollfd(fd: ends.error, events: Int16(POLLIN), revents: 0),
                pollfd(fd: terminal?.master.number ?? -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wantsToWrite ? ends.input : -1, events: Int16(POLLOUT), revents: 0),
            ], until: .now + wait)
        if events[0] != 0 { wakeup.drain() }
        if events[1] != 0 { take(&ends.output) { $0.output += $1 } }
        if events[2] != 0 { take(&ends.error) { $0.error += $1 } }
        if events[3] != 0 { takeScreen() }
        return events.contains { $0 != 0 }
    }

    /// Reads once; closes the descriptor and makes it -1 at its end.
    private func take(_ end: inout Int32, _ add: (inout State, ArraySlice<UInt8>) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(end, &buffer, buffer.count)
        if count > 0 {
            state.update { add(&$0, buffer[..<count]) }
        } else if count == 0 || errno != EINTR {
            close(end)
            end = -1
        }
    }

    private func takeScreen() {
        guard let terminal else { return }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(terminal.master.number, &buffer, buffer.count)
        if count > 0 { state.update { $0.screen += buffer[..<count] } }
    }

    /// Reads what the program left on its terminal.
    private func drainScreen() {
        guard let terminal else { return }
        while pollReadable([terminal.master.number], until: .now)[0] {
            let before = state.look { $0.screen.count }
            takeScreen()
            if state.look({ $0.screen.count }) == before { return }
        }
    }

    /// Writes what is queued, as far as the pipe takes it, and closes it behind the last byte.
    private func feed(_ end: inout Int32) {
        while end >= 0 {
            // A pipe holds no more.
            let (bytes, isEnded) = state.look { (Array($0.input.prefix(65_536)), $0.isInputEnded) }
            if bytes.isEmpty {
                guard isEnded else { return }
                close(end)
                end = -1
                return
            }
            let count = write(end, bytes, bytes.count)
            let code = errno
            if count > 0 {
                state.update { $0.input = $0.input.dropFirst(count) }
            } else if code == EAGAIN {
                return
            } else if code != EINTR {
                close(end)
                end = -1
            }
        }
    }

    /// A write to a program that has ended must not end the test.
    private func ignorePipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
