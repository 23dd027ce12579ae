// SPDX-License-Identifier: Apache-2.0

public import AudioCodecs

/// A hole in a recording, replaced by silence of the same length.
public struct Gap: Sendable, Equatable {
    /// Why frames are missing.
    public enum Cause: String, Sendable {
        /// The sound card overran before the frames were read.
        case overrun
        /// The ring was full: the disk had stalled for longer than the ring lasts.
        case ringFull = "ring-full"
    }

    /// Why frames are missing.
    public var cause: Cause
    /// Where the hole begins, in frames of 16 kHz from the start of the take.
    public var start: Int
    /// How long it is, in frames of 16 kHz.
    public var frames: Int
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
    /// What a person should know of a source that ended well, such as a file cut short.
    public var warning: String?
    /// Whether a voice was heard; nil when nothing has listened, as for a file.
    public var hasVoice: Bool?
    /// What was wrong with a microphone's signal at any time, each once.
    public var faults: [SignalState]
    /// What was agreed on with a device; nil for what is none, or could not be opened.
    public var details: SourceDetails?

    /// Whether the end of a source that is not live was asked for before it came, as far as is known.
    package private(set) var isCut = false

    /// Whether the recording has all that it was to have.
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

    /// Says that a source that is not live was stopped, of which more might have come.
    package mutating func cut(_ source: String) {
        isCut = true
        if cause == .finished { warning = "the rest of '\(source)' was not read" }
    }
}
