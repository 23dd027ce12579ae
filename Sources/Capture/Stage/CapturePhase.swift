// SPDX-License-Identifier: Apache-2.0

/// How far a take has come, seen from the capture thread.
enum CapturePhase {
    /// The source is not open yet.
    case unopened
    /// What the source has is recorded.
    case running
    /// The person has asked for the end; the last word is still awaited.
    case tail
    /// What the device still holds is taken; then the source ends.
    case draining
    /// The encoder's and the ring's rest is on its way.
    case closing(CaptureEnd.Cause)
    /// Nothing follows.
    case ended

    /// Whether something is asked for that this phase obeys.
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

    /// The phase that follows when what was asked for is obeyed.
    ///
    /// Only a source with a tail (`hasTail`) goes on after the request to stop.
    func obeying(_ control: CaptureControl, hasTail: Bool) -> CapturePhase {
        switch self {
        case .ended: self
        case .unopened, .running, .tail, .draining, .closing:
            control.isCancelRequested
                ? .closing(.cancelled) : stopping(for: control, hasTail: hasTail)
        }
    }

    /// Whether a recording in this phase can go on as if no end had been asked for.
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

/// What the next turn of a stage waits for.
enum StageWait {
    /// The source, which another thread opens.
    case opening
    /// What the source has said.
    case source(SourceWait)
    /// An empty ring; the journal thread says when it is.
    case journal
}
