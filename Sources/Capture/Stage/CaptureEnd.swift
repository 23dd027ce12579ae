// SPDX-License-Identifier: Apache-2.0

public import AudioCodecs
package import AudioCore

/// A hole in a recording, replaced by silence of the same length.
public struct Gap: Sendable, Equatable {
    /// Why frames are missing.
    public enum Cause: String, Sendable {
        /// The sound card overran before the frames were read.
        case overrun
        /// The ring was full: the disk had stalled for longer than the ring lasts.
        case ringFull = "ring-full"
        /// A recording was damaged there, or lacked a piece, of the length that it says.
        case damaged
    }

    /// Why frames are missing.
    public var cause: Cause
    /// Where the hole begins, in frames of 16 kHz from the start of the take.
    public var start: Int
    /// How long it is, in frames of 16 kHz.
    public var frames: Int
}

/// A time in which nothing was recorded, because it was asked for; it takes no room in the recording.
public struct CapturePause: Sendable, Equatable {
    /// Where the recording goes on, in frames of 16 kHz from the start of the take.
    public var start: Int
    /// How long it was; nil while it lasts.
    public var length: Duration?
}

/// How a recording ended.
public struct CaptureEnd: Sendable {
    /// Why there is no more audio.
    public enum Cause: Sendable, Equatable {
        /// The source said so, or a stop was asked for and the tail is over.
        case finished
        /// The longest allowed length was reached.
        case limitReached
        /// The take was cancelled.
        case cancelled
        /// The end was asked for when there were only so many frames of 16 kHz; nothing is sent.
        case tooShort(frames: Int)
        /// The source broke, at once or in mid-take.
        case source(CaptureError)
        /// The encoder broke.
        case encoder(EncodingError)
    }

    /// Why there is no more audio.
    public var cause: Cause
    /// Every hole, in order; at most 1,000, the last one standing for all that followed.
    public var gaps: [Gap]
    /// Every pause, in order; at most 1,000.
    public internal(set) var pauses: [CapturePause] = []
    /// An oddity of a source that ended well, such as a file cut short, in words for a person.
    public var warning: String?
    /// Whether a voice was heard; nil when nothing has listened, as for a file.
    public var hasVoice: Bool?
    /// Faults of a microphone's signal at any time, each once; of a file, that it is nothing but
    /// digital silence, and what its channels are like.
    public var faults: [SignalState]
    /// The settings agreed on with a device; nil for another source, and when none has opened.
    public var details: SourceDetails?

    /// Whether a source that is not live was stopped before its end, as far as is known.
    package private(set) var isCut = false

    package var isWhole: Bool { cause == .limitReached || cause == .finished && !isCut }

    package init(
        cause: Cause, gaps: [Gap] = [], warning: String? = nil, hasVoice: Bool? = nil,
        faults: [SignalState] = [], details: SourceDetails? = nil
    ) {
        self.cause = cause
        self.gaps = gaps
        self.warning = warning
        self.hasVoice = hasVoice
        self.faults = faults
        self.details = details
    }

    /// Adds what is known of a signal at its end alone.
    mutating func judge(_ account: CaptureAccount, hasChosenChannel: Bool, isLive: Bool) {
        let isSilent = account.capturedFrames > 0 && account.peak?.peak == 0
        if isSilent, !isLive { faults.append(.zero) }
        if hasChosenChannel { faults.append(.cancelling) }
    }

    mutating func cut(_ source: String) {
        isCut = true
        if cause == .finished { warning = "the rest of '\(source)' was not read" }
    }
}

/// The state of a microphone's signal.
public enum SignalState: String, Sendable, CaseIterable {
    /// As it should be, or nothing is known against it.
    case good
    /// No frame has come for a second.
    case absent = "no-frames"
    /// Every sample has been zero for a second, or for 30 s after anything else: a microphone that
    /// is muted, or not connected.
    case zero = "digital-silence"
    /// No sample has been more than the last bit for two seconds, or for 30 s after anything else:
    /// an input without a microphone.
    case dead = "dead-input"
    /// Nothing has come above -46 dBFS in the first three seconds.
    case faint = "very-quiet"
    /// The signal is cut off at full scale.
    case clipped = "clipping"
    /// The mean of the channels would have lost a voice, so that the loudest was taken.
    case cancelling = "channels-cancel"
}

/// Told on the capture thread, in order.
package enum CaptureEvent: Sendable {
    /// The source has not opened for a second.
    case late
    /// The details are those of a device.
    case opened(StreamFormat, SourceDetails?)
    /// The first frame.
    case began
    /// The tail belongs to what follows it, or a pause is over.
    case resumed
    /// The source is closed, from this frame of 16 kHz on.
    case paused(frame: Int)
    case signal(SignalState)
    /// In frames of 16 kHz, now silence.
    case lost(frames: Int)
    /// A voice, then a silence of the plan's length.
    case quiet
    /// The last byte is in the ring.
    case ended(CaptureEnd)
}

extension SignalState {
    /// A line that names the fault of a microphone's signal, and its probable cause.
    package var text: String {
        switch self {
        case .good: "the microphone's signal is good"
        case .absent: "the microphone delivers nothing; recording goes on when it does"
        case .zero: "the microphone delivers only digital silence; is it muted?"
        case .cancelling:
            "a mix of the channels would have lost a voice; the loudest channel was taken"
        case .dead: "the input delivers nothing but its last bit; is a microphone connected?"
        case .faint: "the microphone is very quiet; is its level turned down?"
        case .clipped: "the microphone is cut off at full scale; turn its level down"
        }
    }
}

extension CaptureEnd {
    /// A line that names a fault of the signal, once the end is known.
    package func text(of fault: SignalState) -> String {
        hasVoice == nil && fault == .zero
            ? "the recording is nothing but digital silence" : fault.text
    }
}
