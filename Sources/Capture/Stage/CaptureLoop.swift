// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// The thread that reads every source and fills every ring, for any number of takes.
///
/// It waits in one `poll(2)` for sound cards, pipes and pacing timers. While takes run it takes
/// no lock: the inbox is opened only when its flag is up.
package final class CaptureLoop: Sendable {
    /// Timers due within this time are served together.
    private static let slack = Duration.milliseconds(1)

    private let wakeup: Wakeup
    private let inbox = Mutex<[CaptureStage]>([])
    private let hasMail = Atomic(false)
    private let isShutDown = Atomic(false)
    private let thread = Mutex<NamedThread?>(nil)
    private let onWrite: @Sendable () -> Void

    /// Starts the thread.
    ///
    /// - Parameter onWrite: called on the capture thread after a turn in which a ring was given
    ///   bytes or its end; must not block.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    package init(onWrite: @escaping @Sendable () -> Void) throws(SystemError) {
        wakeup = try Wakeup()
        self.onWrite = onWrite
        let started = try NamedThread(name: "capture") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Hands a take to the loop, which opens its source at once.
    ///
    /// From any thread.
    package func add(_ stage: sending CaptureStage) {
        let handed = Handed(stage)
        inbox.withLock { $0.append(handed.stage) }
        // releasing: partner of the acquire in `collect`.
        hasMail.store(true, ordering: .releasing)
        wakeup.signal()
    }

    /// Makes the loop look at every take's control, and at the rings that it waits for.
    ///
    /// From any thread; never blocks.
    package func wake() { wakeup.signal() }

    /// Ends the thread and waits for it; takes that still run are abandoned.
    package func shutDown() {
        // releasing: partner of the acquire in `run`.
        isShutDown.store(true, ordering: .releasing)
        wakeup.signal()
        thread.withLock { $0 }?.join()
    }

    private func run() {
        var stages: [CaptureStage] = []
        var descriptors: [pollfd] = []
        descriptors.reserveCapacity(64)
        while true {
            // Taken back first: what is asked for after this signals again.
            wakeup.drain()
            // acquiring: partner of the release in `shutDown`.
            if isShutDown.load(ordering: .acquiring) { return }
            collect(into: &stages)
            let now = ContinuousClock.now
            var didWrite = false
            var due: ContinuousClock.Instant?
            var hasEnded = false
            descriptors.removeAll(keepingCapacity: true)
            descriptors.append(pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0))
            for stage in stages {
                stage.turn(now: now + Self.slack)
                if stage.didWrite { didWrite = true }
                switch stage.pendingWait {
                case nil: hasEnded = true
                case .journal: break
                case .source(.forDescriptors): stage.appendPollDescriptors(to: &descriptors)
                case .source(.forDescriptorsOrUntil(let instant)):
                    stage.appendPollDescriptors(to: &descriptors)
                    due = min(due ?? instant, instant)
                case .source(.until(let instant)): due = min(due ?? instant, instant)
                }
            }
            if hasEnded { stages.removeAll { $0.pendingWait == nil } }
            // An end, too, is for the journal to see: it may come without a byte.
            if didWrite || hasEnded { onWrite() }
            wait(for: &descriptors, until: due)
            for stage in stages { stage.noteReadiness(in: descriptors.span) }
        }
    }

    private func collect(into stages: inout [CaptureStage]) {
        // acquiring: partner of the release in `add`.
        guard hasMail.exchange(false, ordering: .acquiring) else { return }
        let new = inbox.withLock { mail in
            defer { mail.removeAll() }
            return Handed(mail)
        }
        stages.append(contentsOf: new.stage)
    }

    private func wait(for descriptors: inout [pollfd], until due: ContinuousClock.Instant?) {
        var timeout: Int32 = -1
        if let due {
            // Even when a timer is due, the descriptors are looked at: a replay that is always
            // due must not keep a microphone from being read.
            let left = max(.zero, due - .now).components
            timeout = Int32(
                clamping: left.seconds * 1_000
                    + (left.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
        // EINTR and EAGAIN lead to one more turn, which is harmless.
        unsafe descriptors.withUnsafeMutableBufferPointer { buffer in
            _ = unsafe poll(buffer.baseAddress, nfds_t(buffer.count), timeout)
        }
    }
}

/// Carries a value into another thread that becomes its only user.
private struct Handed<Value>: @unchecked Sendable {
    let stage: Value

    init(_ value: Value) { stage = value }
}
