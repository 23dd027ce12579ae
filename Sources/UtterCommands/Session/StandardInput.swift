// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import Utter
internal import UtterTerminal

/// Audio on standard input: a file when it begins like one, otherwise raw samples.
enum StandardInput {
    static let name = "standard input"

    /// Waits for the first bytes, and says how to make the source that fits them.
    ///
    /// Bytes that cannot be sound are refused unless raw samples are said to come; where a file comes
    /// in their place, a line above the screen says so. `isOver` is asked meanwhile: whether a signal
    /// has ended the program.
    static func source(
        pace: Pace, rawFormat: StreamFormat, isSaidToBeRaw: Bool, on screen: StatusScreen,
        isOver: () -> Bool
    ) throws(CommandFailure) -> @Sendable () -> any CaptureSource {
        let input = ProgramStart.current.input
        guard isatty(input) == 0 else {
            throw CommandFailure(
                "standard input is a terminal, where no audio comes from",
                hint: "pipe it in: arecord -t raw -f S16_LE -r 16000 | utter send -",
                status: .noInput)
        }
        let (prefix, type) = try firstBytes(unless: isOver)
        guard !prefix.isEmpty else {
            throw CommandFailure(
                "standard input is empty",
                hint: "look at what the program before the pipe says", status: .unusableAudio)
        }
        let isRaw = if case .unknown = type { true } else { type.isNeverSound && isSaidToBeRaw }
        if isSaidToBeRaw, !isRaw {
            screen.write {
                StandardError.line(
                    "warning: --rate and --channels do not count: standard input begins like a "
                        + "file, which says both itself")
            }
        }
        return {
            FileReplay.samples(
                of: input, name: name, rawFormat: isRaw ? rawFormat : nil, pace: pace,
                prefix: prefix, converter: .installed)
        }
    }

    /// As many bytes as it takes to tell what they are, or fewer at the end of the input.
    ///
    /// Signals do what they always do meanwhile: nothing has been heard that could be lost. The
    /// thread of the signals has taken a signal that came just before, and is asked for it.
    private static func firstBytes(
        unless isOver: () -> Bool
    ) throws(CommandFailure) -> ([UInt8], InputType) {
        Signals.unblock()
        defer { Signals.block() }
        var bytes: [UInt8] = []
        var type = InputType(bytes.span)
        while case .undecided(let wanted, _) = type {
            var input = pollfd(fd: ProgramStart.current.input, events: Int16(POLLIN), revents: 0)
            let isReady = unsafe poll(&input, 1, 100) != 0
            if isOver() { return ([], type) }
            guard isReady else { continue }
            var more = [UInt8](repeating: 0, count: wanted - bytes.count)
            let found: Int
            do throws(SystemError) {
                found = try retryingInterrupts("read") {
                    unsafe read(ProgramStart.current.input, &more, more.count)
                }
            } catch {
                throw CommandFailure(
                    "standard input cannot be read: \(error.reason)",
                    hint: "look at where it comes from", status: .noInput)
            }
            guard found > 0 else { break }
            bytes += more[..<found]
            type = InputType(bytes.span)
        }
        return (bytes, type.settled)
    }
}
