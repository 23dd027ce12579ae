// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// The thread `microphone` of a live take: it has opened the source, does the whole stage once the
/// capture thread has handed it over, closes the source and hands the take back.
///
/// A sound card's plug-in is foreign code, and a call of it may never return. So an atomic word says
/// whose the take is, and changes around each call by compare-and-swap. The capture thread looks
/// at it now and then: a call that lasts too long loses the take to the capture thread, which ends
/// it. The thread that comes back from such a call finds that, and touches its source alone.
///
/// `@unchecked Sendable` because what is neither atomic nor constant belongs to one of the two
/// threads.
final class CardThread: @unchecked Sendable {
    /// Values of `word` besides the number of a call: odd during it, even before and after it, and
    /// below zero while the capture thread has borrowed the take during it.
    private static let captures = 0
    private static let abandoned = Int.min

    private let orders: Wakeup
    private let tell: @Sendable () -> Void
    private let onWrite: @Sendable () -> Void
    private let word = Atomic(captures)
    private let isClosing = Atomic(false)

    // The capture thread's.
    private let patience: Duration
    private let closingTime: Duration
    /// The call seen by the last look.
    private var watched = 0
    /// Looks in a row that saw the same call.
    private var looks = 0
    private var nextLook = ContinuousClock.now
    private var closesUntil: ContinuousClock.Instant?
    private var requestsSeen = 0

    // This thread's, the stage from `take` on.
    private var stage: CaptureStage?
    private var call = 2
    private var hasLost = false

    /// Looks in a row at one call after which the driver hangs; looks are counted, not time: the
    /// program may have been stopped.
    private static let looksOfHang = 10
    /// Looks in a row, a second, after which the frames are said to stay away.
    private static let looksOfAbsence = 2

    /// `tell` wakes the capture thread; the others are as in `CaptureLoop`.
    init(
        patience: Duration, closing: Duration, tell: @escaping @Sendable () -> Void,
        onWrite: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        self.patience = patience
        closingTime = closing
        self.tell = tell
        self.onWrite = onWrite
        orders = try Wakeup()
    }

    // MARK: - The capture thread

    /// Whether this thread has the take, of which the capture thread may touch nothing then.
    ///
    /// acquiring: partner of the release in `handBack`.
    var isDriving: Bool { word.load(ordering: .acquiring) != Self.captures }

    /// Hands over a stage whose source is open.
    func take(_ stage: CaptureStage) {
        self.stage = stage
        // releasing: partner of the acquire in `drive`.
        word.store(call, ordering: .releasing)
        orders.signal()
    }

    /// Passes requests on, and takes the take from a driver that does not answer.
    ///
    /// - Returns: when to look again; nil when the take is the capture thread's.
    func watch(
        _ stage: CaptureStage, _ now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant? {
        // acquiring: partner of the releases in `move` and `handBack`.
        let current = word.load(ordering: .acquiring)
        guard current != Self.captures else { return nil }
        let requests = stage.control.requestCount
        if requests != requestsSeen { orders.signal() }
        requestsSeen = requests
        let isEnding = isClosing.load(ordering: .relaxed) || stage.control.isCancelRequested
        if isEnding, closesUntil == nil { closesUntil = now + closingTime }
        look(at: current, now)
        let isOverdue = looks >= Self.looksOfHang || closesUntil.map { now >= $0 } ?? false
        if isOverdue, isCall(current), exchange(current, for: Self.captures) {
            stage.loseSource(after: patience)
            return nil
        }
        if looks == Self.looksOfAbsence, isCall(current), exchange(current, for: -current) {
            stage.missFrames()
            // releasing: partner of the acquire in `move`.
            word.store(current, ordering: .releasing)
        }
        return closesUntil.map { $0 > now ? min($0, nextLook) : nextLook } ?? nextLook
    }

    private func look(at current: Int, _ now: ContinuousClock.Instant) {
        if current != watched || !isCall(current) {
            (watched, looks) = (current, 0)
        } else if now >= nextLook {
            looks += 1
        } else {
            return
        }
        nextLook = now + patience / Self.looksOfHang
    }

    private func isCall(_ value: Int) -> Bool { !value.isMultiple(of: 2) }

    private func exchange(_ value: Int, for next: Int) -> Bool {
        word.compareExchange(
            expected: value, desired: next, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// The take is not continued, and this thread closes the source; the capture thread ends.
    func abandon() {
        word.store(Self.abandoned, ordering: .releasing)
        orders.signal()
    }

    // MARK: - This thread

    /// Calls the driver, from the thread that has the take.
    ///
    /// - Returns: nil when the take has been lost to the capture thread: nothing of it may be
    ///   touched any more.
    func during<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        guard move() else { return nil }
        let result = Result { () throws(Failure) in try body() }
        return move() ? try result.get() : nil
    }

    /// Begins or ends a call; false when the take has been lost.
    private func move() -> Bool {
        while !hasLost {
            let (isMoved, found) = word.compareExchange(
                expected: call, desired: call + 1, ordering: .acquiringAndReleasing)
            if isMoved {
                call += 1
                return true
            }
            // Borrowed for a moment otherwise.
            hasLost = found == Self.captures || found == Self.abandoned
            if !hasLost { sched_yield() }
        }
        return false
    }

    /// Called before the source is closed: the capture thread waits for that no longer than agreed.
    func announceClosing() {
        isClosing.store(true, ordering: .relaxed)
        tell()
    }

    /// All that follows the opening of the source.
    func drive(_ source: any CaptureSource) {
        // acquiring: partner of the release in `take`.
        while word.load(ordering: .acquiring) == Self.captures {
            if WorkerPause.untilWoken.wait(for: orders.descriptor) { orders.drain() }
        }
        if let stage, work(on: stage) { return handBack() }
        // The source alone is left to this thread.
        stage = nil
        source.close()
    }

    /// - Returns: whether the source is closed, and the take to be handed back; false when it has
    ///   been lost.
    private func work(on stage: CaptureStage) -> Bool {
        var events = PolledDescriptors()
        events.reserve(8)
        repeat {
            stage.turn(now: .now)
            if hasLost { return false }
            if stage.didWrite {
                stage.tellReaders()
                onWrite()
            }
            if stage.source.isReleased { return true }
        } while rest(stage, &events)
        return false
    }

    private func handBack() {
        stage = nil
        // releasing: partner of the acquires in `isDriving` and `watch`.
        word.store(Self.captures, ordering: .releasing)
        tell()
    }

    /// Waits for the source, or for a request; false when the take has been lost.
    private func rest(_ stage: CaptureStage, _ events: inout PolledDescriptors) -> Bool {
        guard case .source(let wait) = stage.pendingWait else { return true }
        let source = stage.source.source
        events.clear()
        events.add(orders.descriptor)
        if wait.isForDescriptors {
            guard during({ source.addDescriptors(to: &events) }) != nil else { return false }
        }
        let due = wait.due
        repeat {
            guard events.wait(WorkerPause(until: due)) else { continue }
            if events.hasEvent(0) {
                orders.drain()
                return true
            }
            guard let isReady = during({ source.isReady(events) }) else { return false }
            if isReady {
                stage.noteReadiness()
                return true
            }
        } while due.map { $0 > .now } ?? true
        return true
    }
}
