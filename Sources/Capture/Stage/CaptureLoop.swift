// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform

/// The thread that reads every file and pipe and fills its ring, and watches over the threads of
/// sound cards, for any number of takes.
///
/// It waits in one `poll(2)` for pipes and pacing timers. While takes run it takes no lock. Opening
/// a source may take seconds; each is opened by a thread of its own, which then hands it over, or
/// does the whole stage of a live take (`CardThread`).
package final class CaptureLoop: Sendable {
    private let loop: WorkerLoop<CaptureWorker>
    private let onWrite: @Sendable () -> Void

    /// `onWrite` is called after a turn that wrote to a ring or finished it, on the thread that has
    /// the take; it must not block.
    package init(onWrite: @escaping @Sendable () -> Void) throws(SystemError) {
        self.onWrite = onWrite
        loop = try WorkerLoop(name: "capture") { CaptureWorker(onWrite: onWrite) }
    }

    /// Opens the source on a thread of its own; from any thread, never blocks.
    ///
    /// `patience` limits each call of a live source's driver; `closing` limits how long the end of its
    /// take waits for the source to be closed.
    package func add(
        _ stage: sending CaptureStage, patience: Duration = .seconds(5),
        closing: Duration = .seconds(1)
    ) {
        let wake: @Sendable () -> Void = { [loop] in loop.wake() }
        let (opening, source) = (stage.opening, Handed(stage.source.source))
        var card: CardThread?
        if stage.source.isLive {
            // Without a descriptor for it the capture thread drives the source as it does files.
            card = try? CardThread(
                patience: patience, closing: closing, tell: wake, onWrite: onWrite)
        }
        stage.source.card = card
        loop.send(.take(stage))
        opening.begin(source, on: card, then: wake)
    }

    /// From any thread: has `alarm` called at an instant, or soon after, on the capture thread, which
    /// no disk and no driver holds up; it must not block.
    package func call(
        at instant: ContinuousClock.Instant, _ alarm: @escaping @Sendable () -> Void
    ) {
        loop.send(.call(instant, alarm))
    }

    /// Looks at every take's control and at the awaited rings; from any thread, never blocks.
    package func wake() { loop.wake() }

    /// Ends the thread and waits for it; running takes are abandoned.
    package func shutDown() { loop.shutDown() }
}

struct CaptureWorker: Worker {
    enum Message {
        case take(CaptureStage)
        case call(ContinuousClock.Instant, @Sendable () -> Void)
    }

    static let isPolling = true

    private let onWrite: @Sendable () -> Void
    private var stages: [CaptureStage] = []
    private var alarms: [(due: ContinuousClock.Instant, ring: @Sendable () -> Void)] = []
    private var events = PolledDescriptors()

    init(onWrite: @escaping @Sendable () -> Void) {
        self.onWrite = onWrite
        events.reserve(64)
    }

    mutating func receive(_ message: Message) {
        switch message {
        case .take(let stage): stages.append(stage)
        case .call(let due, let ring): alarms.append((due, ring))
        }
    }

    /// - Returns: when the next alarm is due.
    private mutating func ringAlarms(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        for alarm in alarms where alarm.due <= now { alarm.ring() }
        alarms.removeAll { $0.due <= now }
        return alarms.lazy.map(\.due).min()
    }

    mutating func turn(isLast: Bool) -> WorkerPause {
        guard !isLast else { return .untilWoken }
        let now = ContinuousClock.now
        var didWrite = false
        var due = ringAlarms(now)
        var hasEnded = false
        events.clear()
        for stage in stages {
            let card = stage.source.card
            if !stage.isElsewhere { stage.turn(now: now) }
            if let look = card?.watch(stage, now) {
                due = min(due ?? look, look)
                continue
            }
            if stage.didWrite {
                didWrite = true
                stage.tellReaders()
            }
            switch stage.pendingWait {
            case nil:
                hasEnded = true
                stage.tellReaders()
            case .opening, .journal: break
            case .source(let wait):
                if wait.isForDescriptors { stage.source.addDescriptors(to: &events) }
                due = wait.due.map { min(due ?? $0, $0) } ?? due
            }
        }
        if hasEnded { stages.removeAll { !$0.isElsewhere && $0.pendingWait == nil } }
        // An end, too, is for the journal to see: it may come without a byte.
        if didWrite || hasEnded { onWrite() }
        return WorkerPause(until: due)
    }

    /// Polls the sources even when a timer is due: a replay that is always due must not starve a
    /// microphone.
    mutating func wait(for wakeup: Wakeup, _ pause: WorkerPause) {
        events.add(wakeup.descriptor)
        // EINTR and EAGAIN lead to one more turn, which is harmless.
        guard events.wait(pause) else { return }
        for stage in stages where !stage.isElsewhere {
            if stage.source.isReady(in: events) { stage.noteReadiness() }
        }
        if events.hasEvent(events.count - 1) { wakeup.drain() }
    }

    /// Running takes are abandoned, their cards closed.
    mutating func end() { for stage in stages { stage.source.card?.abandon() } }

    mutating func refuse(_ message: Message) {
        if case .take(let stage) = message { stage.source.card?.abandon() }
    }
}
