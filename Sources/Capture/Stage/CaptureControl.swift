// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

package final class CaptureControl: Sendable {
    private let stop = Atomic(false)
    private let abort = Atomic(false)
    private let withoutTail = Atomic(false)
    private let pause = Atomic(false)
    private let resumption = Atomic(false)
    private let requests = Atomic(0)

    package init() {}

    /// Asks for the end: what the device holds and a short tail still follow.
    package func requestStop(keepsTail: Bool = true) {
        if !keepsTail { withoutTail.store(true, ordering: .relaxed) }
        // releasing: a thread that sees the stop also sees `withoutTail`.
        stop.store(true, ordering: .releasing)
        count()
    }

    /// Asks a live source for a pause: what the device holds and a short tail still follow, and then the
    /// device is closed until `requestResume`.
    package func requestPause() {
        pause.store(true, ordering: .releasing)
        count()
    }

    /// Withdraws the request to stop or to pause: inside its tail the recording goes on, and out of a
    /// pause as soon as the device is open again.
    ///
    /// Ignored after the tail of a stop, and after a stop without one.
    package func requestResume() {
        stop.store(false, ordering: .relaxed)
        pause.store(false, ordering: .relaxed)
        // releasing: a thread that sees the request also sees that the others were taken back.
        resumption.store(true, ordering: .releasing)
        count()
    }

    /// The rest is not wanted.
    package func requestCancel() {
        abort.store(true, ordering: .relaxed)
        count()
    }

    // releasing: partner of the acquire in `requestCount`.
    private func count() { requests.add(1, ordering: .releasing) }

    /// How many requests there were; a change is for the thread that has the take.
    var requestCount: Int { requests.load(ordering: .acquiring) }

    /// Whether the end was asked for, and not taken back.
    package var isStopRequested: Bool { stop.load(ordering: .acquiring) || !keepsTail }
    var isPauseRequested: Bool { pause.load(ordering: .acquiring) && !isStopRequested }
    var isCancelRequested: Bool { abort.load(ordering: .relaxed) }
    var isResumeRequested: Bool { resumption.load(ordering: .acquiring) }

    /// True once for each request; on the capture thread.
    func takeResume() -> Bool { resumption.exchange(false, ordering: .acquiring) }

    var keepsTail: Bool { !withoutTail.load(ordering: .relaxed) }
}

/// How far a take has come, seen from the capture thread.
enum CapturePhase {
    case unopened
    case running
    /// A stop or a pause was requested; the last word is still awaited.
    case tail
    /// The device's last frames are read, before the end or before a pause.
    case draining(isForPause: Bool)
    /// A live source is closed for a while.
    case paused
    /// The rest of the encoder and the ring is being written.
    case closing(CaptureEnd.Cause)
    case ended

    func heeds(_ control: CaptureControl) -> Bool {
        switch self {
        case .running:
            control.isStopRequested || control.isPauseRequested || control.isResumeRequested
                || control.isCancelRequested
        case .paused:
            control.isStopRequested || control.isResumeRequested || control.isCancelRequested
        case .tail:
            control.isResumeRequested || control.isCancelRequested || !control.keepsTail
        case .unopened, .draining, .closing: control.isCancelRequested
        case .ended: false
        }
    }

    func obeying(_ control: CaptureControl, hasTail: Bool) -> CapturePhase {
        switch self {
        case .ended: self
        case _ where control.isCancelRequested: .closing(.cancelled)
        case .running where control.isStopRequested || control.isPauseRequested:
            hasTail && control.keepsTail
                ? .tail : .draining(isForPause: control.isPauseRequested)
        case .tail where !control.keepsTail: .draining(isForPause: false)
        case .paused where control.isStopRequested: .closing(.finished)
        default: self
        }
    }

    /// After a stop or a pause.
    func canResume(_ control: CaptureControl) -> Bool {
        switch self {
        case .running, .tail, .paused: control.keepsTail && !control.isCancelRequested
        case .unopened, .draining, .closing, .ended: false
        }
    }
}

enum StageWait {
    case opening
    case source(SourceWait)
    /// An empty ring; the thread that empties it signals that.
    case journal
}
