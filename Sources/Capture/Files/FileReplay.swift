// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
public import AudioCore
public import Glibc
internal import LinuxPlatform

/// What there is in an input, from its first sample on.
protocol Replay: AnyObject {
    var format: StreamFormat { get }
    var isStored: Bool { get }
    var nextFrames: ContinuousClock.Instant? { get }
    var warning: String? { get }

    /// What to poll; nil for a file.
    var pipe: Int32? { get }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead

    /// A descriptor that was given stays open.
    func close()
}

/// A recording in a file, replayed as if it were being spoken: in any form that we have, by
/// its first bytes.
///
/// A source belongs to one capture thread after `open`, which is why `Sendable` is stated
/// unchecked: it is handed over whole and never shared.
public final class FileReplay: CaptureSource, @unchecked Sendable {
    /// The path.
    public let name: String

    /// False: a recording waits.
    public var isLive: Bool { false }

    /// Whether no speaker waits for it; a file that is replayed at a pace stands for a voice.
    public var isStored: Bool { replay?.isStored ?? false }

    /// When the next period has been spoken.
    public var nextFrames: ContinuousClock.Instant? { replay?.nextFrames }

    /// What was odd about the recording, or `nil`; final once `read` has said `.end`.
    public var warning: String? { replay?.warning }

    private enum Input {
        case path
        case samples(Int32, prefix: [UInt8], StreamFormat?)
        case coded(AudioCodec, Int32, prefix: [UInt8])
    }

    private let input: Input
    private let clock: ReplayClock
    private var replay: (any Replay)?
    private var isStopped = false

    /// Names a file; it is opened by `open`.
    ///
    /// - Parameters:
    ///   - path: a file, a FIFO or a device.
    ///   - pace: how fast it is replayed.
    public convenience init(path: String, pace: Pace = .realTime) {
        self.init(path: path, pace: pace) { .now }
    }

    convenience init(
        path: String, pace: Pace = .realTime,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.init(.path, name: path, ReplayClock(pace: pace, now: now))
    }

    private init(_ input: Input, name: String, _ clock: ReplayClock) {
        self.input = input
        self.name = name
        self.clock = clock
    }

    /// Opens the file, looks at its first bytes, and reads its header.
    ///
    /// Waits up to 10 s for the header of a FIFO.
    ///
    /// - Throws: `CaptureError` when there is no such file, or none that can be used.
    public func open() throws(CaptureError) -> StreamFormat {
        isStopped = false
        let replay = try makeReplay()
        self.replay = replay
        return replay.format
    }

    private func makeReplay() throws(CaptureError) -> any Replay {
        switch input {
        case .path:
            var reader = try ByteReader(opening: name)
            switch try type(of: &reader) {
            case .coded(let codec):
                return try CodedReplay(codec, reading: reader, name: name, clock: clock)
            case .foreign(let kind): throw .foreignAudio(name: name, kind: kind)
            // What is wrong with any other file is what a WAV header lacks.
            case .wav, .unknown, .undecided:
                return try PCMReplay(reading: reader, name: name, clock: clock)
            }
        case .samples(let descriptor, let prefix, let rawFormat):
            let reader = try ByteReader(descriptor: descriptor, name: name, prefix: prefix)
            return try PCMReplay(reading: reader, name: name, rawFormat: rawFormat, clock: clock)
        case .coded(let codec, let descriptor, let prefix):
            let reader = try ByteReader(descriptor: descriptor, name: name, prefix: prefix)
            return try CodedReplay(codec, reading: reader, name: name, clock: clock)
        }
    }

    private func type(of reader: inout ByteReader) throws(CaptureError) -> InputType {
        var type = InputType([UInt8]().span)
        while case .undecided(let wanted) = type {
            let deadline = ContinuousClock.now + PCMReplay.headerWait
            try reader.wait(for: "nothing", until: deadline) {
                reader throws(SystemError) in try reader.fill(wanted)
            }
            type = reader.withBytes(reader.byteCount) { InputType($0) }
            if reader.byteCount < wanted { break }
        }
        return type
    }

    /// Delivers the periods that are due, or says when the next one is.
    public func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        guard !isStopped else { return .end }
        return try replay?.read(into: &frames) ?? .end
    }

    /// Adds the descriptor when reading it may have to wait.
    public func appendPollDescriptors(to descriptors: inout [pollfd]) {
        guard !isStopped, let pipe = replay?.pipe else { return }
        descriptors.append(pollfd(fd: pipe, events: Int16(POLLIN), revents: 0))
    }

    /// Ends the source with what has been delivered.
    public func requestStop() { isStopped = true }

    /// Closes the file.
    public func close() { replay?.close() }
}

extension FileReplay {
    /// Replays samples from a descriptor, of which `prefix` was read before; the owner closes the
    /// descriptor after `close`.
    ///
    /// A raw format means signed 16-bit little-endian samples; nil means a WAV file. Nothing is
    /// sniffed: a header would sound like a click.
    package static func samples(
        of descriptor: Int32, name: String, rawFormat: StreamFormat? = nil, pace: Pace,
        prefix: [UInt8] = [], now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) -> FileReplay {
        FileReplay(
            .samples(descriptor, prefix: prefix, rawFormat), name: name,
            ReplayClock(pace: pace, now: now))
    }

    /// Replays what has to be decoded, as `samples` does the rest.
    package static func decoding(
        _ codec: AudioCodec, of descriptor: Int32, name: String, pace: Pace, prefix: [UInt8] = [],
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) -> FileReplay {
        FileReplay(
            .coded(codec, descriptor, prefix: prefix), name: name,
            ReplayClock(pace: pace, now: now))
    }
}
