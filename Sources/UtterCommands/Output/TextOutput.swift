// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import UtterControl
internal import UtterTerminal

/// Where the texts of one run go; the same for all of them.
///
/// Standard output unless another place is named. A text that a place does not take is printed
/// there, so that no failure costs a text. Called by one task at a time, but for the results of a
/// recorder, which wait for each other.
package final class TextOutput: Sendable {
    private let form: OutputForm
    /// Standard output and files, where the printed form goes.
    private let places: [TextSink]
    /// Where the bare text goes.
    private let others: [TextSink]
    private let endsLines: Bool
    /// Whether the desktop is told what becomes of a text that is not where it belongs.
    let notifies: Bool
    private let isOver: @Sendable () -> Bool
    /// Why it is not known where the texts go.
    private let doubts: [Failure]
    /// The places that have a text of this run.
    private let begun = Mutex<Set<TextSink>>([])
    private let turn = Mutex(())

    typealias Failure = (sink: TextSink, failure: CommandFailure)

    convenience init(printing form: OutputForm) {
        self.init([.standardOutput], form: form, endsLines: true)
    }

    /// `isOver` is asked now and then while a command runs.
    init(
        _ sinks: [TextSink], isUsual: Bool = true, form: OutputForm, endsLines: Bool,
        notifies: Bool = false, doubts: [Failure] = [],
        isOver: @escaping @Sendable () -> Bool = { false }
    ) {
        (self.form, self.endsLines, self.isOver) = (form, endsLines, isOver)
        (self.notifies, self.doubts) = (notifies, doubts)
        var places = sinks.filter(\.isPlace)
        others = sinks.filter { !$0.isPlace }
        // An object tells more than the text, and events go nowhere else.
        if places.isEmpty, others.isEmpty && isUsual || form == .object {
            places = [.standardOutput]
        }
        if form == .events { places.removeAll { $0 == .standardOutput } }
        self.places = places
    }

    /// Gives texts to the places that options name, or for the voice of a person the settings.
    ///
    /// For others the settings do not count: what a timer sends must not be typed into whatever
    /// window is open.
    package convenience init(
        _ options: TextOptions, isUsual: Bool = true, form: OutputForm, isVoice: Bool = false,
        isOver: @escaping @Sendable () -> Bool = { false }
    ) throws(CommandFailure) {
        let settings = isVoice ? try Self.settings() : []
        try self.init(
            isVoice && !options.isGiven ? settings : Self.sinks(options), isUsual: isUsual,
            form: form, endsLines: KnownSettings.endsLines.value() != false,
            notifies: KnownSettings.notify.value(options.notify ? true : nil) == true,
            isOver: isOver)
        for sink in places + others { try sink.check() }
    }

    /// The places of a voice that was recorded already: what is wrong with one is told with the text.
    convenience init(ofEnded options: TextOptions, form: OutputForm) {
        var (sinks, doubts) = (Self.sinks(options), [Failure]())
        do throws(CommandFailure) {
            if !options.isGiven { sinks = try Self.settings() }
        } catch {
            doubts = [(.command(""), error)]
        }
        // Where the settings cannot be read, the options alone count.
        let notifies = (try? KnownSettings.notify.value()) ?? nil
        let endsLines = (try? KnownSettings.endsLines.value()) ?? nil  // The same.
        self.init(
            sinks, form: form, endsLines: endsLines != false,
            notifies: options.notify || notifies == true, doubts: doubts)
    }

    /// The places that options name, or else the settings as far as they can be read.
    static func meant(by options: TextOptions) -> [TextSink] {
        // The process that gives the text says what is wrong there.
        options.isGiven ? sinks(options) : (try? settings()) ?? []
    }

    /// Whether a text goes elsewhere than to standard output.
    static func hasPlaces(_ options: TextOptions) -> Bool {
        meant(by: options).contains { $0 != .standardOutput }
    }

    private static func sinks(_ options: TextOptions) -> [TextSink] {
        options.output.map { $0 == "-" ? .standardOutput : .file($0) }
            + (options.copy ? [.clipboard] : []) + (options.type ? [.keyboard] : [])
            + options.run.map { .command($0) }
    }

    private static func settings() throws(CommandFailure) -> [TextSink] {
        let command = try KnownSettings.textCommand.value()
        return (try KnownSettings.textPlaces.value() ?? [])
            + (command.map { [.command($0)] } ?? [])
    }

    /// Gives a text, harmless to a terminal, to every place; nil for no text.
    ///
    /// Returns the places that could not take it, in order, behind those that had failed before.
    /// When `standardOutput` is among them, the text is nowhere. Not so where texts are not to be
    /// printed if no place takes them (`printsUngiven`).
    func give(
        _ text: String?, label: String = "", after earlier: [Failure] = [],
        lendsTerminal: Bool = true, printsUngiven: Bool = true,
        object: (_ hasFailed: Bool) -> String? = { _ in nil }
    ) -> [Failure] {
        var failures = text == nil ? earlier : doubts + earlier
        var isDoubtful = false
        func hasTaken(_ text: String, _ sink: TextSink) -> Bool {
            do throws(CommandFailure) {
                guard let doubt = try give(text, to: sink, lendsTerminal) else { return true }
                isDoubtful = true
                StandardError.line("warning: \(doubt), and whether it arrived is not known")
                return true
            } catch {
                failures.append((sink, error))
                return false
            }
        }
        if let text, !text.isEmpty { for sink in others { _ = hasTaken(text, sink) } }
        let object = form == .object ? object(!failures.isEmpty) : nil
        guard let printed = object ?? text.map({ label + $0 }), object != nil || text != ""
        else { return failures }
        let isPrinted = places.map { hasTaken(printed, $0) }.contains(true)
        // Where nothing else holds the text any more. Events hold it in any case.
        if isDoubtful || !failures.isEmpty, printsUngiven, !isPrinted, form != .events,
            !places.contains(.standardOutput)
        {
            _ = hasTaken(printed, .standardOutput)
        }
        return failures
    }

    /// Gives the result that a recorder has told, and tells the desktop where that does not go well.
    func give(_ answer: ControlAnswer, _ report: String?) -> [Failure] {
        let failures = turn.withLock { _ in give(answer.harmlessText) { _ in report } }
        if !failures.isEmpty, notifies { DesktopNotice(of: answer.take)?.tellUnplacedText() }
        return failures
    }

    /// - Returns: why it is not known whether the text has arrived; nil when it is.
    private func give(
        _ text: String, to sink: TextSink, _ lendsTerminal: Bool
    ) throws(CommandFailure) -> String? {
        var circumstances = TextSink.Circumstances(
            endsLine: endsLines, lendsTerminal: lendsTerminal, isOver: isOver)
        // A program that reads standard output wants JSON there.
        if form != .text { circumstances.commandOutput = ProgramStart.current.error }
        circumstances.isContinued = begun.withLock { $0.contains(sink) }
        let gap = circumstances.isContinued && !endsLines && sink.isPlace ? "\n" : ""
        let doubt = try sink.take(gap + text, in: circumstances)
        begun.withLock { _ = $0.insert(sink) }
        return doubt
    }
}

extension [TextOutput.Failure] {
    var lines: [ToldLine] {
        flatMap { [.error($0.failure.message)] + ($0.failure.hint.map { [.hint($0)] } ?? []) }
    }
}

extension TextSink {
    /// Whether it shows what is printed, rather than doing something with the text.
    fileprivate var isPlace: Bool {
        switch self {
        case .standardOutput, .file: true
        case .clipboard, .keyboard, .command: false
        }
    }
}

package struct TextOptions: ParsableArguments {
    package init() {}

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp(
            "Write the text, or the object of --json, into this file instead of standard output, "
                + "which is -.", valueName: "file"), completion: .file())
    var output: [String] = []

    @Flag(help: "Copy the text to the clipboard (by wl-copy, xclip or xsel).")
    var copy = false

    @Flag(help: "Type the text where the cursor is (by wtype, xdotool or ydotool).")
    var type = false

    @Option(
        help: ArgumentHelp(
            "Run this command with the shell; it reads the text on standard input.",
            valueName: "command"))
    var run: [String] = []

    @Flag(
        help: ArgumentHelp(
            "Tell the desktop (by notify-send) when a recording fails, or its text goes nowhere.",
            visibility: .hidden))
    var notify = false

    package mutating func validate() throws {
        guard !output.contains("") else { throw ValidationError("-o needs the name of a file.") }
        guard !run.contains(where: { $0.allSatisfy(\.isWhitespace) }) else {
            throw ValidationError("--run needs a command.")
        }
    }

    var isGiven: Bool { !output.isEmpty || copy || type || !run.isEmpty }
}
