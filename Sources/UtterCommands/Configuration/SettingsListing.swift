// SPDX-License-Identifier: Apache-2.0

internal import Settings
internal import Utter
internal import UtterSettings
internal import UtterTerminal

enum SettingsListing {
    /// The settings that count now, as a file would say them; one that says nothing is a remark.
    static func text(isExplained: Bool) throws(CommandFailure) -> String {
        let configuration = try Configuration.current()
        var rows: [(text: String, origin: String)] = []
        for setting in KnownSettings.catalogue.all {
            rows.append(try row(setting, in: configuration))
        }
        for (_, service) in configuration.services.sorted(by: { $0.key < $1.key }) {
            let path = "services.\(TOMLText.key(service.name))"
            rows += TOMLText.lines(of: service.table, in: path).map { ($0.text, origin($0.place)) }
        }
        guard isExplained else { return rows.map(\.text).joined(separator: "\n") }
        let width = rows.map(\.text.count).max() ?? 0
        return rows.map { TextWidth.padded($0.text, to: width + 2) + "# " + $0.origin }
            .joined(separator: "\n")
    }

    /// Reads the file anew, the variables, and the descriptions of the services that are named.
    static func check() throws(CommandFailure) {
        let configuration = try Configuration.reading()
        for setting in KnownSettings.catalogue.all { _ = try setting.variableText() }
        for service in configuration.services.values.sorted(by: { $0.name < $1.name }) {
            try service.check()
        }
        if let name = try KnownSettings.service.value() {
            _ = try Services.profile(named: name, isOption: false)
        }
        // Its secrets may be elsewhere.
        _ = try KnownSettings.archive(isOptional: true)
    }

    private static func row(
        _ setting: any AnySetting, in configuration: Configuration
    ) throws(CommandFailure) -> (text: String, origin: String) {
        if let text = try setting.variableText() {
            return (line(setting, text), setting.variable ?? "")
        }
        if let entry = configuration[setting.name] {
            return (line(setting, entry.text), origin(entry.place))
        }
        if let (text, profile) = try standard(of: setting, in: configuration) {
            return (line(setting, text), "profile \(profile)")
        }
        guard let standard = setting.standard else { return ("# \(setting.name)", "not set") }
        return (line(setting, standard), "default")
    }

    /// The value in the profile of the service that counts, where nothing else says one.
    private static func standard(
        of setting: any AnySetting, in configuration: Configuration
    ) throws(CommandFailure) -> (text: String, profile: String)? {
        guard
            ProfileWord.usual.contains(setting.name)
                || setting.name == KnownSettings.format.name,
            let name = try KnownSettings.service.value()
        else { return nil }
        let service = configuration.services[name]
        let profile = try Services.profile(named: name, isOption: false)
        guard setting.name != KnownSettings.format.name else {
            return profile.codecs.first.map { ($0.name, profile.name) }
        }
        guard service?.words[setting.name] == nil else { return nil }
        return profile.words.first { $0.name == setting.name }?.standard
            .map { ($0, profile.name) }
    }

    private static func origin(_ place: SettingsPosition) -> String {
        "\(ConfigurationFile.path):\(place.line)"
    }

    private static func line(_ setting: any AnySetting, _ text: String) -> String {
        let isBare = setting.kind.isBare || setting.kind == .size && Int(text) != nil
        return "\(setting.name) = \(isBare ? text : TOMLText.quoted(text))"
    }
}
