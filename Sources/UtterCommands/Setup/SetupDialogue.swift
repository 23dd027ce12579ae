// SPDX-License-Identifier: Apache-2.0

internal import AudioDevices
internal import Glibc
internal import LinuxPlatform
internal import Settings
internal import Utter

/// The questions of `utter setup`, in their order.
struct SetupDialogue {
    private let dialogue = Dialogue()
    /// The services that there are.
    let profiles: [ServiceProfile]

    /// Asks for everything.
    ///
    /// - Throws: `CommandFailure` at the end of what is typed.
    func answers() throws(CommandFailure) -> SetupAnswers {
        let (profile, url) = try service()
        var answers = SetupAnswers(profile: profile.name, url: url)
        answers.words = try words(of: profile)
        answers.token = try token(for: profile)
        answers.allowsTokenInClear = try isAllowedInClear(answers, profile)
        answers.device = try device()
        answers.language = try language(of: profile)
        return answers
    }

    // MARK: - Service

    private func service() throws(CommandFailure) -> (ServiceProfile, url: String?) {
        dialogue.say("The services:")
        let width = profiles.map(\.name.count).max() ?? 0
        for profile in profiles {
            dialogue.say("  " + TextWidth.padded(profile.name, to: width + 2) + profile.title)
        }
        while true {
            let line = try dialogue.ask("A service of these, with its URL if that is another")
            if let choice = choice(line) { return choice }
            dialogue.say(problem(line))
        }
    }

    /// What a line such as `openai`, `openai http://127.0.0.1:8000` or a URL alone means.
    func choice(_ line: String) -> (ServiceProfile, url: String?)? {
        let parts = line.split(whereSeparator: \.isWhitespace).map(String.init)
        let url = parts.last.flatMap { $0.contains("://") ? $0 : nil }
        let name = parts.first.flatMap { $0.contains("://") ? nil : $0 }
        guard parts.count == (url == nil ? 0 : 1) + (name == nil ? 0 : 1), !parts.isEmpty
        else { return nil }
        if let url {
            // One that cannot be read is asked for again.
            guard let address = try? ServiceURL(TokenMark(in: url).url) else { return nil }
            guard let profile = profile(named: name, path: Self.path(of: url)) else { return nil }
            let path = Self.path(of: profile.url.text)
            // A server's name is enough: the path is the service's.
            let isBare = Self.path(of: url).isEmpty && !address.text.contains("?")
            let base = url.last == "/" ? String(url.dropLast()) : url
            return (profile, isBare ? base + path : url)
        }
        return profile(named: name, path: nil).map { ($0, nil) }
    }

    /// The profile of a name, or the first whose URL has the same path.
    private func profile(named name: String?, path: String?) -> ServiceProfile? {
        if let name { return profiles.first { $0.name == name } }
        guard let path, !path.isEmpty else { return nil }
        return profiles.first { Self.path(of: $0.url.text) == path }
    }

    /// The path of a URL, which may be a template; without a query and a slash at its end.
    private static func path(of url: String) -> String {
        guard let start = url.firstRange(of: "://") else { return "" }
        let rest = url[start.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let path = rest.drop { $0 != "/" }
        return String(path.last == "/" ? path.dropLast() : path)
    }

    private func problem(_ line: String) -> String {
        if line.contains("://"), !line.contains(" ") {
            return "Which service it is like cannot be seen from that URL: write NAME URL."
        }
        let near = EditDistance.nearest(
            to: line.prefix { !$0.isWhitespace }.description, among: profiles.map(\.name))
        return "There is no such service" + (near.map { "; did you mean '\($0)'?" } ?? ".")
    }

    /// What the service cannot be asked without.
    private func words(of profile: ServiceProfile) throws(CommandFailure) -> [SetupWord] {
        var words: [SetupWord] = []
        for word in profile.words
        where word.isRequired && word.standard == nil && word.name != "language" {
            var value = ""
            while value.isEmpty {
                value = try dialogue.ask(
                    "\(profile.title) needs a \(word.name)"
                        + (word.about.map { " (\($0))" } ?? "")
                        + (word.isLimited
                            ? ", one of \(word.values.map(\.said).joined(separator: ", "))" : ""))
            }
            words.append(SetupWord(name: word.name, value: value))
        }
        return words
    }

    // MARK: - Token

    private func token(
        for profile: ServiceProfile
    ) throws(CommandFailure) -> SetupAnswers.Token {
        guard let wanted = profile.authentication.token else { return .none }
        var variable: String?
        if case .variable(let name)? = wanted.source,
            Environment[name]?.isEmpty == false
        {
            variable = name
        }
        let enter = variable.map { "Enter for $\($0)" } ?? "Enter to paste it unseen"
        while true {
            let line = try dialogue.ask(
                "Its token: $VARIABLE, a file's path, !command that prints it; - for none; \(enter)"
            )
            var token = SetupAnswers.Token(typed: line)
            if line.isEmpty {
                if let variable { token = .variable(variable) } else { token = try unseenToken() }
            }
            guard let problem = Self.problem(token) else { return token }
            dialogue.say(problem)
        }
    }

    private func unseenToken() throws(CommandFailure) -> SetupAnswers.Token {
        let text = try dialogue.askUnseen("Token (unseen; Enter alone for none)")
        return text.isEmpty ? .none : .typed(text)
    }

    private static func problem(_ token: SetupAnswers.Token) -> String? {
        switch token {
        case .none, .typed: return nil
        case .variable(let name):
            return Environment[name]?.isEmpty == false ? nil : "The variable \(name) is not set."
        case .file(let path):
            do throws(CommandFailure) {
                _ = try SecretFile.read(ConfigurationFile.expanded(path), option: "token")
                return nil
            } catch {
                return error.message + (error.hint.map { "; \($0)" } ?? "")
            }
        case .command(let command):
            do throws(CommandFailure) {
                _ = try SecretReader.command(command, option: "token")
                return nil
            } catch {
                return error.message
            }
        }
    }

    private func isAllowedInClear(
        _ answers: SetupAnswers, _ profile: ServiceProfile
    ) throws(CommandFailure) -> Bool {
        guard answers.token != .none,
            // A template without its words has no origin yet, and is https.
            let origin = try? ServiceURL(answers.url ?? profile.url.text).origin, origin.isInClear
        else { return false }
        return try dialogue.confirms(
            "The token would travel in the clear to \(origin); allow that?", usually: false)
    }

    // MARK: - Microphone and language

    private func device() throws(CommandFailure) -> String? {
        // What cannot be listed is said when it is tried.
        let devices = (try? CaptureDevices.list()) ?? []
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

    private func language(of profile: ServiceProfile) throws(CommandFailure) -> String? {
        guard let word = profile.words.first(where: { $0.name == "language" }) else { return nil }
        let usual = word.standard ?? "as the service decides"
        while true {
            let line = try dialogue.ask("Your language, such as en; Enter for \(usual)")
            if line.isEmpty, word.isRequired, word.standard == nil { continue }
            if !word.isLimited || line.isEmpty
                || word.values.contains(where: { $0.said == line || $0.sent == line })
            {
                return line.isEmpty ? nil : line
            }
            dialogue.say("It has \(word.values.map(\.said).joined(separator: ", ")).")
        }
    }
}
