// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import Utter
import UtterTerminal

/// Audio on standard input: a WAV file when it begins like one, otherwise raw samples.
enum StandardInput {
    private static let name = "standard input"

    /// Waits for the first bytes and makes the source that fits them.
    ///
    /// - Parameters:
    ///   - pace: how fast a WAV file is replayed.
    ///   - rawFormat: the layout of raw samples.
    ///   - isOver: whether a signal has ended the program; asked while waiting.
    /// - Returns: the source.
    /// - Throws: `CommandFailure` when nobody will send anything there.
    static func source(
        pace: Pace, rawFormat: StreamFormat, isOver: () -> Bool
    ) throws(CommandFailure) -> any CaptureSource {
        guard isatty(STDIN_FILENO) == 0 else {
            throw CommandFailure(
                "standard input is a terminal, where no audio comes from",
                hint: "pipe it in: arecord -t raw -f S16_LE -r 16000 | utter send -",
                status: .noInput)
        }
        let prefix = firstBytes(unless: isOver)
        guard !prefix.isEmpty else {
            throw CommandFailure(
                "standard input is empty",
                hint: "look at what the program before the pipe says", status: .unusableAudio)
        }
        if WAVReplay.recognises(prefix.span) {
            return WAVReplay(
                descriptor: STDIN_FILENO, name: name, pace: pace, prefix: prefix)
        }
        return RawInput(
            descriptor: STDIN_FILENO, name: name, format: rawFormat, prefix: prefix)
    }

    /// The first four bytes, or fewer at the end of the input.
    ///
    /// Signals do what they always do meanwhile: nothing has been heard that could be lost. One
    /// that came just before has been taken by the thread of the signals, and is asked for.
    private static func firstBytes(unless isOver: () -> Bool) -> [UInt8] {
        Signals.unblock()
        defer { Signals.block() }
        var bytes = [UInt8](repeating: 0, count: 4)
        var count = 0
        while count < bytes.count {
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            let isReady = unsafe poll(&input, 1, 100) != 0
            if isOver() { return [] }
            guard isReady else { continue }
            // What cannot be read at all has nothing in it.
            let found = try? retryingInterrupts("read") {
                unsafe bytes.withUnsafeMutableBytes { buffer in
                    unsafe read(
                        STDIN_FILENO, buffer.baseAddress.map { unsafe $0 + count },
                        buffer.count - count)
                }
            }
            guard let found, found > 0 else { break }
            count += found
        }
        return Array(bytes[..<count])
    }
}
