// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Settings
internal import Utter
internal import UtterSettings
internal import UtterTerminal

struct ConfigurationChange {
    private let name: String
    private let path: [String]
    /// The setting; nil for a field of a service of the file.
    private let setting: (any AnySetting)?

    init(_ name: String) throws(CommandFailure) {
        self.name = name
        path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        setting = KnownSettings.catalogue.all.first { $0.name == name }
        guard setting == nil else { return }
        guard path.count >= 3, path[0] == "services", !path.contains("") else {
            let meant = KnownSettings.catalogue.meant(by: name, isTable: false)
            throw CommandFailure(
                "'\(TerminalText.shown(name))' is not known",
                hint: meant.map { "did you mean '\($0)'? " } ?? ""
                    + "'utter config show' lists the settings; those of a service are 'services.NAME.…'",
                status: .usage)
        }
    }

    /// The value that counts now, as a file would have it; nil: none.
    func value() throws(CommandFailure) -> String? {
        if let setting {
            let entry = try Configuration.current()[name]
            return try setting.variableText() ?? entry?.text ?? setting.standard
        }
        guard let text = try Self.fileText() else { return nil }
        return try edit { () throws(SettingsText.Mistake) in
            try SettingsText(text).value(at: path)
        }
    }

    func set(_ value: String) throws(CommandFailure) {
        if let setting, !setting.accepts(value) {
            throw CommandFailure(
                "'\(TerminalText.shown(value))' is not \(setting.form)", status: .usage)
        }
        let lock = try Self.lock()
        defer { lock.unlock() }
        let old = try Self.fileText() ?? KnownSettings.catalogue.template
        // A file begins at its own folder, and a shell at the person's.
        let value =
            isPath(value)
            ? ServiceOptions.absolute(value)
            : setting.map { KnownSettings.literal(of: value, $0) } ?? value
        var literals = [field?.literal(of: value) ?? TOMLText.quoted(value)]
        if field == nil, Int(value) != nil || Bool(value) != nil { literals.append(value) }
        var failure: CommandFailure?
        for literal in literals {
            let text = try edit { () throws(SettingsText.Mistake) in
                try SettingsText(old).setting(path, to: literal)
            }
            do throws(CommandFailure) {
                if setting == nil { try check(value, literal) }
                try Configuration.use(text)
                if name == KnownSettings.service.name {
                    _ = try Services.profile(named: value, isOption: true)
                }
                try ConfigurationFile.replace(text)
                return warnOfService()
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Demands that a value can be right for a service; what is missing beside it may be set next.
    private func check(_ value: String, _ literal: String) throws(CommandFailure) {
        if path[2] == "url" {
            try explained(name, status: .configuration) {
                _ = try ServiceURL(TokenMark(in: value).url)
            }
        }
        let key = path.dropFirst(2).joined(separator: ".")
        guard let field, !ServiceOptions.tokenFields.contains(key) else { return }
        let own = ProfileText(overriding: field.line(for: key, literal: literal), place: name)
        // A file that cannot be read names no profile.
        let profile = (try? Configuration.current())?.services[path[1]]?.profile ?? path[1]
        // Another line may lack its neighbour still.
        var known = try? Services.profile(named: path[1], isOption: true)
        // The profile may be named next.
        if known == nil { known = try? Services.profile(profile) }
        // A profile brings the words that a value may hold.
        guard known != nil || !value.contains("{") else { return }
        let texts = known?.texts ?? [ProfileText(plainFor: ServiceOptions.localURL)]
        do throws(SettingsError) {
            _ = try ServiceProfile(texts: [own] + texts)
        } catch {
            // A value stands behind its name, which is the place of what is missing.
            guard let at = error.place, at.file == name, at.column > key.count else { return }
            throw CommandFailure(
                "\(name): \(error.reason)",
                hint: "nothing was written; see the fields with: utter services fields",
                status: .configuration)
        }
    }

    /// Says what a service of the file lacks: its lines are written one after the other.
    private func warnOfService() {
        guard setting == nil else { return }
        do throws(CommandFailure) {
            try Configuration.current().services[path[1]]?.check()
        } catch {
            StandardError.line("warning: \(error.message)")
        }
    }

    func unset() throws(CommandFailure) {
        let lock = try Self.lock()
        defer { lock.unlock() }
        guard let old = try Self.fileText() else { throw notThere }
        let text = try edit { () throws(SettingsText.Mistake) in
            try SettingsText(old).removing(path)
        }
        try Configuration.use(text)
        try ConfigurationFile.replace(text)
    }

    /// The variable that counts before the file; nil when none does.
    var overridingVariable: String? {
        setting?.variable.flatMap { Environment[filled: $0] == nil ? nil : $0 }
    }

    private func isPath(_ value: String) -> Bool {
        if value.hasPrefix("~/") || value.hasPrefix("/") { return false }
        if let setting { return setting.kind.isPath(value) }
        return path.last == "token-file" || field?.form == .path
    }

    /// The field of a profile that is set for a service; its table has names of its own besides.
    private var field: ProfileKey? {
        guard setting == nil, !["url", "words"].contains(path[2]) else { return nil }
        return ProfileKey.named(path.dropFirst(2).joined(separator: "."))
    }

    private static func lock() throws(CommandFailure) -> Folder {
        try ConfigurationFile.makeFolder()
        if let folder = try orFailure({ try ConfigurationFile.lock() }) { return folder }
        throw CommandFailure(
            "another process changes the settings", hint: "try again", status: .localIO)
    }

    private static func fileText() throws(CommandFailure) -> String? {
        try orFailure {
            try OwnFile(ConfigurationFile.path).settingsText(limit: SettingsDocument.byteLimit)
        }
    }

    private var notThere: CommandFailure {
        CommandFailure(
            "'\(TerminalText.shown(name))' is not in \(ConfigurationFile.path)",
            status: .configuration)
    }

    private func edit<Value>(
        _ body: () throws(SettingsText.Mistake) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(SettingsText.Mistake) {
            return try body()
        } catch {
            switch error {
            case .unreadable(let error):
                throw CommandFailure(of: error)
            case .tooElaborate(let place):
                let line = place.map { ":\($0.line)" } ?? ""
                throw CommandFailure(
                    "'\(name)' is written so that only a person can change it, in "
                        + "\(ConfigurationFile.path)\(line)",
                    hint: "change it with: utter config edit", status: .configuration)
            case .notThere: throw notThere
            }
        }
    }
}
