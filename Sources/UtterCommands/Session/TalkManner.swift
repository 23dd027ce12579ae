// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import UtterTerminal

/// How a person talks: with which key, and for how many takes; and what that is called.
struct TalkManner: Sendable {
    enum Wish {
        case hold
        /// It is pressed once to begin and once to end.
        case toggle
    }

    /// Whether the first take is the only one.
    var isForOne: Bool
    /// Whether a silence ends a take, and the next one begins by itself.
    var isHandsFree = false
    var key: TalkKey
    /// Whether the command line names the key: another one will not do.
    var isKeyAsked: Bool
    /// The manner that the command line asks for; nil: as the terminal can.
    var wish: Wish?
    var answerTime: Duration

    /// This manner on a terminal that reports so much.
    func possible(with controls: Signals.Controls) throws(CommandFailure) -> TalkManner {
        var manner = self
        guard controls != .keys(.releases) else { return self }
        if wish == .hold {
            throw CommandFailure(
                "the release of a key is not reported here, so none can be held",
                hint: Hints.noReleases, status: .usage)
        }
        guard !key.hasBytes else { return self }
        if isKeyAsked {
            throw CommandFailure(
                "the key '\(key.name)' alone is not reported here", hint: Hints.noReleases,
                status: .usage)
        }
        manner.key = .space
        return manner
    }

    /// Whether the first take begins before any key: the command itself was the first press, or there
    /// are no keys and need be none.
    func beginsAtOnce(with controls: Signals.Controls) -> Bool {
        guard case .keys(let reports) = controls else { return isForOne || isHandsFree }
        return isForOne && reports != .releases
    }

    private var keys: String { key.title == "Enter" ? key.title : "\(key.title) or Enter" }

    /// The key that ends when nothing is recorded; q may be the one to talk with.
    private var endKey: String { key.codes.contains(KeyCode("q")) ? "Ctrl-D" : "q" }

    /// The prompt when nothing is recorded.
    func prompt(with controls: Signals.Controls) -> String {
        let words =
            switch controls {
            case .keys(.releases): "hold \(key.title) to talk (tap: until the next tap)"
            case .keys(.presses): "press \(keys) to talk, and again to stop"
            case .lines: "a line on standard input starts and stops"
            case .nothing: "start and stop with: kill -USR1 \(getpid())"
            }
        guard case .keys = controls else { return words }
        return words + "; \(endKey) \(isForOne ? "leaves" : "ends")"
    }

    func stopHint(with controls: Signals.Controls) -> String {
        switch controls {
        case .keys(.releases): "release \(key.title) to stop"
        case .keys(.presses): "press \(keys) to stop"
        case .lines: "a line on standard input stops it"
        case .nothing: "stop with: kill -USR1 \(getpid())"
        }
    }
}
