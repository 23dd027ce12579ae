// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
public import AudioCore
internal import LinuxPlatform

/// The sound of an input, from its first sample on.
protocol RecordedAudio: AnyObject {
    var format: StreamFormat { get }

    /// Whether the input is a regular file; otherwise it is a pipe or a device.
    var isFile: Bool { get }

    /// To be polled; nil when nothing needs to be waited for.
    var descriptor: Int32? { get }

    /// Raw samples, which need not come in whole periods.
    var isRaw: Bool { get }

    var warning: String? { get }

    var deliveredFrameCount: Int { get }

    /// Frames that are left; nil while an input of unknown length goes on.
    var frameCountLeft: Int? { get }

    /// The next break: lost frames that become silence, or none between two rows of samples.
    var nextBreak: Range<Int>? { get }

    /// When an input that says nothing has ended or is given up; nil: never.
    var deadline: ContinuousClock.Instant? { get }

    /// Reads on until `count` frames can be delivered, or nothing more is there.
    ///
    /// - Returns: how many frames can be delivered: at least a period, unless the input ends or they
    ///   are still to come.
    func prepare(_ count: Int) throws(CaptureError) -> Int

    /// Copies frames that are prepared.
    func deliver(_ count: Int, into frames: inout MutableSpan<Int16>)

    /// Goes on behind so many of the lost frames.
    func skip(_ count: Int)

    /// A descriptor that was given stays open.
    func close()
}

extension RecordedAudio {
    var isRaw: Bool { false }

    var nextBreak: Range<Int>? { nil }

    func skip(_ count: Int) {}

    /// Frames up to what ends them or begins behind them.
    fileprivate var frameCountBeforeBreak: Int {
        guard let next = nextBreak else { return frameCountLeft ?? .max }
        let isHole = next.lowerBound <= deliveredFrameCount
        return (isHole ? next.upperBound : next.lowerBound) - deliveredFrameCount
    }
}

/// A recording in a file, replayed as if it were being spoken: in any form that we have, by
/// its first bytes; in others by the program `ffmpeg`, if that is given.
///
/// Whole periods of 20 ms are delivered, each at the instant at which its last frame would have
/// come from a microphone; the clock starts with the first read. Raw samples that nothing holds back
/// are delivered as they come. A recording that ends before its header says so, breaks off or is
/// damaged yields what is there, with silence where the file says how much is lost, and `warning` tells.
public final class FileReplay: CaptureSource {
    /// The path.
    public let name: String

    /// False: a recording waits.
    public var isLive: Bool { false }

    /// Whether no speaker waits for it; a file that is replayed at a pace stands for a voice.
    ///
    /// Before it is opened, its name says whether it is a file.
    public var isStored: Bool { !clock.isHoldingBack && (audio?.isFile ?? isFile) }

    /// When the next period has been spoken.
    public var nextFrames: ContinuousClock.Instant? {
        audio.flatMap {
            clock.next(
                min(max(1, $0.format.framesPerPeriod), $0.frameCountBeforeBreak),
                after: $0.deliveredFrameCount)
        }
    }

    /// An oddity of the recording, or `nil`; final once `read` has said `.end`.
    public var warning: String? { audio?.warning }

    private enum Input {
        case path
        case playlist
        case descriptor(Int32, prefix: [UInt8], raw: StreamFormat?)
    }

    /// For the beginning of a pipe.
    static let headerWait = Duration.seconds(10)

    private let input: Input
    private let isFile: Bool
    private let converter: Converter?
    /// So that no program outlives a take that ends while this is opening.
    let awaited = AwaitedProgram()
    private var clock: ReplayClock
    private var audio: (any RecordedAudio)?
    private var isStopped = false

    /// Names a file, and looks at whether it is one; it is opened by `open`.
    ///
    /// - Parameters:
    ///   - path: a file, a FIFO or a device.
    ///   - pace: how fast it is replayed.
    public convenience init(path: String, pace: Pace = .realTime) {
        self.init(path: path, pace: pace, converter: nil)
    }

    /// Reads by the program what we do not; a playlist is one that utter has made, of files beside it.
    package convenience init(
        path: String, isPlaylist: Bool = false, pace: Pace = .realTime, converter: Converter? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        let clock = ReplayClock(pace: pace, now: now)
        self.init(isPlaylist ? .playlist : .path, name: path, clock, converter)
    }

    private init(_ input: Input, name: String, _ clock: ReplayClock, _ converter: Converter?) {
        self.input = input
        self.name = name
        isFile =
            switch input {
            case .path: OwnFile.isRegular(name)
            case .playlist: true
            case .descriptor: false
            }
        (self.converter, self.clock) = (converter, clock)
    }

    /// Opens the file, looks at its first bytes, and reads its header.
    ///
    /// Waits up to 10 s for the header of a FIFO.
    ///
    /// - Throws: `CaptureError` when there is no such file, or none that can be used.
    public func open() throws(CaptureError) -> StreamFormat {
        isStopped = false
        clock.schedule = nil
        let audio = try openAudio()
        self.audio = audio
        return audio.format
    }

    private func openAudio() throws(CaptureError) -> any RecordedAudio {
        var reader: ByteReader
        switch input {
        case .path: reader = try ByteReader(opening: name)
        case .descriptor(let descriptor, let prefix, let raw):
            reader = try ByteReader(descriptor: descriptor, name: name, prefix: prefix)
            if let raw { return try CodedAudio(.pcm, raw: raw, reading: reader, name: name) }
        case .playlist:
            guard let converter else { throw .foreignAudio(name: name, kind: "a playlist") }
            return try ForeignAudio(converter, playlist: name, awaited: awaited)
        }
        switch try type(of: &reader) {
        case .coded(let codec): return try CodedAudio(codec, reading: reader, name: name)
        case .foreign(let kind):
            guard let converter else { throw .foreignAudio(name: name, kind: kind) }
            return try ForeignAudio(
                converter, reading: reader, kind: kind, name: name, awaited: awaited)
        case .notSound(let kind): throw .notSound(name: name, kind: kind)
        // Any other file is refused for what it lacks of a WAV header.
        case .wav, .unknown, .undecided: return try CodedAudio(.wav, reading: reader, name: name)
        }
    }

    private func type(of reader: inout ByteReader) throws(CaptureError) -> InputType {
        var type = InputType([UInt8]().span)
        let isFile = reader.fileByteCount != nil
        while case .undecided(let wanted, _) = type {
            let deadline = ContinuousClock.now + Self.headerWait
            try reader.wait(for: "nothing", until: deadline) {
                reader throws(SystemError) in try reader.fill(wanted)
            }
            type = reader.withBytes(reader.byteCount) { InputType($0, isFile: isFile) }
            if reader.byteCount < wanted { break }
        }
        return type.settled
    }

    /// Delivers the periods that are due, or says when the next one is.
    public func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        guard !isStopped, let audio else { return .end }
        let room = frames.count / audio.format.channelCount
        let unit = min(room, max(1, audio.format.framesPerPeriod))
        precondition(unit > 0, "a capture buffer holds at least one frame")
        let grain = !audio.isRaw || clock.isHoldingBack ? unit : 1
        // Bytes that are read ahead beyond a period would be moved at each read.
        let most = isStored ? room : unit

        let available = try audio.prepare(most)
        let left = audio.frameCountBeforeBreak
        guard left > 0 else { return .end }
        // Less than a period is whole only at the end, and before a break.
        let step = min(grain, left)
        let delivered = audio.deliveredFrameCount
        let due = clock.dueFrameCount(sampleRate: audio.format.sampleRate) - delivered
        guard due >= step else { return .wait(.until(clock.instant(ofFrames: delivered + step))) }
        if let hole = audio.nextBreak, hole.lowerBound <= delivered {
            audio.skip(min(left, due))
            return .gap(frames: min(left, due))
        }
        guard available >= step else {
            return .wait(audio.deadline.map { .forDescriptorsOrUntil($0) } ?? .forDescriptors)
        }
        let whole = min(most, left, available, due)
        let count = whole == left ? left : whole / grain * grain
        audio.deliver(count, into: &frames)
        return .frames(count)
    }

    /// Adds the descriptor when reading it may have to wait.
    public func addDescriptors(to events: inout PolledDescriptors) {
        if !isStopped, let descriptor = audio?.descriptor { events.add(descriptor) }
    }

    /// Ends the source with what has been delivered.
    public func requestStop() { isStopped = true }

    /// Closes the file.
    public func close() {
        isStopped = true
        audio?.close()
    }
}

extension FileReplay {
    /// Replays samples from a descriptor, of which `prefix` was read before; the owner closes the
    /// descriptor after `close`.
    ///
    /// A raw format means signed 16-bit little-endian samples, and nothing is sniffed; nil means a
    /// file of any form.
    package static func samples(
        of descriptor: Int32, name: String, rawFormat: StreamFormat? = nil, pace: Pace,
        prefix: [UInt8] = [], converter: Converter? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) -> FileReplay {
        FileReplay(
            .descriptor(descriptor, prefix: prefix, raw: rawFormat), name: name,
            ReplayClock(pace: pace, now: now), converter)
    }
}
