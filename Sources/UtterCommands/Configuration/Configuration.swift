// SPDX-License-Identifier: Apache-2.0

package import Settings
internal import Synchronization

/// What the person's file of settings says.
///
/// It is read once a process, before anything is recorded: what happens to the file later costs
/// nothing. A daemon reads it again when it has changed.
package struct Configuration: Sendable {
    /// What the file says of one setting.
    package struct Entry: Sendable, Equatable {
        /// The value, as an option would have it.
        package var text: String
        /// Where it stands.
        package var place: SettingsPlace
    }

    private var entries: [String: Entry] = [:]
    /// What the file says of services, by their names.
    package private(set) var services: [String: ServiceSettings] = [:]

    /// Says nothing.
    package init() {}

    /// Reads what a file holds.
    ///
    /// - Throws: `SettingsError` for a name that is not known or a value that is none.
    package init(_ table: SettingsTable) throws(SettingsError) {
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
        try root.finish(KnownSettings.meant)
        for group in groups { try group.reader.finish(KnownSettings.meant) }
        let keys = [KnownSettings.keyFile.name, KnownSettings.keyCommand.name]
        if entries[keys[0]] != nil, let second = entries[keys[1]] {
            throw SettingsError(
                "'\(keys[0])' and '\(keys[1])' exclude each other", at: second.place)
        }
    }

    /// What the file says of a setting; nil when that is nothing.
    package subscript(name: String) -> Entry? { entries[name] }

    private mutating func add(
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

    /// That of this process's person, which is read once.
    ///
    /// - Throws: `CommandFailure` when the file cannot be used.
    package static func current() throws(CommandFailure) -> Configuration {
        try known.withLock { known in
            let result = known ?? Result { () throws(CommandFailure) in try reading() }
            known = result
            return result
        }.get()
    }

    /// Makes another one count, which is being tried and is in no file yet.
    static func use(_ text: String) throws(CommandFailure) {
        let result = Result { () throws(SettingsError) in
            try Configuration(SettingsDocument.parse(text))
        }.mapError { SettingsFile(path: ConfigurationFile.path).failure($0) }
        known.withLock { $0 = result }
        _ = try result.get()
    }

    /// Has the file read again when it is asked for next; what it says may have changed.
    static func forget() { known.withLock { $0 = nil } }

    /// Reads the file anew.
    ///
    /// - Throws: `CommandFailure` when the file cannot be used.
    static func reading() throws(CommandFailure) -> Configuration {
        let file = SettingsFile(path: ConfigurationFile.path)
        guard let table = try file.table() else { return Configuration() }
        do throws(SettingsError) {
            return try Configuration(table)
        } catch {
            throw file.failure(error)
        }
    }
}
