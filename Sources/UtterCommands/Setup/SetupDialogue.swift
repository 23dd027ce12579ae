// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Settings
internal import Utter
internal import UtterSettings
internal import UtterTerminal

struct SetupDialogue {
    private let dialogue = Dialogue()
    private let profiles: [ServiceProfile]

    /// With all services; a file of the person's own that is wrong is left out, and said.
    init() {
        profiles = Services.names.compactMap { name -> ServiceProfile? in
            do throws(CommandFailure) {
                return try Services.profile(name)
            } catch {
                StandardError.line("warning: \(error.message)")
                return nil
            }
        }
    }

    /// Asks for everything; nil for a recogniser that is to be installed on this machine.
    func answers() throws -> SetupAnswers? {
        guard let (profile, url) = try service() else { return nil }
        var answers = SetupAnswers(profile: profile.name, url: url)
        answers.words = try words(of: profile)
        answers.token = try token(for: profile)
        answers.allowsTokenInClear = try isAllowedInClear(answers, profile)
        answers.device = try device()
        answers.language = try language(of: profile)
        return answers
    }

    // MARK: - Service

    private func service() throws -> (ServiceProfile, url: String?)? {
        if try KnownSettings.service.value() == nil {
            dialogue.say("On this machine, in private: local installs a recogniser.")
        }
        Self.list(profiles, width: StandardError.columns).forEach(dialogue.say)
        for path in Self.recognisers(below: Environment[filled: "XDG_RUNTIME_DIR"] ?? "") {
            dialogue.say("A recogniser of this desktop may listen at unix:\(path)")
        }
        dialogue.say("Part of a name lists those that have it.")
        while true {
            let line = try dialogue.ask("A service by its name, and its URL if that is your own")
            if line == "local" { return nil }
            if let (profile, url) = choice(line) {
                for line in [profile.title] + (url.map { ["at \($0)"] } ?? []) {
                    dialogue.say("  " + line)
                }
                return (profile, url)
            }
            for text in problem(line) { dialogue.say(text) }
        }
    }

    static func list(_ profiles: [ServiceProfile], width: Int) -> [String] {
        let isHere = { (profile: ServiceProfile) in
            // A template without its words has no origin yet, and is elsewhere.
            (try? ServiceURL(profile.url.text).origin.isLoopback) ?? false
        }
        let here = profiles.filter(isHere)
        let away = profiles.filter { !isHere($0) }
        let groups = [
            ("On this machine, free of charge:", here),
            ("Elsewhere, sent while you speak:", away.filter(\.hearsVoices)),
            ("Elsewhere, sent after you have spoken:", away.filter { !$0.hearsVoices }),
        ]
        return groups.filter { !$1.isEmpty }.flatMap { title, profiles in
            let names = profiles.map(\.name).joined(separator: ", ")
            return [title] + TextWidth.wrapped(names, columns: width - 2).map { "  " + $0 }
        }
    }

    /// Sockets below a folder whose names suggest a recogniser, since nothing else tells one.
    ///
    /// Connecting to one could start a program, so setup does not.
    static func recognisers(below folder: String) -> [String] {
        func names(in folder: String) -> [String] {
            // A folder that cannot be read has none for this person.
            ((try? Folder.names(at: folder)) ?? []).sorted().map { "\(folder)/\($0)" }
        }
        let words = ["recogni", "stt", "transcri", "whisper", "myna"]
        return names(in: folder).flatMap { [$0] + names(in: $0) }.filter { path in
            let name = path.dropFirst(folder.count).lowercased()
            var status = stat()
            guard unsafe stat(path.cPath, &status) == 0 else { return false }
            return status.st_mode & S_IFMT == S_IFSOCK && words.contains { name.contains($0) }
        }
    }

    /// The meaning of a line such as `openai`, `openai http://127.0.0.1:8000` or a URL alone.
    func choice(_ line: String) -> (ServiceProfile, url: String?)? {
        let parts = line.split(whereSeparator: \.isWhitespace).map(String.init)
        let url = parts.last.flatMap { Self.isURL($0) ? $0 : nil }
        let name = parts.first.flatMap { Self.isURL($0) ? nil : $0 }
        guard parts.count == (url == nil ? 0 : 1) + (name == nil ? 0 : 1), !parts.isEmpty
        else { return nil }
        if let url {
            // An unreadable URL is asked for again.
            guard let address = try? ServiceURL(TokenMark(in: url).url) else { return nil }
            if let path = address.origin.socketPath {
                // Without a path the profile says the usual one.
                let own = path.isEmpty ? nil : url
                return profile(named: name ?? "desktop", path: nil).map { ($0, own) }
            }
            if address.origin.scheme == "tcp" {
                return profile(named: name ?? "wyoming", path: nil).map { ($0, url) }
            }
            guard let profile = profile(named: name, path: Self.path(of: url)) else { return nil }
            let path = Self.path(of: profile.url.text)
            // A server's name is enough: the path is the service's.
            let isBare = Self.path(of: url).isEmpty && !address.text.contains("?")
            let base = url.last == "/" ? String(url.dropLast()) : url
            return (profile, isBare ? base + path : url)
        }
        return profile(named: name, path: nil).map { ($0, nil) }
    }

    private static func isURL(_ text: String) -> Bool {
        text.contains("://") || text.hasPrefix(ServiceURL.localScheme)
    }

    /// The profile of a name, or of those whose URL has the same path the one that most extend.
    private func profile(named name: String?, path: String?) -> ServiceProfile? {
        if let name {
            let named = profiles(like: name)
            return named.count == 1 ? named[0] : nil
        }
        guard let path, !path.isEmpty else { return nil }
        return profiles.filter { Self.path(of: $0.url.text) == path }.max { one, other in
            extensions(of: one) < extensions(of: other)
        }
    }

    /// The profile of a name, or those that have the text in their name or title.
    private func profiles(like text: String) -> [ServiceProfile] {
        if let profile = profiles.first(where: { $0.name == text }) { return [profile] }
        let part = text.lowercased()
        return profiles.filter {
            $0.name.lowercased().contains(part) || $0.title.lowercased().contains(part)
        }
    }

    private func extensions(of profile: ServiceProfile) -> Int {
        profiles.count { $0.texts.dropFirst().contains { $0.name == profile.name } }
    }

    /// The path of a URL, which may be a template; without a query and a slash at its end.
    private static func path(of url: String) -> String {
        guard let start = url.firstRange(of: "://") else { return "" }
        let rest = url[start.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let path = rest.drop { $0 != "/" }
        return String(path.last == "/" ? path.dropLast() : path)
    }

    private func problem(_ line: String) -> [String] {
        if line.contains("://"), !line.contains(" ") {
            return ["Which service it is like cannot be seen from that URL: write NAME URL."]
        }
        let name = line.prefix { !$0.isWhitespace }.description
        guard !name.isEmpty else { return [] }
        let named = profiles(like: name)
        if named.count > 1 {
            let width = named.map(\.name.count).max() ?? 0
            return named.map {
                let row = "  " + TextWidth.padded($0.name, to: width + 2) + $0.title
                return TextWidth.prefix(of: row, columns: StandardError.columns)
            }
        }
        if named.count == 1 { return ["That is not a URL: write \(named[0].name) https://…"] }
        let near = EditDistance.nearest(to: name, among: profiles.map(\.name))
        return ["There is no such service" + (near.map { "; did you mean '\($0)'?" } ?? ".")]
    }

    private func words(of profile: ServiceProfile) throws -> [(name: String, value: String)] {
        var words: [(name: String, value: String)] = []
        for word in profile.words
        where word.isRequired && word.standard == nil && word.name != "language" {
            var value = ""
            while value.isEmpty {
                value = try dialogue.ask(
                    "\(profile.title) needs a \(word.name)"
                        + (word.about.map { " (\($0))" } ?? "")
                        + (word.choices.isEmpty
                            ? "" : ", one of \(word.choices.joined(separator: ", "))"))
            }
            words.append((word.name, value))
        }
        return words
    }

    // MARK: - Token

    private func token(for profile: ServiceProfile) throws -> SetupAnswers.Token {
        guard let wanted = profile.authentication.token else { return .none }
        var variable: String?
        if case .variable(let name)? = wanted.source, Environment[filled: name] != nil {
            variable = name
        }
        dialogue.say("Its token, or where it is: $VARIABLE, /a/file, or !command that prints it.")
        while true {
            let line = try dialogue.askUnseen(
                "What is typed is not shown; Enter for " + (variable.map { "$\($0)" } ?? "none"))
            var token = line.isEmpty ? .none : SetupAnswers.Token(typed: line)
            if line.isEmpty, let variable { token = .variable(variable) }
            guard let problem = Self.problem(token) else {
                dialogue.say(Self.understood(token))
                return token
            }
            dialogue.say(problem)
        }
    }

    /// The token that was typed unseen, as far as it may be shown.
    private static func understood(_ token: SetupAnswers.Token) -> String {
        switch token {
        case .none: "No token."
        case .typed(let text): "A token of \(text.count) characters."
        case .variable(let name): "The token is in the variable \(name)."
        case .file(let path): "The token is in the file \(path)."
        case .command(let command): "The token is what '\(command)' prints."
        }
    }

    private static func problem(_ token: SetupAnswers.Token) -> String? {
        switch token {
        case .none, .typed: return nil
        case .variable(let name):
            return Environment[filled: name] != nil ? nil : "The variable \(name) is not set."
        case .file(let path):
            // It may be a token that begins like a path: that is not repeated.
            guard unsafe access(ConfigurationFile.expanded(path), F_OK) == 0 else {
                return "There is no such file."
            }
            do throws(CommandFailure) {
                _ = try SecretFile.read(ConfigurationFile.expanded(path), option: "token")
                return nil
            } catch {
                return error.message + (error.hint.map { "; \($0)" } ?? "")
            }
        case .command(let command):
            do throws(CommandFailure) {
                _ = try SecretCommand(command: command, option: "token").firstLine()
                return nil
            } catch {
                return error.message
            }
        }
    }

    private func isAllowedInClear(
        _ answers: SetupAnswers, _ profile: ServiceProfile
    ) throws -> Bool {
        guard answers.token != .none,
            // A template without its words has no origin yet, and is https.
            let origin = try? ServiceURL(answers.url ?? profile.url.text).origin, origin.isInClear
        else { return false }
        return try dialogue.confirms(
            "The token would travel in the clear to \(origin); allow that?", usually: false)
    }

    // MARK: - Microphone and language

    private func device() throws -> String? {
        // The trial reports devices that cannot be listed.
        let devices = (try? DeviceHost.list()) ?? []
        guard devices.count > 1 else { return nil }
        dialogue.say("The microphones:")
        for (index, device) in devices.enumerated() {
            dialogue.say("  \(index + 1)  \(device.name)  \(device.description)")
        }
        while true {
            let line = try dialogue.ask("A microphone by its number or name; Enter for the first")
            if line.isEmpty { return devices[0].isDefault ? nil : devices[0].name }
            if let number = Int(line), devices.indices.contains(number - 1) {
                return devices[number - 1].name
            }
            if Int(line) == nil { return line }
            dialogue.say("There is no number \(line).")
        }
    }

    private func language(of profile: ServiceProfile) throws -> String? {
        guard let word = profile.words.first(where: { $0.name == "language" }) else { return nil }
        let usual = word.standard ?? "what the service decides"
        while true {
            let line = try dialogue.ask("Your language, such as en; Enter for \(usual)")
            if line.isEmpty, word.isRequired, word.standard == nil { continue }
            if line.isEmpty { return nil }
            if word.takes(line) { return line }
            dialogue.say("It has \(word.choices.joined(separator: ", ")).")
        }
    }
}
