// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import Utter
internal import UtterTerminal

/// Plays a short tone when a recording has begun, and a lower one when it has ended, on a thread of
/// its own.
///
/// Nothing waits for it: the microphone is on before the first tone, and off before the second. The
/// first may be heard in the recording.
final class CuePlayer: Sendable {
    /// Each by its frequency in Hz.
    private enum Cue: Double {
        case began = 880
        case ended = 587
        case failed = 294
    }

    private struct State {
        var due: [Cue] = []
        var isOver = false
    }

    private static let rate = 16_000
    private static let farewell = Duration.seconds(1)

    private let state = Mutex(State())
    private let thread = Mutex<NamedThread?>(nil)
    private let wakeup: Wakeup
    private let abort: Wakeup
    private let done: Wakeup

    /// - Throws: `SystemError` when the process has no descriptor left.
    init() throws(SystemError) {
        (wakeup, abort, done) = (try Wakeup(), try Wakeup(), try Wakeup())
    }

    /// Plays that nothing begins, where tones are wanted.
    static func playFailure(_ output: OutputOptions) {
        // Without a descriptor there is no tone.
        guard output.cue, let player = try? CuePlayer() else { return }
        player.prepare { StandardError.line("warning: \($0)") }
        player.order(.failed)
        player.finish()
    }

    /// Looks for the program that plays, once, on the thread that will run it.
    func prepare(warning: @escaping @Sendable (String) -> Void) {
        thread.withLock { thread in
            guard thread == nil else { return }
            // Without a thread there is no tone, which is no reason not to record.
            thread = try? NamedThread(name: "cue") { [self] in
                run(warning)
                done.signal()
            }
        }
    }

    func note(_ event: TakeEvent) {
        switch event {
        case .began: order(.began)
        case .captured: order(.ended)
        default: break
        }
    }

    /// Waits for the last tone, though not for long.
    func finish() {
        guard let thread = thread.withLock({ $0 }) else { return }
        state.withLock { $0.isOver = true }
        wakeup.signal()
        done.wait(.until(.now + Self.farewell))
        abort.signal()
        thread.join()
    }

    private func order(_ cue: Cue) {
        // Where no tone can be played, none waits.
        guard thread.withLock({ $0 != nil }) else { return }
        state.withLock { if !$0.isOver { $0.due.append(cue) } }
        wakeup.signal()
    }

    private func run(_ warning: @Sendable (String) -> Void) {
        do throws(CommandFailure) {
            let player = try SoundPlayer()
            while let cue = next() { try play(cue, by: player) }
        } catch {
            state.withLock { $0 = State(isOver: true) }
            warning("the cue cannot be played: \(error.message)")
        }
    }

    /// Waits for the next tone; nil when there will be none.
    private func next() -> Cue? {
        while true {
            let (cue, isOver) = state.withLock { state -> (Cue?, Bool) in
                (state.due.isEmpty ? nil : state.due.removeFirst(), state.isOver)
            }
            if cue != nil || isOver { return cue }
            wakeup.wait(.untilWoken)
        }
    }

    private func play(_ cue: Cue, by player: SoundPlayer) throws(CommandFailure) {
        var file: [UInt8] = []
        let encoder = AudioCodec.makeWAVEncoder()
        // It throws nothing: there is no library of C below it.
        try? encoder.encode(Self.tone(cue).span, into: &file)
        let header = encoder.settledHeader ?? []
        let input = try orFailure { try makeMemoryFile(header + file) }
        try player.play(input, unless: abort)
    }

    /// 80 ms of a sine, faded in and out so that it does not click.
    private static func tone(_ cue: Cue) -> [Int16] {
        let count = rate * 80 / 1_000
        let fade = Double(rate * 8 / 1_000)
        return (0..<count).map { index in
            let edge = min(1, min(Double(index), Double(count - 1 - index)) / fade)
            return Int16(8_000 * edge * sin(2 * .pi * cue.rawValue * Double(index) / Double(rate)))
        }
    }
}
