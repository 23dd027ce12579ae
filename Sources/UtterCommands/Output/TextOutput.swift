// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import Synchronization
internal import UtterTerminal

/// Where the texts of one run go; the same for all of them.
///
/// Standard output unless another place is named. What a place does not take is printed on standard
/// output, so that no failure costs a text. Called by one task at a time.
package final class TextOutput: Sendable {
    private struct State {
        /// Whether a text has gone to standard output before.
        var isBegun = false
        var files: Set<String> = []
    }

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
    private let state = Mutex(State())

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

    /// Those that options name, or for the voice of a person the settings.
    ///
    /// For others the settings do not count: what a timer sends must not be typed into whatever
    /// window is open.
    package convenience init(
        _ options: TextOptions, isUsual: Bool = true, form: OutputForm, isVoice: Bool = false,
        isOver: @escaping @Sendable () -> Bool = { false }
    ) throws(CommandFailure) {
        var sinks = Self.sinks(options)
        if isVoice {
            let settings = try Self.settings()
            if !options.isGiven { sinks = settings }
        }
        try self.init(
            sinks, isUsual: isUsual, form: form, endsLines: !options.noNewline,
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
        // Where the setting cannot be read, the option alone counts.
        let notifies = (try? KnownSettings.notify.value()) ?? nil
        self.init(
            sinks, form: form, endsLines: !options.noNewline,
            notifies: options.notify || notifies == true, doubts: doubts)
    }

    /// The places that options name, or else the settings as far as they can be read.
    static func meant(by options: TextOptions) -> [TextSink] {
        // The process that gives the text says what is wrong there.
        options.isGiven ? sinks(options) : (try? settings()) ?? []
    }

    /// Whether texts go anywhere but to standard output.
    var leadsElsewhere: Bool { !others.isEmpty || places.contains { $0 != .standardOutput } }

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
        if let text, !text.isEmpty {
            for sink in others {
                let (failure, doubt) = give(text, to: sink, lendsTerminal)
                if let failure { failures.append((sink, failure)) }
                guard let doubt else { continue }
                isDoubtful = true
                StandardError.line("warning: \(doubt), and whether it arrived is not known")
            }
        }
        let object = form == .object ? object(!failures.isEmpty) : nil
        guard let printed = object ?? text.map({ label + $0 }), object != nil || text != ""
        else { return failures }
        var isPrinted = false
        for sink in places {
            if let failure = give(printed, to: sink).failure {
                failures.append((sink, failure))
            } else {
                isPrinted = true
            }
        }
        // Where nothing else holds the text any more. Events hold it in any case.
        if isDoubtful || !failures.isEmpty, printsUngiven, !isPrinted, form != .events,
            !places.contains(.standardOutput),
            let failure = give(printed, to: .standardOutput).failure
        {
            failures.append((.standardOutput, failure))
        }
        return failures
    }

    private func give(
        _ text: String, to sink: TextSink, _ lendsTerminal: Bool = true
    ) -> (failure: CommandFailure?, doubt: String?) {
        var circumstances = TextSink.Circumstances(
            endsLine: endsLines, lendsTerminal: lendsTerminal, isOver: isOver)
        // What a program reads there is JSON.
        if form != .text { circumstances.commandOutput = STDERR_FILENO }
        var text = text
        if case .file(let path) = sink {
            circumstances.isContinued = state.withLock { $0.files.contains(path) }
            if circumstances.isContinued, !endsLines { text = "\n" + text }
        } else if sink == .standardOutput {
            let isBegun = state.withLock { state in
                defer { state.isBegun = true }
                return state.isBegun
            }
            if isBegun, !endsLines { text = "\n" + text }
        }
        let doubt: String?
        do throws(CommandFailure) {
            doubt = try sink.take(text, in: circumstances)
        } catch {
            return (error, nil)
        }
        if case .file(let path) = sink { state.withLock { _ = $0.files.insert(path) } }
        return (nil, doubt)
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
        help: "Tell the desktop (by notify-send) when a recording fails, or its text goes nowhere.")
    var notify = false

    @Flag(
        help: ArgumentHelp(
            "End the last line of the text without a line feed.", visibility: .hidden))
    var noNewline = false

    package mutating func validate() throws {
        guard !output.contains("") else { throw ValidationError("-o needs the name of a file.") }
        guard !run.contains(where: { $0.allSatisfy(\.isWhitespace) }) else {
            throw ValidationError("--run needs a command.")
        }
    }

    var isGiven: Bool { !output.isEmpty || copy || type || !run.isEmpty }
}
