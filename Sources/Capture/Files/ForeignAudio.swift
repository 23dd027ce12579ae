// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import Glibc
internal import LinuxPlatform
internal import Synchronization

/// A recording that the program `ffmpeg` decodes, at 16 kHz, with the channels that it has.
///
/// A pipe bounds what is in memory. The program is given a descriptor and no name, and may open
/// nothing else. Of several sounds in a file the first is taken that is not silent. What the program
/// complains of is repeated in its words.
final class ForeignAudio: RecordedAudio {
    let isFile: Bool
    private(set) var format = StreamFormat.speech
    private(set) var warning: String?
    private(set) var deliveredFrameCount = 0

    /// How many sounds of a file are listened to, and how much of each.
    private static let (mostSounds, longestSilence) = (8, Duration.seconds(600))

    private let converter: Converter
    private let input: Converter.Input
    private let (kind, name): (String, String)
    /// How long it may deliver nothing: of a pipe at first, of a file at any time.
    private let patience: Duration
    private let awaited: AwaitedProgram
    private var file: OwnedDescriptor?
    private var process: ChildProcess?
    private var output: OwnedDescriptor?
    private var complaints: OwnedDescriptor?
    private var samples: CodedAudio?
    private var lastNews = ContinuousClock.now
    private var isOver = false
    /// Frames of silence that were read ahead.
    private var silentFrames = 0

    /// Has an input decoded whose beginning is known; blocks until the program says what it delivers.
    init(
        _ converter: Converter, reading reader: consuming ByteReader, kind: String, name: String,
        patience: Duration = .seconds(60), awaited: AwaitedProgram = AwaitedProgram()
    ) throws(CaptureError) {
        (self.converter, self.kind, self.name) = (converter, kind, name)
        (self.awaited, self.patience) = (awaited, patience)
        isFile = reader.fileByteCount != nil
        let isWhole = reader.isWholeFile
        let isSpooled = !isWhole && ByteReader.kindsReadBackwards.contains(kind)
        input = isWhole || isSpooled ? .file : .pipe
        do throws(SystemError) {
            if isWhole {
                file = try reader.duplicate()
            } else {
                file = try isSpooled ? reader.spool() : reader.feed()
            }
        } catch {
            throw error.code == EFBIG
                ? .unusableAudio(
                    name: name, detail: "\(kind) of this size is read from a file, not from a pipe")
                : .cannotOpen(name: name, reason: error.reason)
        }
        try begin()
    }

    /// Has a playlist decoded that utter has made, of files beside it.
    init(
        _ converter: Converter, playlist: String, awaited: AwaitedProgram
    ) throws(CaptureError) {
        (self.converter, kind, name) = (converter, "a playlist", playlist)
        (self.awaited, patience) = (awaited, .seconds(60))
        (isFile, input) = (true, .playlist(playlist))
        try begin()
    }

    private func begin() throws(CaptureError) {
        defer { awaited.set(nil) }
        if case .file = input {
            for number in 0..<Self.mostSounds {
                do throws(CaptureError) {
                    try start(sound: number)
                    if try findsSound() { return }
                } catch {
                    guard number > 0 else { throw error }
                    // There are no more sounds.
                    break
                }
            }
        }
        try start(sound: 0)
    }

    private func start(sound: Int) throws(CaptureError) {
        awaited.set(nil)
        end()
        (silentFrames, isOver) = (0, false)
        let reading: Int32
        do throws(SystemError) {
            let ends = try makePipe()
            reading = ends.reading
            output = OwnedDescriptor(taking: reading)
            let writing = OwnedDescriptor(taking: ends.writing)
            let words = try makeMemoryFile()
            let standardInput = file?.number
            process = try ChildProcess(
                converter.path, converter.arguments(input, kind: kind, sound: sound),
                environment: converter.environment,
                input: standardInput.map { .shared($0) } ?? .nothing, output: .given(writing),
                error: .given(words.duplicate()), limits: Converter.limits)
            awaited.set(process?.number)
            complaints = consume words
        } catch {
            throw .cannotOpen(name: name, reason: "ffmpeg: \(error.reason)")
        }
        // The other end of a pipe learns from the program when nothing more is wanted.
        if case .pipe = input { file = nil }
        lastNews = .now
        guard waitUntilReadable(reading, by: lastNews + patience) else {
            throw isSilentTooLong
        }
        do throws(CaptureError) {
            let reader = try ByteReader(descriptor: reading, name: name, prefix: [])
            let samples = try CodedAudio(
                .wav, reading: reader, name: name, pipeByteCount: 16_384)
            (self.samples, format) = (samples, samples.format)
        } catch {
            throw try ending(by: .now + patience) ?? error
        }
    }

    private var isSilentTooLong: CaptureError {
        .readFailed(name: name, reason: "ffmpeg delivers nothing")
    }

    /// Reads silence ahead, and says whether anything else follows soon.
    private func findsSound() throws(CaptureError) -> Bool {
        var silence = 0
        defer { silentFrames = silence }
        while silence < format.frames(in: Self.longestSilence) {
            let there = try wait(forFrames: format.framesPerPeriod)
            guard there > 0, let silent = samples?.dropSilence() else { return false }
            (silence, lastNews) = (silence + silent, .now)
            guard silent == there else { return true }
        }
        return false
    }

    /// As `prepare`, but blocks until so many frames are there, or the last.
    func wait(forFrames count: Int) throws(CaptureError) -> Int {
        while true {
            let there = try prepare(count)
            guard there < count, frameCountLeft.map({ $0 > there }) ?? true else { return there }
            guard let descriptor else { return there }
            _ = waitUntilReadable(descriptor, by: deadline ?? .now + patience)
        }
    }

    // MARK: - What is there

    func prepare(_ count: Int) throws(CaptureError) -> Int {
        if silentFrames > 0 { return silentFrames }
        guard let samples, !isOver else { return 0 }
        let there = try samples.prepare(count)
        if there == 0, samples.frameCountLeft == 0 {
            if let error = try ending(by: .now + .milliseconds(1)) { throw error }
        } else if there == 0, let deadline, deadline <= .now {
            throw isSilentTooLong
        }
        return there
    }

    func deliver(_ count: Int, into frames: inout MutableSpan<Int16>) {
        (deliveredFrameCount, lastNews) = (deliveredFrameCount + count, .now)
        if silentFrames > 0 {
            silentFrames -= count
            for index in 0..<count * format.channelCount { frames[index] = 0 }
        } else {
            samples?.deliver(count, into: &frames)
        }
    }

    var frameCountLeft: Int? {
        if isOver { return 0 }
        guard let left = samples?.frameCountLeft else { return nil }
        // How the program ends is still to come.
        return left + silentFrames > 0 ? left + silentFrames : nil
    }

    /// What comes through a pipe may be as slow as speech once it has begun.
    var deadline: ContinuousClock.Instant? {
        if case .pipe = input, deliveredFrameCount > 0 { return nil }
        return lastNews + patience
    }

    var descriptor: Int32? {
        samples?.frameCountLeft == 0 ? process?.ending : output?.number
    }

    func close() {
        end()
        file = nil
    }

    private func end() {
        samples = nil
        process = nil
        output = nil
    }

    // MARK: - The end

    /// Why the program has ended, if it has; nil when it has read everything.
    private func ending(by deadline: ContinuousClock.Instant) throws(CaptureError) -> CaptureError?
    {
        let status: Int32?
        do throws(SystemError) {
            status = try process?.status(by: deadline)
        } catch {
            throw .readFailed(name: name, reason: "ffmpeg: \(error.reason)")
        }
        guard let status else { return nil }
        let hasDelivered = (samples?.deliveredFrameCount ?? 0) > 0
        let words = complaints?.lastWords ?? ""
        guard status == 0 else {
            let reason = "ffmpeg: \(words.isEmpty ? ChildProcess.end(by: status) : words)"
            return hasDelivered
                ? .readFailed(name: name, reason: reason)
                : .unusableAudio(name: name, detail: reason)
        }
        guard hasDelivered else {
            return .unusableAudio(name: name, detail: "ffmpeg finds no sound in it")
        }
        if !words.isEmpty { warning = "ffmpeg says of '\(name)': \(words)" }
        isOver = true
        return nil
    }
}

/// The program that a source waits for while it opens; any thread may give it up.
final class AwaitedProgram: Sendable {
    private let state = Mutex<(group: pid_t?, isGivenUp: Bool)>((nil, false))

    /// Names the process group of the next program, which has not been waited for; nil when there is
    /// none any more.
    func set(_ group: pid_t?) {
        state.withLock { state in
            state.group = group
            if state.isGivenUp, let group { _ = kill(-group, SIGKILL) }
        }
    }

    /// Kills the program that is awaited, or the next one.
    func giveUp() {
        state.withLock { state in
            state.isGivenUp = true
            if let group = state.group { _ = kill(-group, SIGKILL) }
        }
    }
}
