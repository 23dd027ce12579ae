// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A named thread with an inbox: receives, works a turn, waits, until it is shut down.
///
/// Usable from any thread. A sent message becomes the worker's own. While nothing is sent, a
/// turn takes no lock.
package final class WorkerLoop<Work: Worker>: Sendable {
    private struct Inbox {
        var messages: [Work.Message] = []
        /// The thread reads no more: a message would stay, and keep alive what it holds.
        var isClosed = false
    }

    private let wakeup: Wakeup
    private let inbox = Mutex(Handed(Inbox()))
    private let hasMail = Atomic(false)
    private let isShutDown = Atomic(false)
    private let thread = Mutex<NamedThread?>(nil)

    /// Starts the thread, which calls `make`; others may signal `wakeup`, too.
    package init(
        name: String, wokenBy wakeup: Wakeup? = nil, _ make: @escaping @Sendable () -> Work
    ) throws(SystemError) {
        self.wakeup = if let wakeup { wakeup } else { try Wakeup(isPolled: Work.isPolling) }
        let started = try NamedThread(name: name) { [self] in run(make()) }
        thread.withLock { $0 = started }
    }

    /// From any thread; the worker receives it before its next turn.
    ///
    /// - Returns: false when the loop has ended, and the message is dropped.
    @discardableResult
    package func send(_ message: sending Work.Message) -> Bool {
        let handed = Handed(message)
        let isTaken = inbox.withLock { inbox in
            if !inbox.value.isClosed { inbox.value.messages.append(handed.value) }
            return !inbox.value.isClosed
        }
        guard isTaken else { return false }
        // releasing: partner of the acquire in `run`.
        hasMail.store(true, ordering: .releasing)
        wakeup.signal()
        return true
    }

    /// Begins the next turn; from any thread, never blocks.
    package func wake() { wakeup.signal() }

    package func shutDown() {
        // releasing: partner of the acquire in `run`.
        isShutDown.store(true, ordering: .releasing)
        wakeup.signal()
        thread.withLock { $0 }?.join()
    }

    private func run(_ made: consuming Work) {
        var worker = made
        while true {
            // acquiring: partner of the release in `shutDown`; what was sent before it is seen
            // below.
            let isLast = isShutDown.load(ordering: .acquiring)
            // acquiring: partner of the release in `send`.
            if hasMail.exchange(false, ordering: .acquiring) {
                for message in mail() { worker.receive(message) }
            }
            let pause = worker.turn(isLast: isLast)
            if isLast {
                if case .goesOn = pause { continue }
                break
            }
            worker.wait(for: wakeup, pause)
        }
        worker.end()
        for message in mail(closing: true) { worker.refuse(message) }
    }

    private func mail(closing: Bool = false) -> [Work.Message] {
        let handed = inbox.withLock { inbox in
            defer { inbox.value = Inbox(isClosed: closing) }
            return Handed(inbox.value.messages)
        }
        return handed.value
    }
}

/// Carries a value to another thread, its only user from then on, unless that hands it back.
///
/// `@unchecked Sendable` because `sending` carries a value into a call, but neither into a closure of
/// a thread nor through a `Mutex`: both threads agree on an order in which they have it.
package struct Handed<Value>: @unchecked Sendable {
    package fileprivate(set) var value: Value

    package init(_ value: Value) { self.value = value }
}
