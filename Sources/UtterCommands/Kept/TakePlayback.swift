// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import Utter
internal import UtterTerminal

/// Plays one take by a program that is installed, obeys signals, and shows how far it has come.
final class TakePlayback: Sendable {
    /// `F_SETPIPE_SZ` of <fcntl.h>, which Swift does not import.
    private static let setPipeSize: Int32 = 1_031

    private let device: String?
    private let screen: StatusScreen
    private let stop: Wakeup
    private let farewell = Mutex<ExitStatus?>(nil)

    /// Begins to obey signals; to be made once in a program.
    ///
    /// A device has a name of ALSA's, which `aplay` alone understands; nil: the usual one.
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
    func play(_ take: KeptTake, of spool: Spool) throws(CommandFailure) -> ExitStatus {
        defer { screen.end() }
        var source = try orFailure { try spool.samples(of: take) }
        if let report = source.damageReport { StandardError.line("warning: not whole: \(report)") }
        var samples: [Int16] = []
        guard try orFailure({ try source.next(into: &samples) }) else {
            throw CommandFailure(
                "take \(take.id.text) has no sound in it", status: .unusableAudio)
        }
        var failure: CommandFailure?
        do throws(CommandFailure) {
            failure = try play(&source, &samples, length: take.length ?? .zero)
        } catch {
            failure = error
        }
        if let status = farewell.withLock({ $0 }) { return status }
        if let failure { throw failure }
        return .textPrinted
    }

    /// Feeds the program by a pipe; what of the take could not be read.
    private func play(
        _ source: inout TakeSamples, _ samples: inout [Int16], length: Duration
    ) throws(CommandFailure) -> CommandFailure? {
        let player = try SoundPlayer(on: device)
        let ends = try orFailure { try makePipe() }
        let reading = OwnedDescriptor(taking: ends.reading)
        var pipe: OwnedDescriptor? = OwnedDescriptor(taking: ends.writing)
        // Sound that waits in the pipe is shown as heard.
        _ = fcntl(ends.writing, Self.setPipeSize, 4_096)
        _ = fcntl(ends.writing, F_SETFL, O_NONBLOCK)
        var damage: CommandFailure?
        try player.play(reading, unless: stop) {
            do throws(CommandFailure) {
                try feed(&source, &samples, length: length, to: ends.writing)
            } catch {
                damage = error
            }
            _ = pipe.take()
        }
        return damage
    }

    private func feed(
        _ source: inout TakeSamples, _ samples: inout [Int16], length: Duration,
        to pipe: Int32
    ) throws(CommandFailure) {
        let total = StatusLine.clock(length)
        let encoder = AudioCodec.makeWAVEncoder()
        var (bytes, byteCount) = ([UInt8](), 0)
        // That of WAV throws nothing.
        try? encoder.begin(into: &bytes)
        repeat {
            try? encoder.encode(samples.span, into: &bytes)  // The same.
            var rest = bytes[...]
            while !rest.isEmpty {
                guard let count = write(rest, to: pipe) else { return }
                rest = rest.dropFirst(count)
                byteCount += count
                let position = StatusLine.clock(.milliseconds(byteCount / 32))
                let fact = ScreenState.Fact.text(["\(position) / \(total)", position])
                screen.show(ScreenState("play", facts: [fact]))
            }
            bytes = []
        } while try orFailure({ try source.next(into: &samples) })
    }

    /// Waits until the program takes some; nil when it takes no more, or a signal has come.
    private func write(_ bytes: ArraySlice<UInt8>, to pipe: Int32) -> Int? {
        var events = [
            pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: pipe, events: Int16(POLLOUT), revents: 0),
        ]
        let limit = Int32(SoundPlayer.patience / .milliseconds(1))
        guard unsafe poll(&events, 2, limit) > 0, events[0].revents == 0 else { return nil }
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.write(pipe, $0.baseAddress, $0.count)
        }
        // Why it has ended it says itself.
        return count >= 0 ? count : errno == EAGAIN || errno == EINTR ? 0 : nil
    }
}
