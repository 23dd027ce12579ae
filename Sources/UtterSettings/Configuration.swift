// SPDX-License-Identifier: Apache-2.0

internal import Settings
internal import Synchronization
internal import Utter
internal import UtterTerminal

/// What the person's file of settings says.
///
/// It is read once a process, before anything is recorded: what happens to the file later costs
/// nothing. A daemon reads it again when it has changed.
struct Configuration: Sendable {
    struct Entry: Sendable, Equatable {
        /// The value, as an option would have it.
        var text: String
        var place: SettingsPlace
    }

    private var entries: [String: Entry] = [:]
    /// Lines that a recording can do without, and that do not count; in the order of the settings.
    private(set) var problems: [SettingsError] = []
    private(set) var services: [String: ServiceSettings] = [:]

    init() {}

    /// Reads what a file holds.
    init(_ table: SettingsTable) throws(SettingsError) {
        var root = SettingsReader(table)
        if case .table? = root.node("service")?.value, let place = root.place("service") {
            throw SettingsError(
                "'service' is the name of one; tables are 'services.NAME'", at: place)
        }
        var groups: [(name: String, reader: SettingsReader)] = []
        for setting in KnownSettings.all {
            let parts = setting.name.split(separator: ".").map(String.init)
            guard parts.count == 2 else {
                try add(setting, parts[0], from: &root)
                continue
            }
            if groups.last?.name != parts[0], let reader = try root.table(parts[0]) {
                groups.append((parts[0], reader))
            }
            guard let last = groups.indices.last, groups[last].name == parts[0] else { continue }
            try add(setting, parts[1], from: &groups[last].reader)
        }
        if case .table(let services)? = root.node("services")?.value {
            var names = SettingsReader(services, name: "services")
            for member in services.members {
                guard var reader = try names.table(member.name) else { continue }
                var service = try ServiceSettings(member.name, &reader)
                service.place = service.place ?? member.place
                self.services[member.name] = service
            }
        } else {
            _ = try root.table("services")
        }
        try ServiceSettings.refuseSecrets(in: root)
        for reader in [root] + groups.map(\.reader) {
            for (error, meant) in reader.unknown(KnownSettings.meant) {
                guard let meant, KnownSettings.isDispensable(meant) else { throw error }
                problems.append(error)
            }
        }
        let keys = [KnownSettings.keyFile.name, KnownSettings.keyCommand.name]
        if entries[keys[0]] != nil, let second = entries[keys[1]] {
            throw SettingsError(
                "'\(keys[0])' and '\(keys[1])' exclude each other", at: second.place)
        }
    }

    /// What the file says of a setting; nil when that is nothing.
    subscript(name: String) -> Entry? { entries[name] }

    /// Adds what the file says of a setting, or notes what is wrong with that.
    private mutating func add(
        _ setting: any AnySetting, _ key: String, from reader: inout SettingsReader
    ) throws(SettingsError) {
        do throws(SettingsError) {
            try addEntry(setting, key, from: &reader)
        } catch {
            guard KnownSettings.isDispensable(setting.name) else { throw error }
            problems.append(error)
        }
    }

    private mutating func addEntry(
        _ setting: any AnySetting, _ key: String, from reader: inout SettingsReader
    ) throws(SettingsError) {
        guard let text = try Self.text(setting.kind, key, from: &reader),
            let place = reader.place(key)
        else { return }
        guard setting.accepts(text) else {
            throw SettingsError(
                "'\(setting.name)' is '\(text)', which is not \(setting.form)", at: place)
        }
        let isPath = setting.kind.isPath(text)
        entries[setting.name] = Entry(
            text: isPath ? ConfigurationFile.expanded(text) : text, place: place)
    }

    private static func text(
        _ kind: SettingKind, _ key: String, from reader: inout SettingsReader
    ) throws(SettingsError) -> String? {
        switch kind {
        case .text, .path, .nameOrPath: return try reader.string(key)
        case .flag: return try reader.flag(key).map { "\($0)" }
        case .count: return try reader.integer(key).map(String.init)
        case .size:
            if case .integer(let number)? = reader.node(key)?.value { return String(number) }
            return try reader.string(key)
        }
    }
}

extension Configuration {
    private static let known = Mutex<Result<Configuration, CommandFailure>?>(nil)
    private static let isForRecording = Atomic(false)

    /// Has lines that a recording can do without left out with a warning, from the first reading
    /// on: a voice cannot be repeated as a command can.
    static func warnOfProblems() { isForRecording.store(true, ordering: .relaxed) }

    /// That of this process's person, which is read once.
    static func current() throws(CommandFailure) -> Configuration {
        try known.withLock { known in
            let result =
                known
                ?? Result { () throws(CommandFailure) in
                    try reading(warns: isForRecording.load(ordering: .relaxed))
                }
            known = result
            return result
        }.get()
    }

    /// Makes another one count, which is being tried and is in no file yet.
    static func use(_ text: String) throws(CommandFailure) {
        let result = Result { () throws(SettingsError) in
            let configuration = try Configuration(SettingsDocument.parse(text))
            if let problem = configuration.problems.first { throw problem }
            return configuration
        }.mapError { CommandFailure(ReadingError($0, of: ConfigurationFile.path)) }
        known.withLock { $0 = result }
        _ = try result.get()
    }

    /// Has the file read again when it is asked for next; what it says may have changed.
    static func forget() { known.withLock { $0 = nil } }

    /// Reads the file anew.
    ///
    /// Lines that a recording can do without are left out with a warning, if it `warns`.
    static func reading(warns: Bool = false) throws(CommandFailure) -> Configuration {
        let path = ConfigurationFile.path
        let text: String?
        do throws(ReadingError) {
            text = try OwnFile(path).settingsText()
        } catch {
            throw CommandFailure(error)
        }
        guard let text else { return Configuration() }
        do throws(SettingsError) {
            let configuration = try Configuration(SettingsDocument.parse(text))
            for problem in configuration.problems {
                guard warns else { throw problem }
                StandardError.line("warning: left out: \(problem.text(of: path))")
            }
            return configuration
        } catch {
            throw CommandFailure(ReadingError(error, of: path))
        }
    }
}
