// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Utter

/// What the program `ffmpeg` makes of a recording: raw samples from a pipe, 16 kHz mono.
///
/// The pipe bounds what is in memory. The program may read that one input and nothing else, as some
/// forms name other files and servers. What it complains of is repeated in its words.
///
/// A source belongs to one capture thread after `open`, which is why `Sendable` is stated
/// unchecked: it is handed over whole and never shared.
final class FFmpegDecoder: CaptureSource, @unchecked Sendable {
    enum Input: Sendable {
        case file(String)
        /// A file that a server has made: it may be a recording, and nothing that names other files.
        case fetched(String)
        /// A playlist that utter has made, of files beside it.
        case playlist(String)
        /// A descriptor that stays open, of which these bytes have been read.
        case pipe(Int32, prefix: [UInt8])
    }

    static var program: String? { DesktopTool.path(of: "ffmpeg") }

    /// How long it may deliver nothing: of a pipe at first, of a file at any time.
    private let patience: Duration

    private final class Running {
        var process: ChildProcess
        let samples: OwnedDescriptor
        let complaints: OwnedDescriptor
        let reader: any CaptureSource

        init(
            _ process: consuming ChildProcess, _ samples: consuming OwnedDescriptor,
            _ complaints: consuming OwnedDescriptor, name: String, pace: Pace
        ) {
            reader = FileReplay.samples(
                of: samples.number, name: name, rawFormat: .speech, pace: pace)
            self.process = process
            self.samples = samples
            self.complaints = complaints
        }
    }

    let name: String
    let isLive = false
    private(set) var warning: String?

    private let program: String
    private let input: Input
    private let pace: Pace
    private var running: Running?
    private var hasDelivered = false
    private var isReadOut = false
    private var isStopped = false
    private var lastNews = ContinuousClock.now

    init(
        _ program: String, _ input: Input, name: String, pace: Pace,
        patience: Duration = .seconds(60)
    ) {
        (self.program, self.input, self.name, self.pace) = (program, input, name, pace)
        self.patience = patience
    }

    /// A file stays where it is while it is decoded.
    var isStored: Bool {
        if case .pipe = input { false } else { pace == .unpaced }
    }

    func open() throws(CaptureError) -> StreamFormat {
        let running: Running
        do throws(SystemError) {
            let samples = try makePipe()
            let reading = OwnedDescriptor(taking: samples.reading)
            let writing = OwnedDescriptor(taking: samples.writing)
            let complaints = try makeMemoryFile()
            var source = "pipe:0"
            var feed = ChildProcess.Stream.nothing
            switch input {
            case .file(let path), .fetched(let path), .playlist(let path): source = "file:" + path
            case .pipe(STDIN_FILENO, let prefix) where Self.rewind(STDIN_FILENO, prefix.count):
                // Some forms say at their end where the sound is: a file is read as one.
                source = "file:/dev/stdin"
                feed = .shared(STDIN_FILENO)
            case .pipe(let number, let prefix): feed = try Self.feed(prefix, of: number)
            }
            let process = try ChildProcess(
                program, ["ffmpeg"] + Self.arguments(source, input),
                environment: ScrubbedEnvironment.entries(), input: feed, output: .given(writing),
                error: .given(complaints.duplicate()))
            running = Running(process, reading, complaints, name: name, pace: pace)
        } catch {
            throw .cannotOpen(name: name, reason: "ffmpeg: \(error.reason)")
        }
        self.running = running
        lastNews = .now
        return try running.reader.open()
    }

    /// Goes back to the beginning of a file of which this much has been read; false for a pipe.
    private static func rewind(_ descriptor: Int32, _ count: Int) -> Bool {
        guard lseek(descriptor, 0, SEEK_CUR) == off_t(count) else { return false }
        return lseek(descriptor, 0, SEEK_SET) == 0
    }

    /// The forms of recordings, as ffmpeg calls them.
    private static let forms =
        "aac,ac3,aiff,amr,ape,asf,au,avi,caf,eac3,flac,flv,matroska,webm,mov,mp3,mp4,mpeg,mpegts,ogg,"
        + "tta,w64,wav,wv"

    private static func arguments(_ source: String, _ input: Input) -> [String] {
        let limits: [String] =
            switch input {
            case .file, .pipe: ["-protocol_whitelist", "file,pipe"]
            case .fetched: ["-protocol_whitelist", "file", "-format_whitelist", forms]
            case .playlist:
                ["-protocol_whitelist", "file", "-format_whitelist", forms + ",hls"]
            }
        return ["-hide_banner", "-nostdin", "-loglevel", "error"] + limits + [
            "-i", source, "-map", "0:a:0", "-f", "s16le", "-acodec", "pcm_s16le", "-ac", "1",
            "-ar", "16000", "pipe:1",
        ]
    }

    /// Copies a pipe to the program, on a thread that ends with either of them.
    private static func feed(
        _ prefix: [UInt8], of source: Int32
    ) throws(SystemError) -> ChildProcess.Stream {
        let ends = try makePipe()
        let reading = OwnedDescriptor(taking: ends.reading)
        do throws(SystemError) {
            _ = try NamedThread(name: "feed") {
                copy(prefix, from: source, to: OwnedDescriptor(taking: ends.writing))
            }
        } catch {
            _ = Glibc.close(ends.writing)
            throw error
        }
        return .given(reading)
    }

    private static func copy(
        _ prefix: [UInt8], from source: Int32, to end: consuming OwnedDescriptor
    ) {
        let number = end.number
        defer { withExtendedLifetime(end) {} }
        var bytes = prefix[...]
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if bytes.isEmpty {
                // What cannot be read is the end.
                let count = try? retryingInterrupts("read") {
                    unsafe Glibc.read(source, &buffer, buffer.count)
                }
                guard let count, count > 0 else { return }
                bytes = buffer[..<count]
            }
            let present = bytes
            // A program that has ended reads no more, and says why itself.
            let written = try? retryingInterrupts("write") {
                unsafe present.withUnsafeBytes { unsafe write(number, $0.baseAddress, $0.count) }
            }
            guard let written else { return }
            bytes = bytes.dropFirst(written)
        }
    }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        guard let running, !isStopped else { return .end }
        if !isReadOut {
            let read = try running.reader.read(into: &frames)
            switch read {
            case .frames:
                (hasDelivered, lastNews) = (true, .now)
                return read
            case .wait(.forDescriptors):
                // What comes through a pipe may be as slow as speech once it has begun.
                if case .pipe = input, hasDelivered { return read }
                let limit = lastNews + patience
                guard limit > .now else {
                    throw .readFailed(name: name, reason: "ffmpeg delivers nothing")
                }
                return .wait(.forDescriptorsOrUntil(limit))
            case .end: isReadOut = true
            default: return read
            }
        }
        return try end(of: running)
    }

    private func end(of running: Running) throws(CaptureError) -> SourceRead {
        let status: Int32?
        do throws(SystemError) {
            status = try running.process.status(by: .now + .milliseconds(1))
        } catch {
            throw .readFailed(name: name, reason: "ffmpeg: \(error.reason)")
        }
        guard let status else {
            // It has closed its output, and ends in no time.
            return .wait(.until(.now + .milliseconds(5)))
        }
        let words = Self.words(in: running.complaints.number)
        guard status == 0 else {
            let reason = "ffmpeg: \(words.isEmpty ? "it ended with status \(status >> 8)" : words)"
            if hasDelivered { throw .readFailed(name: name, reason: reason) }
            throw .unusableAudio(name: name, detail: reason)
        }
        guard hasDelivered else {
            // Most MP4 files say at their end where the sound is, and a pipe has no way back.
            var isLost = false
            if case .pipe(_, let prefix) = input {
                isLost = prefix.dropFirst(4).starts(with: "ftyp".utf8)
            }
            throw .unusableAudio(
                name: name,
                detail: "ffmpeg finds no sound in it"
                    + (isLost ? "; MP4 is read from a file, not from a pipe" : ""))
        }
        if !words.isEmpty { warning = "ffmpeg says of '\(name)': \(words)" }
        return .end
    }

    func appendPollDescriptors(to descriptors: inout [pollfd]) {
        running?.reader.appendPollDescriptors(to: &descriptors)
    }

    func requestStop() { isStopped = true }

    func close() {
        running?.reader.close()
        running = nil
    }

    /// The last thing that the program has complained of.
    static func words(in descriptor: Int32) -> String {
        let limit = 2_048
        var buffer = [UInt8](repeating: 0, count: limit)
        let size = lseek(descriptor, 0, SEEK_END)
        let count = unsafe pread(descriptor, &buffer, limit, max(0, size - off_t(limit)))
        let lines = buffer.prefix(max(0, count)).split(separator: 0x0A)
        return lines.last.map { TerminalText.excerpt(of: $0) } ?? ""
    }
}

/// A recording in a file of any form: read by us where we can, by the program `ffmpeg` otherwise.
///
/// A source belongs to one capture thread after `open`, which is why `Sendable` is stated
/// unchecked: it is handed over whole and never shared.
final class ConvertedFile: CaptureSource, @unchecked Sendable {
    let name: String
    let isLive = false

    private let pace: Pace
    private let isFetched: Bool
    private var source: any CaptureSource

    init(path: String, pace: Pace, isFetched: Bool = false) {
        (name, self.pace, self.isFetched) = (path, pace, isFetched)
        source = FileReplay(path: path, pace: pace)
    }

    var isStored: Bool { source.isStored }

    var warning: String? { source.warning }

    func open() throws(CaptureError) -> StreamFormat {
        do throws(CaptureError) {
            return try source.open()
        } catch {
            // A pipe has been read from already.
            guard case .foreignAudio = error, OwnFile.isRegular(name),
                let program = FFmpegDecoder.program
            else { throw error }
            source.close()
            source = FFmpegDecoder(
                program, isFetched ? .fetched(name) : .file(name), name: name, pace: pace)
            return try source.open()
        }
    }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        try source.read(into: &frames)
    }

    func appendPollDescriptors(to descriptors: inout [pollfd]) {
        source.appendPollDescriptors(to: &descriptors)
    }

    func requestStop() { source.requestStop() }

    func close() { source.close() }
}
