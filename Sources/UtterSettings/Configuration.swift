// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
package import Settings
internal import SpeechService

/// The settings of the person's file.
///
/// A service that it names is a table `services.NAME`; all else is a setting of a catalogue.
package struct Configuration: Sendable {
    package struct Entry: Sendable, Equatable {
        /// As an option would have it.
        package let text: String
        package let place: SettingsPosition
        /// Whether a preset says it that was chosen: it counts before a variable then.
        package internal(set) var isOfPreset = false
    }

    private var entries: [String: Entry] = [:]
    /// Lines that a recording can do without, and that do not count; in the order of the settings.
    package private(set) var problems: [SettingsError] = []
    package private(set) var services: [String: ServiceSettings] = [:]
    /// Settings under a name, each a table `presets.NAME`.
    private var presets: [String: Configuration] = [:]
    /// The entries of the preset that was chosen, if one was.
    private var chosen: [String: Entry] = [:]

    package init() {}

    /// Reads the person's own file; what it says is nothing when there is none.
    ///
    /// - Throws: `ReadingError` when it cannot be read, or may be written by others.
    package static func reading(
        _ catalogue: SettingsCatalogue
    ) throws(ReadingError) -> Configuration {
        let path = ConfigurationFile.path
        let text = try OwnFile(path).settingsText(limit: SettingsDocument.byteLimit)
        return try text.map { text throws(ReadingError) in
            try Configuration(text, catalogue)
        } ?? Configuration()
    }

    package init(_ text: String, _ catalogue: SettingsCatalogue) throws(ReadingError) {
        do throws(SettingsError) {
            try self.init(SettingsDocument.parse(text), catalogue)
        } catch {
            throw ReadingError(error, of: ConfigurationFile.path)
        }
    }

    /// `preset` is the path of a table whose settings have a name.
    init(
        _ table: SettingsTable, _ catalogue: SettingsCatalogue, preset: String? = nil
    ) throws(SettingsError) {
        var root = SettingsReader(table, name: preset)
        if case .table? = root.node("service")?.value, let place = root.place("service") {
            throw SettingsError(
                "'service' must be a name; write its table as [services.NAME]", at: place)
        }
        var groups: [(name: String, reader: SettingsReader)] = []
        for setting in catalogue.all {
            let parts = setting.name.split(separator: ".").map(String.init)
            guard parts.count == 2 else {
                try add(setting, parts[0], from: &root, catalogue)
                continue
            }
            if groups.last?.name != parts[0], let reader = try root.table(parts[0]) {
                groups.append((parts[0], reader))
            }
            guard let last = groups.indices.last, groups[last].name == parts[0] else { continue }
            try add(setting, parts[1], from: &groups[last].reader, catalogue)
            guard preset != nil, catalogue.storewide.contains(setting.name) else { continue }
            if entries[setting.name] != nil {
                throw groups[last].reader.error(
                    parts[1], " cannot be in a preset, since '\(setting.name)' is about all takes")
            }
        }
        if preset == nil, let names = try root.table("presets") {
            for member in names.table.members {
                guard let table = member.node.value.table else {
                    throw names.error(member.name, " must be a table")
                }
                presets[member.name] = try Configuration(
                    table, catalogue, preset: names.path(member.name))
            }
        }
        if preset == nil, var names = try root.table("services") {
            for member in names.table.members {
                guard var reader = try names.table(member.name) else { continue }
                var service = try ServiceSettings(member.name, &reader)
                service.place = service.place ?? member.place
                services[member.name] = service
            }
        }
        try ServiceSettings.refuseSecrets(in: root)
        for reader in [root] + groups.map(\.reader) {
            for (error, meant) in reader.unknown(catalogue.meant) {
                guard catalogue.isDispensable(meant) else { throw error }
                problems.append(error)
            }
        }
        let keys = ["encryption.key-file", "encryption.key-command"]
        if entries[keys[0]] != nil, let second = entries[keys[1]] {
            throw SettingsError(
                "'\(keys[0])' and '\(keys[1])' cannot be used together", at: second.place)
        }
    }

    package subscript(name: String) -> Entry? { chosen[name] ?? entries[name] }

    /// The entry of the file for all commands, whichever preset was chosen.
    package func usual(_ name: String) -> Entry? { entries[name] }

    package var presetNames: [String] { presets.keys.sorted() }

    /// These settings, before which those of a preset count; nil when there is none of the name.
    package func choosing(_ preset: String) -> Configuration? {
        guard let chosen = presets[preset] else { return nil }
        var configuration = self
        configuration.problems += chosen.problems
        for (name, entry) in chosen.entries {
            configuration.chosen[name] = entry
            configuration.chosen[name]?.isOfPreset = true
        }
        return configuration
    }

    /// Adds what the file says of a setting, or notes what is wrong with that.
    private mutating func add(
        _ setting: any AnySetting, _ key: String, from reader: inout SettingsReader,
        _ catalogue: SettingsCatalogue
    ) throws(SettingsError) {
        do throws(SettingsError) {
            guard let text = try Self.text(setting.kind, key, from: &reader),
                let place = reader.place(key)
            else { return }
            guard setting.accepts(text) else {
                let fault = text.isEmpty ? "empty" : "'\(text)', but must be \(setting.form)"
                throw SettingsError("'\(setting.name)' is \(fault)", at: place)
            }
            let isPath = setting.kind.isPath(text)
            entries[setting.name] = Entry(
                text: isPath ? ConfigurationFile.expanded(text) : text, place: place)
        } catch {
            guard catalogue.isDispensable(setting.name) else { throw error }
            problems.append(error)
        }
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

package enum ConfigurationFile {
    /// `$XDG_CONFIG_HOME/utter`, or `~/.config/utter`.
    package static var folder: String {
        Environment.folder("XDG_CONFIG_HOME", orBelowHome: "/.config")
    }

    package static var path: String { folder + "/config.toml" }

    /// How long another process may change the file.
    private static let patience = Duration.seconds(5)

    /// Locks the folder of the file; nil when another process holds it for five seconds.
    package static func lock() throws(SystemError) -> Folder? {
        // The folder itself may be a link.
        let folder = try Folder.make(at: folder.resolvedPath ?? folder)
        return try folder.lock(until: .now + patience) ? folder : nil
    }

    package static var state: String {
        unsafe access(path.cPath, F_OK) == 0
            ? "\(path) is valid" : "there is no \(path): variables and defaults count"
    }

    /// A path that stands in the file: `~/` is the home, and what is relative begins beside the
    /// file.
    package static func expanded(_ text: String) -> String {
        if text.hasPrefix("/") { return text }
        if text.hasPrefix("~/") { return Environment.home + text.dropFirst() }
        return folder + "/" + text
    }
}
