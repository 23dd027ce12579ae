// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import Glibc
internal import LinuxPlatform

/// A recording that the program `ffmpeg` decodes, at 16 kHz, with the channels that it has.
///
/// A pipe bounds what is in memory. The program is given a descriptor and no name, and may open
/// nothing else. A file may have several sounds: the first is taken that is not silent. The
/// program's complaints are repeated in its words.
final class ForeignAudio: RecordedAudio {
    private final class Running {
        var process: ChildProcess
        let output: OwnedDescriptor
        let complaints: OwnedDescriptor

        init(
            _ process: consuming ChildProcess, _ output: consuming OwnedDescriptor,
            _ complaints: consuming OwnedDescriptor
        ) {
            self.process = process
            self.output = output
            self.complaints = complaints
        }
    }

    let isFile: Bool
    private(set) var format = StreamFormat.speech
    private(set) var warning: String?
    private let oddity: String?
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
    private var running: Running?
    private var samples: CodedAudio?
    private var lastNews = ContinuousClock.now
    private var isOver = false
    /// Frames that were read ahead: silence, and a period or the end behind it.
    private var silentFrames = 0
    private var ahead: [Int16] = []

    /// Has an input decoded whose beginning is known; blocks until the program says what it delivers.
    init(
        _ converter: Converter, reading reader: consuming ByteReader, kind: String, name: String,
        patience: Duration = .seconds(60), awaited: AwaitedProgram = AwaitedProgram()
    ) throws(CaptureError) {
        (self.converter, self.kind, self.name) = (converter, kind, name)
        (self.awaited, self.patience) = (awaited, patience)
        isFile = reader.fileByteCount != nil
        oddity = Self.oddity(of: reader, named: name)
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
        (isFile, input, oddity) = (true, .playlist(playlist), nil)
        try begin()
    }

    private func begin() throws(CaptureError) {
        defer {
            awaited.set(nil)
            // The program has its own descriptor; this one is closed here, where its disk may be waited for.
            file = nil
        }
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
        (silentFrames, ahead, isOver, samples, running) = (0, [], false, nil, nil)
        do throws(SystemError) {
            let ends = try makePipe()
            let reading = OwnedDescriptor(taking: ends.reading)
            let writing = OwnedDescriptor(taking: ends.writing)
            let complaints = try makeMemoryFile()
            let standardInput = file?.number
            let process = try ChildProcess(
                converter.path, converter.arguments(input, kind: kind, sound: sound),
                environment: converter.environment(),
                input: standardInput.map { .shared($0) } ?? .nothing, output: .given(writing),
                error: .given(complaints.duplicate()), limits: Converter.limits)
            awaited.set(process.number)
            running = Running(process, reading, complaints)
        } catch {
            throw .cannotOpen(name: name, reason: "ffmpeg: \(error.reason)")
        }
        // The other end of a pipe learns from the program when nothing more is wanted.
        if case .pipe = input { file = nil }
        guard let running else { return }
        lastNews = .now
        guard waitUntilReadable(running.output.number, by: lastNews + patience) else {
            throw isSilentTooLong
        }
        do throws(CaptureError) {
            let reader = try ByteReader(
                descriptor: running.output.number, name: name, prefix: [])
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

    /// Reads silence ahead, and says whether anything else follows.
    private func findsSound() throws(CaptureError) -> Bool {
        let period = format.framesPerPeriod
        var silence = 0
        defer { silentFrames = silence }
        while silence < format.frames(in: Self.longestSilence) {
            let count = min(try wait(forFrames: period), period)
            guard count > 0 else { return false }
            let frames = take(count)
            lastNews = .now
            guard frames.allSatisfy({ $0 == 0 }) else {
                ahead = frames
                return true
            }
            silence += count
        }
        return false
    }

    private func take(_ count: Int) -> [Int16] {
        var frames = [Int16](repeating: 0, count: count * format.channelCount)
        var room = frames.mutableSpan
        samples?.deliver(count, into: &room)
        return frames
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

    private var aheadFrames: Int { ahead.count / format.channelCount }

    func prepare(_ count: Int) throws(CaptureError) -> Int {
        let held = silentFrames + aheadFrames
        guard let samples, !isOver, held < count else { return held }
        let there = try samples.prepare(count - held)
        if held > 0 {
            // The caller may wait for as many as it asks for.
            ahead += take(min(there, count - held))
            return silentFrames + aheadFrames
        }
        if there == 0, samples.frameCountLeft == 0 {
            if let error = try ending(by: .now) { throw error }
        } else if there == 0, let deadline, deadline <= .now {
            throw isSilentTooLong
        }
        return there
    }

    func deliver(_ count: Int, into frames: inout MutableSpan<Int16>) {
        (deliveredFrameCount, lastNews) = (deliveredFrameCount + count, .now)
        guard silentFrames > 0 || !ahead.isEmpty else {
            samples?.deliver(count, into: &frames)
            return
        }
        let silent = min(count, silentFrames)
        let (start, end) = (silent * format.channelCount, count * format.channelCount)
        for index in 0..<start { frames[index] = 0 }
        for index in start..<end { frames[index] = ahead[index - start] }
        silentFrames -= silent
        ahead.removeFirst(end - start)
    }

    var frameCountLeft: Int? {
        if isOver { return 0 }
        guard let left = samples?.frameCountLeft else { return nil }
        let all = left + silentFrames + aheadFrames
        // How the program ends is still to come.
        return all > 0 ? all : nil
    }

    /// A pipe may be as slow as speech once its sound has begun.
    var deadline: ContinuousClock.Instant? {
        if case .pipe = input, deliveredFrameCount > 0 { return nil }
        return lastNews + patience
    }

    var descriptor: Int32? {
        samples?.frameCountLeft == 0 ? running?.process.ending : running?.output.number
    }

    /// Waits for no program: one that reads from a disk that hangs cannot be killed.
    func close() {
        running?.process.leave()
        (samples, running) = (nil, nil)
    }

    deinit { close() }

    // MARK: - The end

    /// Why the program has ended, if it has; nil when it has read everything.
    private func ending(by deadline: ContinuousClock.Instant) throws(CaptureError) -> CaptureError?
    {
        guard let running else { return nil }
        let status: Int32?
        do throws(SystemError) {
            status = try running.process.status(by: deadline)
        } catch {
            throw .readFailed(name: name, reason: "ffmpeg: \(error.reason)")
        }
        guard let status else { return nil }
        let hasDelivered = (samples?.deliveredFrameCount ?? 0) > 0
        let words = running.complaints.lastWords
        guard status == 0 else {
            let reason = "ffmpeg: \(words.isEmpty ? ChildProcess.end(by: status) : words)"
            return hasDelivered
                ? .readFailed(name: name, reason: reason)
                : .unusableAudio(name: name, detail: reason)
        }
        guard hasDelivered else {
            return .unusableAudio(name: name, detail: "ffmpeg finds no sound in it")
        }
        let saying = words.isEmpty ? nil : "ffmpeg says of '\(name)': \(words)"
        let oddities = [oddity, saying].compactMap(\.self)
        if !oddities.isEmpty { warning = oddities.joined(separator: "; ") }
        isOver = true
        return nil
    }

    /// How the length that a WAV or AIFF file says differs from its own: the program may read no further,
    /// and does not say so.
    private static func oddity(of reader: borrowing ByteReader, named name: String) -> String? {
        let head = reader.unread
        let kind = String(decoding: head.dropFirst(8).prefix(4), as: UTF8.self)
        guard let there = reader.fileByteCount, reader.isWholeFile,
            ["WAVE", "AIFF", "AIFC"].contains(kind)
        else { return nil }
        let digits = kind == "WAVE" ? head[4..<8].reversed() : Array(head[4..<8])
        let said = digits.reduce(0) { $0 << 8 | Int($1) } + 8
        // Programs that stream, or were killed, have left a length that stands for none.
        guard said > 4_096, said < 0x7FFF_0000 else { return nil }
        if there > said + 1_024 {
            return "'\(name)' has \(there - said) bytes behind the end that its header gives, "
                + "which ffmpeg may leave out"
        }
        if there < said { return "'\(name)' ends \(said - there) bytes before its header says so" }
        return nil
    }
}
