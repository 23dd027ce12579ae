// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Settings
internal import Utter
internal import UtterSettings

/// Fields of `-c` are laid over the profile of the service, each as a text of its own, by the
/// reader that reads profiles.
extension ServiceOptions {
    static let tokenFields = ["auth.file", "auth.command", "auth.variable", "auth.credential"]

    static let proxyLoginField = "connection.proxy-login-file"

    var fields: [String] { config.filter { Self.setting($0) == nil } }

    /// The last value of a field; nil: none.
    func field(_ path: String) -> String? {
        config.last { $0.hasPrefix(path + "=") }.map { String($0.dropFirst(path.count + 1)) }
    }

    /// The setting of this process that a word of `-c` is about, and what it says; nil without one.
    private static func setting(_ word: String) -> (setting: any AnySetting, text: String)? {
        let name = String(word.prefix { $0 != "=" })
        // A setting outside of a table has an option.
        guard name.contains("."),
            let setting = KnownSettings.catalogue.all.first(where: { $0.name == name })
        else { return nil }
        let text = String(word.dropFirst(name.count + 1))
        return (setting, setting.kind.isPath(text) ? absolute(text) : text)
    }

    func saySettings() {
        for (setting, text) in config.compactMap(Self.setting) {
            Configuration.say(setting.name, text)
        }
    }

    func says(_ path: String) -> Bool {
        config.contains { $0.hasPrefix(path + "=") || $0.hasPrefix(path + ".") }
    }

    /// The URL that is said for this delivery, and behind which option.
    var target: (text: String, option: String)? {
        to.map { ($0, "--to") } ?? field("url").map { ($0, "-c url") }
    }

    /// The profile with what is said over it; without one that of a service known by its URL.
    func overridden(_ profile: ServiceProfile?) throws(CommandFailure) -> ServiceProfile {
        let text = target?.text ?? ServiceVariables.url ?? Self.localURL
        // An unreadable URL is told of where it is used.
        let url = (try? ServiceURL(TokenMark(in: text).url))?.withoutSecrets().url.withoutBraces
        let below = profile?.texts ?? [ProfileText(plainFor: url ?? Self.localURL)]
        return try Self.profile(overridingTexts(over: profile) + below)
    }

    /// The texts that stand over the profile of a kept take, which has been found to fit.
    func overridingTexts(
        of record: DeliveryManifest
    ) throws(CommandFailure) -> [ProfileText] {
        let texts = try overridingTexts()
        guard !texts.isEmpty else { return [] }
        _ = try Self.profile(texts + record.profileTexts.later)
        return texts
    }

    /// Header fields count most, and come first; before another field comes one that is said later.
    private func overridingTexts(
        over profile: ServiceProfile? = nil
    ) throws(CommandFailure) -> [ProfileText] {
        var texts: [ProfileText] = []
        for word in fields {
            let path = String(word.prefix { $0 != "=" })
            let isSecret =
                path.hasPrefix("words.") && SecretName.isSecret(String(path.dropFirst(6)))
            guard let key = ProfileKey.named(path), !isSecret else { throw Self.unknown(path) }
            // These are said of one delivery, as by options, and belong to it alone.
            guard !(Self.tokenFields + ["url", Self.proxyLoginField]).contains(path) else {
                continue
            }
            var value = String(word.dropFirst(path.count + 1))
            if key.form == .path { value = Self.absolute(value) }
            // A service with two ways has messages in the live one alone.
            let isOfLiveWay = path.hasPrefix("socket.") && profile?.hasLiveWay == true
            texts.insert(
                ProfileText(
                    overriding: (isOfLiveWay ? "live." : "") + key.line(for: path, value: value),
                    place: "-c \(TerminalText.shown(path))"), at: 0)
        }
        let headers = try headerFields().filter { !SecretName.isSecret($0.name) }
        guard !headers.isEmpty else { return texts }
        var said = ProfileFields()
        said.say("headers", headers.map { ($0.name, $0.value, nil) })
        let text = said.lines().joined(separator: "\n")
        return [ProfileText(overriding: text, place: "--header")] + texts
    }

    /// The header fields that options say, but for those in files.
    func headerFields() throws(CommandFailure) -> [HeaderField] {
        try explained("--header") {
            try header.filter { !$0.hasPrefix("@") }.map(HeaderField.init(line:))
        }
    }

    private static func profile(
        _ texts: [ProfileText]
    ) throws(CommandFailure) -> ServiceProfile {
        do throws(SettingsError) {
            return try ServiceProfile(texts: texts)
        } catch {
            // The texts before could be read, so that `-c` is to blame.
            let place = error.place?.file.flatMap { $0.hasPrefix("-c ") ? $0 : nil } ?? "-c"
            let isSecret = error.reason.contains("must not hold a secret")
            // The place has the name of the field already.
            let name = "'\(place.dropFirst("-c ".count))'"
            let reason = error.reason
            let rest = reason.hasPrefix(name) ? String(reason.dropFirst(name.count)) : ": \(reason)"
            throw CommandFailure(
                place + rest, hint: isSecret ? secretHint : fieldsHint, status: .usage)
        }
    }

    private static func unknown(_ path: String) -> CommandFailure {
        let shown = TerminalText.shown(path)
        let last = path.split(separator: ".").last.map(String.init) ?? path
        guard !SecretName.isSecret(last) else {
            return CommandFailure(
                "-c \(shown): other users can see command lines, so no secret is taken from one",
                hint: secretHint, status: .usage)
        }
        guard !KnownSettings.catalogue.all.contains(where: { $0.name == path }) else {
            return CommandFailure("-c \(shown): write --\(shown)", status: .usage)
        }
        let near = ProfileKey.question(about: path, or: KnownSettings.catalogue.all.map(\.name))
        return CommandFailure("-c \(shown) is not known\(near)", hint: fieldsHint, status: .usage)
    }

    /// The fields or settings that a name comes near to.
    static func nearest(to name: String) -> [String] {
        ProfileKey.nearest(to: name, or: KnownSettings.catalogue.all.map(\.name))
    }

    private static let fieldsHint = "see the fields with: utter services fields"
    private static let secretHint =
        "say where it is: -c auth.file=FILE, auth.variable=NAME or auth.command=COMMAND"

    // MARK: - Checks

    /// Why what is said cannot be meant; nil when it can.
    var fieldMistake: String? {
        // A word without a sign may be a secret, and is not repeated.
        guard config.allSatisfy({ $0.dropFirst().contains("=") && $0.first != "=" }) else {
            return "-c needs KEY=VALUE, such as transfer.framing=length."
        }
        if to != nil, field("url") != nil { return "--to and -c url cannot be used together." }
        if let empty = (Self.tokenFields + [Self.proxyLoginField]).first(where: {
            field($0)?.isEmpty == true
        }) {
            return "-c \(empty) needs a value."
        }
        for (setting, text) in config.compactMap(Self.setting) where !setting.accepts(text) {
            return "-c \(setting.name): '\(TerminalText.shown(text))' is not \(setting.form)."
        }
        return nil
    }

    /// Demands that the files that are named here, or in the settings, hold what they should, before
    /// anything is recorded.
    func checkFiles(
        _ connection: ConnectionSettings, by settings: ServiceSettings?
    ) throws(CommandFailure) {
        /// A message's name for a field; nil when nothing is said for it now.
        func option(_ name: String) -> String? {
            let path = "connection.\(name)"
            if says(path) { return "-c \(path)" }
            return settings.flatMap { $0.says(path) ? "services.\($0.name).\(path)" : nil }
        }
        if let option = option("ca-file"), let file = connection.certificateFile {
            try CertificateFile.check(file, option: option)
        }
        let (certificate, key) = (option("client-certificate"), option("client-key"))
        guard let named = certificate ?? key, let file = connection.clientCertificate
        else { return }
        try CertificateFile.check(file, option: certificate ?? named)
        try CertificateFile.check(
            connection.clientKey ?? file,
            option: connection.clientKey == nil ? certificate ?? named : key ?? named,
            holds: "private key", in: CertificateFile.privateKey)
    }
}
