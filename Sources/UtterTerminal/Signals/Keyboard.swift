// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// Where lines come from: standard input if it is a terminal or a pipe, else the terminal of this
/// process.
///
/// A file or /dev/null on standard input is not read: it belongs to another program's loop.
struct Keyboard: Sendable {
    let descriptor: Int32

    init?() {
        if isatty(STDIN_FILENO) == 1 || Self.isPipe(STDIN_FILENO) {
            descriptor = STDIN_FILENO
        } else {
            let terminal = unsafe open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY)
            guard terminal >= 0 else { return nil }
            descriptor = terminal
        }
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// Standard input, if it is a pipe.
    static var pipe: Keyboard? {
        isPipe(STDIN_FILENO) ? Keyboard(descriptor: STDIN_FILENO) : nil
    }

    private static func isPipe(_ descriptor: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    enum Found {
        case line(String)
        case nothing
        /// The end of the input, or another program has the terminal.
        case closed
    }

    /// Called when the descriptor is ready, with SIGTTIN blocked: a read from the background would
    /// stop the process.
    func read() -> Found {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        if count < 0 { return errno == EINTR || errno == EAGAIN ? .nothing : .closed }
        if count == 0 { return .closed }
        guard let end = bytes[..<count].firstIndex(of: 0x0A) else {
            // A terminal gives half a line only when Ctrl-D was pressed behind it.
            return isatty(descriptor) == 1 ? .closed : .nothing
        }
        return .line(String(decoding: bytes[..<end], as: UTF8.self))
    }
}

final class Question: Sendable {
    private let answer = Mutex<String?>(nil)
    private let wakeup: Wakeup

    /// - Throws: `SystemError` when the process has no descriptor left.
    init() throws(SystemError) { wakeup = try Wakeup() }

    func take(_ line: String) {
        answer.withLock { $0 = line }
        wakeup.signal()
    }

    /// Blocks until there is an answer; nil without one.
    ///
    /// `keyboard` is read here when no other thread reads it. `isOver` is asked now and then: whether
    /// the answer is not wanted any more.
    func wait(within limit: Duration, _ keyboard: Keyboard?, isOver: () -> Bool) -> String? {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end, !isOver() {
            var waits = [
                pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: keyboard?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            _ = unsafe poll(&waits, 2, 250)
            if let line = answer.withLock({ $0 }) { return line }
            guard let keyboard, waits[1].revents != 0 else { continue }
            switch keyboard.read() {
            case .line(let line): return line
            case .nothing: break
            case .closed: return nil
            }
        }
        return nil
    }
}
