// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import UtterTerminal

/// A program that installs or tries something, and the one line that shows how far it has come.
struct LocalStep {
    struct End {
        var status: Int32
        /// The text that it wrote for a person.
        var text: String

        /// Its last line, or the last that names an error, behind a colon.
        var complaint: String {
            let lines = text.utf8.split(separator: 0x0A).map { TerminalText.excerpt(of: $0) }
            return (lines.last { $0.contains("ERROR") } ?? lines.last).map { ": \($0)" } ?? ""
        }
    }

    /// The title for a person; nil shows nothing.
    var title: String?

    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    static let textLimit = 1 << 20
    /// Between two looks at what it writes.
    private static let turn = Duration.milliseconds(250)

    /// Runs it to its end.
    ///
    /// A signal that ends the command kills the program first, which has a group of its own. Output
    /// that is not for a person goes to the descriptor `output`.
    func run(
        _ path: String, _ words: [String], output: Int32? = nil
    ) throws(CommandFailure) -> End {
        let isLive = title != nil && StandardError.isTerminal
        let screen = isLive ? StatusScreen(isLive: true) : .silent
        if let title, !isLive { StandardError.line(title) }
        let mask = SignalMask.change(SIG_BLOCK, Self.signals)
        defer {
            screen.end()
            mask.restore()
        }
        return try orFailure {
            let signals = try SignalDescriptor(signals: Self.signals)
            let log = try makeMemoryFile()
            let began = ContinuousClock.now
            var process = try ChildProcess(
                path, [path] + words, environment: ScrubbedEnvironment.entries(),
                output: .shared(output ?? log.number), error: .shared(log.number))
            while true {
                let end = waitUntilReadable(
                    process.ending, signals.number, by: .now + Self.turn)
                if let signal = signals.next() {
                    _ = process.kill()
                    screen.end()
                    mask.restore()
                    kill(getpid(), signal)
                    throw CommandFailure("ended by signal \(signal)", status: .cancelled)
                }
                if end, let status = try process.status(by: .now + Self.turn) {
                    let text = String(decoding: log.bytes(limit: Self.textLimit), as: UTF8.self)
                    return End(status: status, text: text)
                }
                let line = log.lastWords
                screen.show(ScreenState(title ?? "", facts: [.since(began), .text([line, ""])]))
            }
        }
    }
}
