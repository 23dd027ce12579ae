// SPDX-License-Identifier: Apache-2.0

public import AudioCore

/// Where PCM comes from: a microphone, a WAV file, standard input.
///
/// It belongs to one thread at a time and need not be `Sendable`: a plan makes it, and it is handed
/// over whole. The thread that starts the take asks for `name` and `isLive`, which do not change; a
/// thread of its own opens the source. One thread drives it afterwards: `read` until it says `wait`,
/// then a wait on what it names, and so on until it says `end`; then `close`. That is the capture
/// thread, or for a live source the thread that has opened it (`microphone`), so that a driver that
/// blocks holds up nothing else. No member but `open`, and `close` of a live source, may block for
/// longer than a period: the capture thread serves other takes.
public protocol CaptureSource: AnyObject {
    /// The source's name for a person: a device name, a file name, "standard input".
    var name: String { get }

    /// Whether frames that are not read in time are lost.
    ///
    /// A full ring makes a live source lose a counted gap; any other source is made to wait.
    var isLive: Bool { get }

    /// Whether frames stay where they are when they are read, as in a file.
    ///
    /// Any other source that can wait is read again only when the journal has the last read, or the
    /// ring does, where that outlives the process. Asked before the source is opened, too.
    var isStored: Bool { get }

    /// When the next frames exist, by a clock that holds them back; nil otherwise.
    ///
    /// Until then the capture thread waits for nothing else. Asked after each read of frames.
    var nextFrames: ContinuousClock.Instant? { get }

    /// The settings that were agreed on with an open device; nil for a source that is not a device.
    ///
    /// Asked on the thread that has opened the source.
    var details: SourceDetails? { get }

    /// An oddity of a source that ended well, such as a file cut short, in words for a person.
    var warning: String? { get }

    /// Opens the source and says what it will deliver.
    ///
    /// May block for as long as opening a sound card or a file takes; no other take waits for it.
    ///
    /// - Returns: the rate and layout of every frame that `read` will deliver.
    /// - Throws: `CaptureError` when there is no such source, it is busy, or its audio is
    ///   unusable.
    func open() throws(CaptureError) -> StreamFormat

    /// Reads what is there, at most `frames.count / channelCount` frames, and never waits.
    ///
    /// - Parameter frames: receives interleaved samples from its start on.
    /// - Returns: what was read, what was lost, or what to wait for.
    /// - Throws: `CaptureError` when the source broke; what was read before stays valid.
    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead

    /// Whether the last read, which gave frames, has left none: the next is worth while when a
    /// descriptor is ready, or after a second.
    var isDrained: Bool { get }

    /// Adds the descriptors to wait for while `read` says `.wait(.forDescriptors)` or
    /// `.wait(.forDescriptorsOrUntil)`.
    ///
    /// Allocates nothing when there is room for four more.
    func addDescriptors(to events: inout PolledDescriptors)

    /// Says whether what has come of its descriptors makes another read worth while.
    ///
    /// Asked once after each wait that brings something for one of them; while it says no, the wait
    /// goes on.
    ///
    /// - Parameter events: to which `addDescriptors` has added them, beside others.
    /// - Returns: false when the event was none of ours.
    func isReady(_ events: PolledDescriptors) -> Bool

    /// Asks for the end: `read` delivers what the device already holds and then says `.end`.
    ///
    /// Called on the thread that drives the source, when the tail is over.
    func requestStop()

    /// Releases a live source for a while; `open` goes on with it.
    func pause()

    /// Releases the device or file. Idempotent.
    func close()
}

/// The result of one read of a source.
public enum SourceRead: Sendable, Equatable {
    /// This many frames, at least one, stand at the start of the buffer.
    case frames(Int)

    /// This many frames were lost before they could be read (an xrun), just before the next
    /// frames.
    case gap(frames: Int)

    /// Nothing now.
    case wait(SourceWait)

    /// Nothing any more.
    case end
}

/// The event that makes another read worth while.
public enum SourceWait: Sendable, Equatable {
    /// A poll descriptor of the source is ready.
    case forDescriptors

    /// A poll descriptor of the source is ready, or the clock has reached this instant, at
    /// which the source gives up.
    case forDescriptorsOrUntil(ContinuousClock.Instant)

    /// The clock has reached this instant.
    case until(ContinuousClock.Instant)

    var isForDescriptors: Bool { if case .until = self { false } else { true } }

    var due: ContinuousClock.Instant? {
        switch self {
        case .forDescriptors: nil
        case .forDescriptorsOrUntil(let instant), .until(let instant): instant
        }
    }

    func limited(to end: ContinuousClock.Instant) -> SourceWait {
        let first = due.map { min($0, end) } ?? end
        return isForDescriptors ? .forDescriptorsOrUntil(first) : .until(first)
    }
}

extension CaptureSource {
    /// Any event makes a read worth while.
    public func isReady(_ events: PolledDescriptors) -> Bool { true }

    /// False: another read says what to wait for.
    public var isDrained: Bool { false }

    /// False: what was read is nowhere else.
    public var isStored: Bool { false }

    /// Closes it.
    public func pause() { close() }

    /// `nil`, for most sources.
    public var nextFrames: ContinuousClock.Instant? { nil }

    /// `nil`, for most sources.
    public var details: SourceDetails? { nil }

    /// Nothing, for most sources.
    public var warning: String? { nil }
}

/// The settings that were agreed on with a device.
public struct SourceDetails: Sendable, Equatable {
    /// The sound card behind the device; nil when a sound server stands before it.
    public var card: String?
    /// How it writes a sample, by ALSA's name, such as "S16_LE".
    public var sampleFormat: String
    /// The rate and number of channels that it delivers.
    public var format: StreamFormat
    /// Frames between two wake-ups.
    public var periodFrames: Int
    /// Frames that its ring holds.
    public var bufferFrames: Int

    package init(
        card: String? = nil, sampleFormat: String, format: StreamFormat, periodFrames: Int,
        bufferFrames: Int
    ) {
        self.card = card
        self.sampleFormat = sampleFormat
        self.format = format
        self.periodFrames = periodFrames
        self.bufferFrames = bufferFrames
    }
}
