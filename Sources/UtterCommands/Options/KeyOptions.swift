// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import UtterTerminal

/// The keys by which a person talks in a terminal.
struct KeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The key to talk with: \(TalkKey.examples). (default: space)", valueName: "name",
            visibility: .hidden))
    var key: TalkKey?

    @Flag(
        help: ArgumentHelp(
            "Hold the key to talk; an error where the terminal does not report releases.",
            visibility: .hidden))
    var hold = false

    @Flag(
        help: ArgumentHelp(
            "Press the key once to begin and once to end, whatever the terminal reports.",
            visibility: .hidden))
    var toggle = false

    func validate() throws {
        if hold && toggle { throw ValidationError("--hold and --toggle exclude each other.") }
    }

    /// What these options and the settings say.
    func manner(isForOne: Bool) throws(CommandFailure) -> TalkManner {
        let chosen = try KnownSettings.key.value(key)
        let answerTime = try KnownSettings.answerTime.value()
        return TalkManner(
            isForOne: isForOne, key: chosen ?? .space, isKeyAsked: key != nil,
            wish: hold ? .hold : toggle ? .toggle : nil,
            answerTime: answerTime?.duration ?? KeyTerminal.answerTime)
    }
}

extension TalkKey: ExpressibleByArgument {
    package init?(argument: String) { self.init(named: argument) }

    package var defaultValueDescription: String { name }
}
