// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import UtterCommands

/// A terminal emulator in which `utter` runs; it speaks the kitty keyboard protocol, or does not.
final class TerminalDouble: Sendable {
    /// What it answers.
    enum Speech: Sendable {
        /// The kitty keyboard protocol.
        case kitty
        /// Which kind of terminal it is, and nothing else.
        case plain
        /// Nothing at all.
        case silent
    }

    let terminal: PseudoTerminal
    /// The modes that it had before.
    let modes: [UInt32]
    private let speech: Speech
    private let answering = Mutex<Task<Void, Never>?>(nil)

    /// Opens a window.
    init(_ speech: Speech) throws {
        self.speech = speech
        terminal = try PseudoTerminal(columns: 200)
        modes = terminal.modes
    }

    deinit { answering.withLock { $0?.cancel() } }

    /// Starts `utter` in it.
    func start(
        _ bench: Bench, _ arguments: [String] = [], input: CommandRun.Input = .terminal,
        variables: [String: String] = [:]
    ) throws -> BenchRun {
        let run = try bench.start(
            arguments, input: input, terminal: terminal, variables: Self.patient(variables))
        answer(run)
        return run
    }

    /// Starts a line of shell in it, in which `$0` is `utter`.
    func startShell(_ bench: Bench, _ script: String) throws -> BenchRun {
        let run = try bench.startShell(script, [], terminal: terminal)
        answer(run)
        return run
    }

    /// Variables with which a terminal has all the time that a busy machine needs.
    static func patient(_ variables: [String: String]) -> [String: String] {
        ["UTTER_TERMINAL_TIME": "10m"].merging(variables) { $1 }
    }

    /// What its keyboard is set to, after all that was written to it.
    func keyboard(_ screen: [UInt8]) -> EmulatedKeyboard {
        EmulatedKeyboard(screen, speaksKitty: speech == .kitty)
    }

    /// Types bytes.
    func type(_ text: String) throws { try terminal.type(text) }

    /// Presses a key, as the kitty keyboard protocol says it.
    func press(_ key: Int = 32, modifiers: Int = 0) throws {
        try type("\u{1B}[\(key)\(modifiers == 0 ? "" : ";\(modifiers + 1)")u")
    }

    /// Lets a key go.
    func release(_ key: Int = 32) throws { try type("\u{1B}[\(key);1:3u") }

    /// Holds a key for as long as its keyboard repeats it so often.
    func hold(_ key: Int = 32, repeats: Int) throws {
        for _ in 0..<repeats { try type("\u{1B}[\(key);1:2u") }
    }

    /// Whether the terminal is as it was, keyboard and modes.
    func isAsBefore(_ screen: [UInt8]) -> Bool {
        terminal.modes == modes && keyboard(screen).isAsBefore
    }

    /// Answers what is asked, as it comes.
    private func answer(_ run: BenchRun) {
        guard speech != .silent else { return }
        let isKitty = speech == .kitty
        let terminal = terminal
        let task = Task { [weak run] in
            var count = 0
            while !Task.isCancelled {
                let known = count
                // The run is not held: it ends when the test is done with it.
                guard
                    let wait = run.map({ run in
                        {
                            await run.wait(in: .screen) {
                                EmulatedKeyboard($0, speaksKitty: isKitty).answers.count > known
                            }
                        }
                    }), await wait(), let screen = run?.screen
                else { return }
                let answers = EmulatedKeyboard(screen, speaksKitty: isKitty).answers
                for answer in answers[known...] {
                    guard (try? terminal.type(answer)) != nil else { return }  // It is closed.
                }
                count = answers.count
            }
        }
        answering.withLock { $0 = task }
    }
}
