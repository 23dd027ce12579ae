// SPDX-License-Identifier: Apache-2.0

/// How far a take has come, seen from the capture thread.
enum CapturePhase {
    case unopened
    case running
    /// A stop was requested; the last word is still awaited.
    case tail
    /// The device's last frames are read.
    case draining
    /// The rest of the encoder and the ring is being written.
    case closing(CaptureEnd.Cause)
    case ended

    func heeds(_ control: CaptureControl) -> Bool {
        switch self {
        case .running:
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
        case .unopened, .running, .tail, .draining, .closing:
            control.isCancelRequested
                ? .closing(.cancelled) : stopping(for: control, hasTail: hasTail)
        }
    }

    /// Whether a recording in this phase can still go on after a stop.
    func canResume(_ control: CaptureControl) -> Bool {
        switch self {
        case .running, .tail: control.keepsTail && !control.isCancelRequested
        case .unopened, .draining, .closing, .ended: false
        }
    }

    private func stopping(for control: CaptureControl, hasTail: Bool) -> CapturePhase {
        switch self {
        case .running where control.isStopRequested:
            hasTail && control.keepsTail ? .tail : .draining
        case .tail where !control.keepsTail: .draining
        default: self
        }
    }
}

enum StageWait {
    case opening
    case source(SourceWait)
    /// An empty ring; the journal thread signals it.
    case journal
}
