// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import Glibc
internal import LinuxPlatform
internal import UtterSettings
internal import UtterTerminal

package enum Program {
    /// Parses the command line, runs what it names, and ends the process.
    ///
    /// Called before any other thread exists, so that every thread inherits the blocked signals.
    /// Not async: at the first suspension of an async `main` libdispatch parks the main thread
    /// in sigsuspend(2) with no signal blocked, and the next Ctrl-C would kill the process.
    package static func run<Root: AsyncParsableCommand & SendableMetatype>(
        _ root: Root.Type
    ) -> Never {
        openStandardDescriptors()
        // Tokens and keys must not be found in the memory of a crash.
        CoreDumps.forbid()
        // The kernel gives every program a name; without it, `utter rm` would seem to be `utter`.
        if ProgramStart.current.words.isEmpty {
            end(
                limit: "the command line cannot be read from /proc/self/cmdline",
                hint: "mount it with: mount -t proc proc /proc")
        }
        // It throws when no descriptor is left, which is reported below.
        let executor = try? ThreadExecutor()
        guard let executor, ProcessLimits.areDescriptorsLeft(neededDescriptors) else {
            end(
                limit: "too few files may be open: \(neededDescriptors) more are needed",
                hint: "raise the limit with: ulimit -n 256")
        }
        if let bytes = ProcessLimits.addressSpace, bytes < neededAddressSpace {
            end(
                limit: "the address space is limited to \(bytes >> 20) MiB: "
                    + "\(neededAddressSpace >> 20) are needed",
                hint: "raise the limit with: ulimit -v unlimited")
        }
        Signals.block()
        WindowSize.listen()
        // On this thread, which would only wait otherwise.
        Task(executorPreference: executor) { exit(await status(of: root)) }
        executor.run()
    }

    /// Does the same in a task of this process, as if a program was started so.
    ///
    /// - Returns: the exit status.
    static func status<Root: AsyncParsableCommand & SendableMetatype>(
        of root: Root.Type, startedBy start: ProgramStart
    ) async -> Int32 {
        await ProgramStart.$current.withValue(start) {
            await KnownConfiguration.$current.withValue(KnownConfiguration()) {
                await status(of: root)
            }
        }
    }

    private static func status(of root: (some AsyncParsableCommand).Type) async -> Int32 {
        do {
            try await runCommand(of: root)
            return ExitStatus.textPrinted.rawValue
        } catch let code as ExitCode {
            // The code that threw it has said why.
            return code.rawValue
        } catch {
            return report(root, error).rawValue
        }
    }

    private static func runCommand(of root: (some AsyncParsableCommand).Type) async throws {
        var command = try parse(root)
        if command is any SettinglessCommand { Configuration.doWithout() }
        do {
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            let form = (command as? any ReportingCommand)?.form ?? .text
            throw CommandFailure(known: error).map { Launch.exit($0, as: form) } ?? error
        }
    }

    /// Reads the command line.
    ///
    /// On its way to a subcommand the parser looks at the options of several, which takes most of
    /// the start-up time that is ours. So the subcommand is asked alone first; help and mistakes
    /// take the long way, whose words name the whole command.
    private static func parse(_ root: (some ParsableCommand).Type) throws -> any ParsableCommand {
        let words = askingOther(root, askingForAll(typed))
        var arguments = words[...]
        // The parser knows the long form only, and looks at all options before it obeys.
        if words == ["-V"] || words == ["--version"] {
            throw show(root.configuration.version).code
        }
        var command = root.configuration.defaultSubcommand
        if let name = arguments.first, !name.hasPrefix("-") {
            command = root.configuration.subcommands.first { $0._commandName == name }
            arguments = arguments.dropFirst()
        }
        // The long way finds and reports what is wrong.
        if let command, let parsed = try? command.parseAsRoot(Array(arguments)),
            type(of: parsed) == command
        {
            return parsed
        }
        if let mistake = CommandLineMistake.unknownCommand(in: words, of: CommandNames(root)) {
            throw mistake
        }
        return try root.parseAsRoot(separatingNumber(words))
    }

    /// The parser takes the end of "-1h" for -h: what begins like a number is a value.
    private static func separatingNumber(_ words: [String]) -> [String] {
        let place = words.firstIndex {
            $0 == "--" || CommandNames.isNumber($0) && $0.contains("h")
        }
        guard let place, words[place] != "--" else { return words }
        return words[..<place] + ["--"] + words[place...]
    }

    private static var typed: [String] { Array(ProgramStart.current.words.dropFirst()) }

    /// The same words with the parser's own for the help with all options.
    private static func askingForAll(_ words: [String]) -> [String] {
        let words = words.map { $0 == "--help-all" ? "--help-hidden" : $0 }
        guard words.suffix(2) == ["--help", "all"] else { return words }
        return words.dropLast(2) + ["--help-hidden"]
    }

    /// "help serve" is "serve --help", which the other program answers.
    private static func askingOther(
        _ root: (some ParsableCommand).Type, _ words: [String]
    ) -> [String] {
        guard words.first == "help", words.count > 1,
            root.configuration.subcommands.contains(where: {
                $0._commandName == words[1] && $0 is any OtherCommand.Type
            })
        else { return words }
        return words.dropFirst() + ["--help"]
    }

    /// A line that says how to see the options that a command's help leaves out.
    private static func more(_ root: (some ParsableCommand).Type, _ help: String) -> String {
        let command = root.configuration.subcommands.first {
            help.contains("USAGE: utter \($0._commandName) ")
        }
        let isAll = askingForAll(typed).contains("--help-hidden")
        guard let command, !isAll,
            command.helpMessage(columns: 400)
                != command.helpMessage(includeHidden: true, columns: 400)
        else { return "" }
        return "\n--help-all shows all options.\n"
    }

    /// Says what is wrong, or shows what the parser was asked for; returns how to exit.
    private static func report(
        _ root: (some ParsableCommand).Type, _ error: any Error
    ) -> ExitStatus {
        let mayStop = root.configuration.subcommands.contains { $0 == StopCommand.self }
        // Wider than any line, so that the parser breaks none; on a narrow terminal it would not work.
        let text = root.fullMessage(for: error, columns: 100_000)
        let isHelp = HelpLayout.isHelp(text)
        let unasked = isHelp ? CommandLineMistake.unknownLetters(in: typed, of: .init(root)) : nil
        if let mistake = error as? CommandLineMistake ?? unasked {
            if mayStop { ControlReading.end(misspelt: typed) }
            mistake.report()
            return .usage
        }
        if isHelp {
            let layout = HelpLayout(columns: StandardOutput.columns(orOf: Environment["COLUMNS"]))
            return show(layout.text(text) + layout.text(more(root, text)))
        }
        switch root.exitCode(for: error) {
        case .success: return show(text)
        case .validationFailure:
            if mayStop { ControlReading.end(misspelt: typed) }
            // The parser's last line names the command whose help explains it.
            let lines = text.split(separator: "\n")
            CommandLineMistake(
                root.message(for: error), help: lines.last.map(String.init),
                typed: typed, of: CommandNames(root)
            ).report()
            return .usage
        default:
            StandardError.error(root.message(for: error))
            return .internalError
        }
    }

    private static func show(_ text: String) -> ExitStatus {
        // The thrown status is the exit status, and has been explained.
        (try? StandardOutput.show(text)) != nil ? .textPrinted : .localIO
    }

    /// The free descriptors that a take without a microphone needs: ours, those of libcurl, and
    /// those of libdispatch, which ends the process with a trap when it gets none.
    private static let neededDescriptors = 24

    /// The address space that a take needs for code, libraries and the stacks of its threads:
    /// without memory Swift ends the process with a trap.
    private static let neededAddressSpace = 160 << 20

    private static func end(limit: String, hint: String) -> Never {
        StandardError.error(limit)
        StandardError.hint(hint)
        exit(ExitStatus.localIO.rawValue)
    }

    /// Fills the places of closed standard descriptors.
    ///
    /// Otherwise a journal or a connection gets such a number, and the transcript goes into it.
    /// They are opened in the wrong direction, so that using them is still an error.
    private static func openStandardDescriptors() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
