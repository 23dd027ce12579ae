// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import LinuxPlatform
internal import Settings
internal import Synchronization
internal import Utter
internal import UtterSettings
internal import UtterTerminal

/// The settings that a command has read, and its warnings about them.
///
/// A task may have its own; all others share those of the process.
final class KnownConfiguration: Sendable {
    @TaskLocal static var current = KnownConfiguration()

    fileprivate let file = Mutex<Result<Configuration, CommandFailure>?>(nil)
    fileprivate let isForRecording = Atomic(false)
    fileprivate let isNeeded = Atomic(true)
    /// The warnings that were given; nil where the person has been told of all.
    fileprivate let warnings = Mutex<Set<String>?>([])
    fileprivate let onCommandLine = Mutex<[String: String]>([:])
    /// The list of words as it was read last, and the file.
    let words = Mutex<(path: String, mark: FileMark, list: WordList)?>(nil)
    /// The name of the preset that was chosen.
    fileprivate let preset: Mutex<String?>

    init(preset: String? = nil) { self.preset = Mutex(preset) }

    /// The same, with the settings of a preset before its own.
    func choosing(_ preset: String) -> KnownConfiguration {
        let known = KnownConfiguration(preset: preset)
        known.onCommandLine.withLock { own in own = onCommandLine.withLock { $0 } }
        let isForRecording = isForRecording.load(ordering: .relaxed)
        known.isForRecording.store(isForRecording, ordering: .relaxed)
        return known
    }

    /// The variables from which a secret was read.
    let secretVariables = Mutex<Set<String>>([])
}

/// The person's file is read once a command, before anything is recorded: what happens to it later
/// costs nothing. A daemon reads it again when it has changed.
extension Configuration {
    private static var known: KnownConfiguration { .current }

    /// Has a setting count for this command, as the command line says it.
    static func say(_ name: String, _ text: String) {
        known.onCommandLine.withLock { $0[name] = text }
    }

    /// Has the settings of a preset count before those of the file and the variables.
    static func choose(preset: String) { known.preset.withLock { $0 = preset } }

    static func said(of name: String) -> String? { known.onCommandLine.withLock { $0[name] } }

    /// Has lines that a recording can do without left out with a warning, from the first reading
    /// on: a voice cannot be repeated as a command can.
    ///
    /// - Parameter isDone: whether the person has been warned already.
    static func warnOfProblems(isDone: Bool = false) {
        known.warnings.withLock { $0 = isDone ? nil : [] }
        known.isForRecording.store(true, ordering: .relaxed)
    }

    /// Has a file that cannot be read, and a variable that is wrong, count for nothing, with a warning
    /// unless that `isDone`.
    static func doWithout(isDone: Bool = false) {
        warnOfProblems(isDone: isDone)
        known.isNeeded.store(false, ordering: .relaxed)
    }

    static func current() throws(CommandFailure) -> Configuration {
        try known.file.withLock { file in
            let result =
                file
                ?? Result { () throws(CommandFailure) in
                    try reading(warns: known.isForRecording.load(ordering: .relaxed))
                }
            file = result
            return result
        }.get()
    }

    /// Makes another one count, which is being tried.
    static func use(_ text: String) throws(CommandFailure) {
        let result = Result { () throws(CommandFailure) in
            try orFailure { try Configuration(text, KnownSettings.catalogue) }.flawless()
        }
        known.file.withLock { $0 = result }
        _ = try result.get()
    }

    /// Has the file read again when it is asked for next.
    static func forget() { known.file.withLock { $0 = nil } }

    /// Reads the file anew; leaves out what a recording can do without, if it `warns` of it.
    static func reading(warns: Bool = false) throws(CommandFailure) -> Configuration {
        let preset = known.preset.withLock { $0 }
        let read = { () throws(CommandFailure) in
            let all = try orFailure { try reading(KnownSettings.catalogue) }
            guard let preset else { return all }
            guard let chosen = all.choosing(preset) else {
                let names = all.presetNames.map { "'\($0)'" }.joined(separator: ", ")
                throw CommandFailure(
                    "there is no preset '\(TerminalText.shown(preset))'",
                    hint: names.isEmpty
                        ? "write its table, [presets.NAME], with: utter config edit"
                        : "the settings have \(names)", status: .configuration)
            }
            return chosen
        }
        guard warns else { return try read().flawless() }
        guard let configuration = try ifNeeded(read) else { return Configuration() }
        for problem in configuration.problems {
            warn("left out: \(problem.text(of: ConfigurationFile.path))")
        }
        return configuration
    }

    /// Reads a part of the settings; nil, with a warning, where that fails and the command can do
    /// without.
    fileprivate static func ifNeeded<Value>(
        _ read: () throws(CommandFailure) -> Value
    ) throws(CommandFailure) -> Value? {
        do throws(CommandFailure) {
            return try read()
        } catch {
            guard !known.isNeeded.load(ordering: .relaxed) else { throw error }
            warn(error.message)
            return nil
        }
    }

    /// Tells a person of something that is wrong in the settings, once.
    static func warn(_ text: String) {
        let isNew = known.warnings.withLock { $0?.insert(text).inserted == true }
        if isNew { StandardError.line("warning: \(text)") }
    }

    private func flawless() throws(CommandFailure) -> Configuration {
        guard let problem = problems.first else { return self }
        throw CommandFailure(of: problem)
    }
}

/// A command about what is on the disk already: settings that cannot be read hide nothing of it.
protocol SettinglessCommand: ParsableCommand {}

/// A command that tells a program in this form why it has failed.
protocol ReportingCommand: ParsableCommand {
    var form: OutputForm { get }
}

extension Setting {
    /// The value that counts, an option of the command line before all; nil when none is said.
    ///
    /// The variable and the file are read all the same, so that what is wrong there is found.
    func value(_ option: Value? = nil) throws(CommandFailure) -> Value? {
        let (own, usual) = try values(option)
        return own ?? usual
    }

    /// The value that the command line or a preset says for one command, and that of the variable or
    /// the file for all.
    func values(
        _ option: Value? = nil
    ) throws(CommandFailure) -> (own: Value?, usual: Value?) {
        let configuration = try Configuration.current()
        let variable = try Configuration.ifNeeded(variableText) ?? nil
        let entry = configuration[name]
        let preset = entry?.isOfPreset == true ? entry?.text : nil
        return (
            option ?? (Configuration.said(of: name) ?? preset).flatMap(parse),
            (variable ?? configuration.usual(name)?.text).flatMap(parse)
        )
    }
}

extension AnySetting {
    func variableText() throws(CommandFailure) -> String? {
        guard let variable, let text = Environment[filled: variable] else { return nil }
        guard accepts(text) else {
            throw CommandFailure(
                "\(variable) is '\(text)', but must be \(form)", hint: "correct it, or unset it",
                status: .configuration)
        }
        return KnownSettings.literal(of: text, self)
    }
}

extension CommandFailure {
    /// The failure with the place in the file of settings that is to blame; what a file of its own
    /// is to blame for stays as it is.
    func standing(at place: SettingsPosition?) -> CommandFailure {
        guard let place, status != .configuration else { return self }
        var failure = self
        failure.message = SettingsError(message, at: place).text(of: ConfigurationFile.path)
        failure.status = .configuration
        return failure
    }
}

extension ConfigurationFile {
    /// Writes a new file, whole or not at all, and makes its folder.
    static func make(_ text: String) throws(CommandFailure) {
        try makeFolder()
        try SecretFile.make(Array(text.utf8), at: path)
    }

    /// Replaces a file of the person's, whole or not at all.
    ///
    /// A link stays, and what it leads to is replaced. Where the old file is to stay as `.old`, that is
    /// the link itself.
    static func replace(
        _ text: String, at path: String = path, keepsOld: Bool = false
    ) throws(CommandFailure) {
        try makeFolder()
        let place = keepsOld ? path : path.resolvedPath ?? path
        let new = place + ".new-\(getpid())"
        try SecretFile.make(Array(text.utf8), at: new)
        if keepsOld {
            // Mostly there is none.
            _ = unsafe unlink((path + ".old").cPath)
            _ = unsafe link(path.cPath, (path + ".old").cPath)
        }
        do throws(SystemError) {
            try retryingInterrupts("rename") { unsafe rename(new.cPath, place.cPath) }
        } catch {
            _ = unsafe unlink(new.cPath)
            throw CommandFailure.cannotWrite(place, error)
        }
    }

    /// Makes the folder and those around it, each for its owner alone, as the XDG Base Directory
    /// Specification demands.
    static func makeFolder() throws(CommandFailure) {
        var made = ""
        for name in folder.split(separator: "/") {
            made += "/" + name
            guard unsafe mkdir(made.cPath, 0o700) != 0 else { continue }
            let error = SystemError.last("mkdir")
            guard error.code != EEXIST, unsafe access(made.cPath, F_OK) != 0 else { continue }
            throw CommandFailure(
                "cannot make the folder '\(made)': \(error.reason)", status: .localIO)
        }
    }
}
