// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform

/// The thread that reads every source and fills every ring, for any number of takes.
///
/// It waits in one `poll(2)` for sound cards, pipes and pacing timers. While takes run it takes
/// no lock. Opening a source may take seconds; each is opened by a short-lived thread of its own,
/// which then hands it over.
package final class CaptureLoop: Sendable {
    private let loop: WorkerLoop<CaptureWorker>

    /// `onWrite` is called on the thread after a turn that wrote to a ring or finished it; it must
    /// not block.
    package init(onWrite: @escaping @Sendable () -> Void) throws(SystemError) {
        loop = try WorkerLoop(name: "capture") { CaptureWorker(onWrite: onWrite) }
    }

    /// Opens the source on a thread of its own; from any thread, never blocks.
    package func add(_ stage: sending CaptureStage) {
        let opening = stage.opening
        loop.send(stage)
        opening.begin { [loop] in loop.wake() }
    }

    /// Looks at every take's control and at the awaited rings; from any thread, never blocks.
    package func wake() { loop.wake() }

    /// Ends the thread and waits for it; running takes are abandoned.
    package func shutDown() { loop.shutDown() }
}

struct CaptureWorker: Worker {
    private let onWrite: @Sendable () -> Void
    private var stages: [CaptureStage] = []
    private var descriptors: [pollfd] = []

    init(onWrite: @escaping @Sendable () -> Void) {
        self.onWrite = onWrite
        descriptors.reserveCapacity(64)
    }

    mutating func receive(_ stage: CaptureStage) { stages.append(stage) }

    mutating func turn(isLast: Bool) -> WorkerPause {
        guard !isLast else { return .untilWoken }
        let now = ContinuousClock.now
        var didWrite = false
        var due: ContinuousClock.Instant?
        var hasEnded = false
        descriptors.removeAll(keepingCapacity: true)
        for stage in stages {
            stage.turn(now: now)
            if stage.didWrite {
                didWrite = true
                stage.mark?.set()
            }
            switch stage.pendingWait {
            case nil:
                hasEnded = true
                stage.mark?.set()
            case .opening, .journal: break
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
        return WorkerPause(until: due)
    }

    /// Polls the sources even when a timer is due: a replay that is always due must not starve a
    /// microphone.
    mutating func wait(for wakeup: Int32, _ pause: WorkerPause) -> Bool {
        descriptors.append(pollfd(fd: wakeup, events: Int16(POLLIN), revents: 0))
        // EINTR and EAGAIN lead to one more turn, which is harmless.
        let count = unsafe descriptors.withUnsafeMutableBufferPointer { buffer in
            unsafe poll(buffer.baseAddress, nfds_t(buffer.count), pause.milliseconds)
        }
        guard count > 0 else { return false }
        for stage in stages { stage.noteReadiness(in: descriptors.span) }
        return descriptors[descriptors.count - 1].revents != 0
    }
}
