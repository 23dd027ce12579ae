// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform

/// A terminal emulator in which `utter` runs; it speaks the kitty keyboard protocol, or does not.
final class TerminalDouble: Sendable {
    enum Speech: Sendable {
        /// The kitty keyboard protocol.
        case kitty
        /// Which kind of terminal it is, and nothing else.
        case plain
        case silent
    }

    let terminal: PseudoTerminal
    let modes: [UInt32]
    private let speech: Speech
    /// Asked before each answer, with its number and what is on the screen: whether it may come.
    private let mayAnswer: @Sendable (Int, [UInt8]) -> Bool
    private let threads = Mutex<[NamedThread]>([])
    private let isClosed = Closing()

    init(
        _ speech: Speech, mayAnswer: @escaping @Sendable (Int, [UInt8]) -> Bool = { _, _ in true }
    ) throws {
        self.speech = speech
        self.mayAnswer = mayAnswer
        terminal = try PseudoTerminal(columns: 200)
        modes = terminal.modes
    }

    deinit {
        isClosed.close()
        for thread in threads.withLock({ $0 }) { thread.join() }
    }

    func start(
        _ bench: Bench, _ arguments: [String] = [], input: CommandRun.Input = .terminal,
        variables: [String: String] = [:]
    ) throws -> CommandRun {
        let run = try bench.start(
            arguments, input: input, terminal: terminal, variables: Self.patient(variables))
        try answer(run)
        return run
    }

    func startShell(_ bench: Bench, _ script: String) throws -> CommandRun {
        let run = try bench.startShell(script, [], terminal: terminal)
        try answer(run)
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

    func type(_ text: String) throws { try terminal.type(text) }

    /// Presses a key, as the kitty keyboard protocol says it.
    func press(_ key: Int = 32, modifiers: Int = 0) throws {
        try type("\u{1B}[\(key)\(modifiers == 0 ? "" : ";\(modifiers + 1)")u")
    }

    func release(_ key: Int = 32) throws { try type("\u{1B}[\(key);1:3u") }

    /// Holds a key for as long as its keyboard repeats it so often.
    func hold(_ key: Int = 32, repeats: Int) throws {
        for _ in 0..<repeats { try type("\u{1B}[\(key);1:2u") }
    }

    /// Whether the terminal is as it was, keyboard and modes.
    func isAsBefore(_ screen: [UInt8]) -> Bool {
        terminal.modes == modes && keyboard(screen).isAsBefore
    }

    func hasAnswered(_ screen: [UInt8]) -> Bool {
        isClosed.given.load(ordering: .acquiring) == keyboard(screen).answers.count
    }

    /// Answers what is asked, as it comes: on a thread of its own, since a terminal has its time
    /// however busy the tests are.
    private func answer(_ run: CommandRun) throws {
        guard speech != .silent else { return }
        let (isKitty, terminal, isClosed) = (speech == .kitty, terminal, isClosed)
        let mayAnswer = mayAnswer
        let thread = try NamedThread(name: "test-terminal") { [weak run] in
            var count = 0
            while !isClosed.value, let screen = run?.screen {
                let answers = EmulatedKeyboard(screen, speaksKitty: isKitty).answers
                while count < answers.count, mayAnswer(count, screen) {
                    isClosed.given.add(1, ordering: .releasing)
                    // A terminal that is closed cannot be typed on.
                    try? terminal.type(answers[count])
                    count += 1
                }
                poll(nil, 0, 5)
            }
        }
        threads.withLock { $0.append(thread) }
    }
}

/// Whether a window is closed, as its threads see it, and how many answers they have given.
private final class Closing: Sendable {
    private let flag = Atomic(false)
    let given = Atomic(0)

    func close() { flag.store(true, ordering: .relaxed) }

    var value: Bool { flag.load(ordering: .relaxed) }
}

/// A terminal, a microphone, a service, and `utter` that runs there.
struct TerminalStage {
    let card: VirtualMicrophone
    let server: RecordingServer
    let bench: Bench
    let window: TerminalDouble
    let run: CommandRun

    /// Starts the program, by its arguments or by a line of shell, and waits for a prompt.
    init(
        _ speech: TerminalDouble.Speech, _ arguments: [String] = [],
        server: RecordingServer? = nil, settings: String? = nil, script: String? = nil,
        input: CommandRun.Input = .terminal, typedBefore: String = "",
        variables: [String: String] = [:], until prompt: String? = nil,
        mayAnswer: @escaping @Sendable (Int, [UInt8]) -> Bool = { _, _ in true }
    ) async throws {
        card = try VirtualMicrophone()
        self.server = try server ?? RecordingServer.hearing("dictated")
        bench = try Bench(
            server: self.server, microphone: card, TerminalDouble.patient(variables))
        if let settings { try bench.configure(settings) }
        window = try TerminalDouble(speech, mayAnswer: mayAnswer)
        if !typedBefore.isEmpty { try window.type(typedBefore) }
        if let script {
            run = try window.startShell(bench, script)
        } else {
            run = try window.start(bench, arguments, input: input, variables: variables)
        }
        if let prompt { try #require(await run.wait(for: prompt, in: .screen)) }
    }

    /// Waits until so many bytes of sound have come, and the recording goes on.
    func hear(_ byteCount: Int, ofRequest number: Int = 0) async throws {
        let request = try #require(await server.wait(untilBytes: byteCount, ofRequest: number))
        #expect(request.lastChunkAt == nil)
    }

    /// Expects a text, all samples from the first on, and the terminal as it was.
    func expectText() async throws {
        try await expectEnd(0, "dictated\n")
        let body = try #require(server.requests.first?.body)
        #expect(body == VirtualMicrophone.pcm(body.count / 2))
        #expect(server.requests.count == 1)
    }

    /// Expects an end with this output, and the terminal as it was.
    func expectEnd(_ status: Int32, _ output: String = "") async throws {
        let result = try await run.result()
        #expect(result.status == .exited(status))
        #expect(result.outputText == output)
        #expect(window.isAsBefore(result.screen))
    }
}
