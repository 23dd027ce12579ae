// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// A question to the person at the terminal, and the line that answers it.
final class Question: Sendable {
    private let answer = Mutex<String?>(nil)
    private let wakeup: Wakeup

    /// Asks; there is no answer yet.
    ///
    /// - Throws: `SystemError` when the process has no descriptor left.
    init() throws(SystemError) { wakeup = try Wakeup() }

    /// Answers; from any thread.
    func take(_ line: String) {
        answer.withLock { $0 = line }
        wakeup.signal()
    }

    /// Blocks until there is an answer.
    ///
    /// - Parameters:
    ///   - limit: how long the person has.
    ///   - keyboard: read here when no other thread listens to it.
    ///   - isOver: asked now and then: whether the answer is not wanted any more.
    /// - Returns: the line, or nil without one.
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
