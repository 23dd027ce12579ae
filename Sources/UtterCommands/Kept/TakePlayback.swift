// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import Utter
internal import UtterTerminal

/// Plays one take by a program that is installed, obeys signals, and shows how far it has come.
///
/// The program reads a WAV file from its standard input.
final class TakePlayback: Sendable {
    /// For how long a program may take no sound, or go on when it has all of it.
    private static let patience = Duration.seconds(10)

    /// `F_SETPIPE_SZ` of <fcntl.h>, which Swift does not import.
    private static let setPipeSize: Int32 = 1_031

    private let device: String?
    private let screen: StatusScreen
    private let stop: Wakeup
    private let farewell = Mutex<ExitStatus?>(nil)

    /// Begins to obey signals; to be made once in a program.
    ///
    /// A device has a name of ALSA's, which `aplay` alone understands; nil is the usual one.
    init(on device: String?, isQuiet: Bool) throws(CommandFailure) {
        self.device = device
        screen = StandardError.isTerminal && !isQuiet ? StatusScreen(isLive: true) : .silent
        stop = try orFailure { try Wakeup() }
        let signals = try orFailure { try Signals(readingPipe: false) }
        signals.handle { [self] request in
            // Playing ends at once, whatever asks for it.
            farewell.withLock { if $0 == nil { $0 = request.status } }
            stop.signal()
        }
    }

    /// Plays a take to its end, or until a signal; what comes before a damaged place is heard.
    ///
    /// Blocks on the disk, and on the program.
    ///
    /// - Returns: how the process should exit.
    func play(
        _ take: KeptTake, of spool: Spool
    ) throws(CommandFailure) -> ExitStatus {
        defer { screen.end() }
        var source = try orFailure { try spool.samples(of: take) }
        if let report = source.damageReport { StandardError.line("warning: not whole: \(report)") }
        var samples: [Int16] = []
        guard try read(&source, &samples) else {
            throw CommandFailure(
                "take \(take.id.text) has no sound in it", status: .unusableAudio)
        }
        let player = try player()
        let heard = try orFailure {
            try run(player, &source, &samples, length: take.length ?? .zero)
        }
        if let status = farewell.withLock({ $0 }) { return status }
        if let failure = heard.failure ?? heard.damage { throw failure }
        return .textPrinted
    }

    /// Runs the program.
    ///
    /// - Returns: what of the take could not be read, and why the program has failed.
    private func run(
        _ player: (path: String, words: [String]), _ source: inout TakeSamples,
        _ samples: inout [Int16], length: Duration
    ) throws(SystemError) -> (damage: CommandFailure?, failure: CommandFailure?) {
        let (path, words) = player
        let complaints = try makeMemoryFile()
        let ends = try makePipe()
        let reading = OwnedDescriptor(taking: ends.reading)
        let pipe = OwnedDescriptor(taking: ends.writing)
        // What waits in the pipe is shown as heard.
        _ = fcntl(pipe.number, Self.setPipeSize, 4_096)
        _ = fcntl(pipe.number, F_SETFL, O_NONBLOCK)
        var process = try ChildProcess(
            path, words, environment: ScrubbedEnvironment.entries(), input: .given(reading),
            error: .given(complaints.duplicate()))
        var damage: CommandFailure?
        do throws(CommandFailure) {
            try feed(&source, &samples, length: length, to: pipe)
        } catch {
            damage = error
        }
        let deadline = ContinuousClock.now + Self.patience
        guard process.waitUntilOver(orReadable: stop.descriptor, by: deadline),
            farewell.withLock({ $0 }) == nil, let status = try process.status(by: deadline)
        else { return (damage, failure(of: words[0], "it does not go on")) }
        if status == 0 { return (damage, nil) }
        let complaint = FFmpegDecoder.words(in: complaints.number)
        return (
            damage,
            failure(
                of: words[0],
                complaint.isEmpty ? "it ended with status \(status >> 8)" : complaint)
        )
    }

    /// The first program that is installed, and what it is called with.
    private func player() throws(CommandFailure) -> (path: String, words: [String]) {
        let programs =
            device.map { [["aplay", "-q", "-D", $0, "-"]] }
            ?? [["pw-play", "-"], ["paplay"], ["aplay", "-q", "-"]]
        let found = programs.compactMap { words in
            words.first.flatMap { DesktopTool.path(of: $0) }.map { (path: $0, words: words) }
        }
        guard let player = found.first else {
            throw CommandFailure(
                device == nil
                    ? "no program that plays sound is installed: pw-play, paplay or aplay"
                    : "the program aplay, which plays on a device of ALSA's, is not installed",
                hint: "install one: sudo apt install alsa-utils; or copy the audio with: "
                    + "utter export last FILE", status: .configuration)
        }
        return player
    }

    private func failure(of program: String, _ reason: String) -> CommandFailure {
        CommandFailure("\(program): \(reason)", hint: Hints.notPlayed, status: .noInput)
    }

    private func read(
        _ source: inout TakeSamples, _ samples: inout [Int16]
    ) throws(CommandFailure) -> Bool {
        try orFailure { try source.next(into: &samples) }
    }

    /// Gives the program what it reads, and closes the pipe.
    private func feed(
        _ source: inout TakeSamples, _ samples: inout [Int16], length: Duration,
        to pipe: consuming OwnedDescriptor
    ) throws(CommandFailure) {
        let number = pipe.number
        defer { withExtendedLifetime(pipe) {} }
        let total = StatusLine.clock(length)
        let encoder = AudioCodec.makeWAVEncoder()
        var (bytes, byteCount) = ([UInt8](), 0)
        // That of WAV throws nothing.
        try? encoder.begin(into: &bytes)
        repeat {
            try? encoder.encode(samples.span, into: &bytes)  // The same.
            var rest = bytes[...]
            while !rest.isEmpty {
                guard let count = write(rest, to: number) else { return }
                rest = rest.dropFirst(count)
                byteCount += count
                let position = StatusLine.clock(.milliseconds(byteCount / 32))
                let fact = ScreenState.Fact.text(["\(position) / \(total)", position])
                screen.show(ScreenState("play", facts: [fact]))
            }
            bytes = []
        } while try read(&source, &samples)
    }

    /// Waits until the program takes some; nil when it takes no more, or a signal has come.
    private func write(_ bytes: ArraySlice<UInt8>, to pipe: Int32) -> Int? {
        var events = [
            pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: pipe, events: Int16(POLLOUT), revents: 0),
        ]
        let limit = Int32(Self.patience / .milliseconds(1))
        guard unsafe poll(&events, 2, limit) > 0, events[0].revents == 0 else { return nil }
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.write(pipe, $0.baseAddress, $0.count)
        }
        // Why it has ended it says itself.
        return count >= 0 ? count : errno == EAGAIN || errno == EINTR ? 0 : nil
    }
}
