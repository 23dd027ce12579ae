// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Utter
internal import UtterSettings

extension Services {
    static func profile(_ name: String) throws(CommandFailure) -> ServiceProfile {
        try orFailure { try profiles.profile(name) }
    }

    /// The profile of a service as the person's settings mean it; a failure names the place in the file
    /// if that is to blame, and no option (`isOption`) or variable.
    static func profile(
        named name: String, isOption: Bool
    ) throws(CommandFailure) -> ServiceProfile {
        let configuration = try Configuration.current()
        let settings = configuration.services[name]
        let found: ServiceProfile
        do throws(CommandFailure) {
            if let plain = try plain(settings) {
                found = plain
            } else {
                found = try profile(settings?.profile ?? name)
            }
        } catch {
            let setting = KnownSettings.service
            if let place = settings?.place { throw error.standing(at: place) }
            guard !isOption, try setting.variableText() == nil else { throw error }
            throw error.standing(at: configuration[setting.name]?.place)
        }
        return try orFailure { try settings?.laid(over: found) ?? found }
    }

    /// An empty profile for a service that stands in the settings alone: they say its URL.
    private static func plain(_ settings: ServiceSettings?) throws(CommandFailure)
        -> ServiceProfile?
    {
        guard let settings, let url = settings.url, settings.profile == settings.name,
            !names.contains(settings.name)
        else {
            return nil
        }
        let title = ProfileText(
            overriding: "title = \(TOMLText.quoted(settings.name))", place: "the settings")
        return try orFailure {
            try .reading([title, ProfileText(plainFor: TokenMark(in: url.text).url)])
        }
    }

    /// The profile of a service as a take uses it, and what the settings say over it.
    static func shown(_ name: String) throws(CommandFailure) -> (ServiceProfile, ServiceSettings?) {
        // A mistake in the file hides no profile.
        guard let settings = (try? Configuration.current())?.services[name] else {
            return (try profile(name), nil)
        }
        var found = try profile(named: name, isOption: true)
        for (index, word) in found.words.enumerated() {
            found.words[index].standard = settings.words[word.name]?.text ?? word.standard
        }
        if let url = settings.url?.text {
            // A URL with words in it cannot be parsed; that of the settings is shown as written then.
            let (old, new) = (try? ServiceURL(found.url.text), try? ServiceURL(url))
            found.url = WordTemplate(new.flatMap { old?.moved(to: $0).text } ?? url)
            if !settings.says("auth.optional") {
                found.authentication.token?.isRequired = settings.token != nil
            }
        }
        if let token = settings.token { found.authentication.token?.source = token }
        return (found, settings)
    }

    /// Whether the settings or a profile of today have a token printed by this command: one that only
    /// the folder of a take brings is not run.
    static func know(_ command: String) -> Bool {
        // An unreadable file names no command, here and below.
        let settings = (try? Configuration.current())?.services.values.map { $0 } ?? []
        if settings.contains(where: { $0.token == .command(command) }) { return true }
        // An unreadable setting names no service.
        let chosen = (try? KnownSettings.service.value()).map { [$0] } ?? []
        let own = Profiles.folder(folder).names + settings.map(\.name) + chosen
        return own.contains { name in
            // An unreadable profile names no command.
            let parts = (try? profile(named: name, isOption: true))?.authentication.parts ?? []
            return parts.contains { $0.source == .command(command) }
        }
    }

    static func make(_ name: String) throws(CommandFailure) -> String {
        guard Profiles.isName(name), !name.hasSuffix(".toml") else {
            throw CommandFailure(
                "'\(name)' cannot be the name of a service",
                hint: "use letters, digits, '-', '_' and '.'", status: .usage)
        }
        try ConfigurationFile.makeFolder()
        if unsafe mkdir(folder.cPath, 0o700) != 0, errno != EEXIST {
            let error = SystemError.last("mkdir")
            throw CommandFailure(
                "cannot make the folder '\(folder)': \(error.reason)", status: .localIO)
        }
        let path = "\(folder)/\(name).toml"
        try SecretFile.make(Array(template(name).utf8), at: path)
        return path
    }

    private static func template(_ name: String) -> String {
        """
        # How utter asks the service "\(name)". What begins with '#' is a remark or an example.
        # 'utter services show openai' shows a complete one.
        title = "\(name)"
        # docs = "https://…"
        # extends = "openai"           # begin with another profile; tables are put together

        # Where the recording goes. {word} stands for what is said with --language, --model,
        # --prompt or --set WORD=VALUE.
        url = "http://localhost:8000/v1/audio/transcriptions"
        # method = "PUT"

        # [auth]
        # kind = "bearer"              # or scheme, header, query, basic, none
        # header = "xi-api-key"        # for kind = "header"
        # variable = "\(variable(name))"   # where the token is; or file, command, credential
        # optional = true

        # [query]                      # what has a word that is not said is left out
        # language = "{language}"

        # [headers]
        # X-Model = "{model}"

        # [words]
        # model = "large"              # what counts unless another is said
        # region = { required = true, about = "where the service is", values = { eu = "eu-west-1" } }

        # [body]
        # kind = "form"                # raw: the audio alone; json: see 'template'
        # file-field = "file"
        # fields = { model = "{model}", language = "{language}" }
        # template = '{"audio":"{audio}","language":"{language}"}'

        # [[formats]]                  # what it reads, the best first: ogg-opus, flac, wav, pcm
        # codec = "wav"
        # content-type = "audio/wav"

        # [limits]
        # seconds = 60

        # [transfer]
        # framing = "length"           # when it cannot take a recording that is still being made

        # [answer]
        # framing = "json"             # auto, text, sequence, events, subtitles, header
        # text = ["text"]              # where the text is: results[].transcript

        """
    }

    private static func variable(_ name: String) -> String {
        String(name.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }) + "_API_KEY"
    }
}
