// SPDX-License-Identifier: Apache-2.0

internal import Settings
internal import TextRules
internal import Utter
internal import UtterControl
internal import UtterSettings

extension ServiceOptions {
    /// The profile of a new take, and what is said with it.
    func profileUse(
        format: AudioCodec?, usual: AudioCodec?, isSpoken: Bool = false
    ) throws(CommandFailure) -> ProfileUse {
        guard let name = try KnownSettings.service.value(profile.service) else {
            return try plainUse(format: format ?? usual)
        }
        return try use(of: name, format: format, usual: usual, isSpoken: isSpoken)
    }

    /// The profile of a service that is named for a take that was meant for another; nil when none is.
    func newUse(
        _ name: String?, for manifest: TakeManifest, format: AudioCodec?
    ) throws(CommandFailure) -> ProfileUse? {
        guard let name else { return nil }
        // Raw samples do not say their rate.
        let old =
            manifest.format == AudioCodec.pcm.name ? .wav : AudioCodec(rawValue: manifest.format)
        return try use(of: name, format: format, usual: old)
    }

    /// The profile of a service at a URL, by what options say of it.
    ///
    /// Its audio is raw where nothing stands around it.
    func plainUse(format: AudioCodec?) throws(CommandFailure) -> ProfileUse {
        if fields.isEmpty { try refuseWords("no service is named") }
        let service = try overridden(nil)
        return try orFailure {
            try ProfileUse(service, words: profile.words, codec: format ?? service.plainCodec)
        }
    }

    func plan(
        of record: DeliveryManifest, in manifest: TakeManifest, format: AudioCodec?
    ) throws(CommandFailure) -> DeliveryPlan {
        let id = manifest.id.text
        let texts = try overridingTexts(of: record)
        do throws(ProfileError) {
            return try DeliveryPlan(record, overriding: texts, words: profile.words, codec: format)
        } catch {
            if case .unknownWord = error, record.profileName == nil {
                try refuseWords("take \(id) was for no service by its name")
            }
            var failure = CommandFailure(error)
            failure.message = "take \(id) cannot be sent: \(failure.message)"
            if failure.status == .configuration { failure.status = .localIO }
            throw failure
        }
    }

    func delivery(
        _ use: ProfileUse, at variable: String? = nil
    ) throws(CommandFailure) -> DeliveryPlan {
        var plan: DeliveryPlan
        do throws(ProfileError) {
            plan = try DeliveryPlan(use)
        } catch {
            throw CommandFailure(error).standing(at: try place(of: error, settings()))
        }
        let home = plan.service.url.origin
        var parameter: String?
        var settled: (source: SecretSource, origin: Origin)?
        if let settings = try settings() {
            if let url = settings.url?.text {
                parameter = try move(&plan, to: url, named: settings.urlName, by: settings)
            }
            try settings.apply(to: &plan)
            // It belongs to the origin that the plan has now, wherever an option leads then.
            settled = settings.token.map { ($0, plan.service.url.origin) }
        }
        if let target {
            parameter = try move(&plan, to: target.text, named: target.option)
        } else if let variable {
            parameter = try move(&plan, to: variable, named: ServiceVariables.urlName)
            try noteVariable(in: &plan.service)
        }
        if plan.service.url.origin != home, !says("transfer.insecure-token") {
            plan.allowsSecretsInClear = try settings()?.allowsTokenInClear ?? false
        }
        try change(&plan, by: settings())
        try addSecrets(to: &plan, parameter, settled: settled)
        try check(plan)
        return plan
    }

    func trialPlan() throws(CommandFailure) -> DeliveryPlan {
        try delivery(profileUse(format: nil, usual: nil))
    }

    /// Sends to another URL than the profile's, which the settings name if they are given.
    ///
    /// - Returns: the parameter of the query that stands for the token, if one does.
    func move(
        _ plan: inout DeliveryPlan, to text: String, named option: String,
        by settings: ServiceSettings? = nil
    ) throws(CommandFailure) -> String? {
        let mark = TokenMark(in: text)
        let new = try explained(option) {
            try RecognitionService(url: ServiceURL(mark.url))
        }
        if option.hasPrefix("-c"), let secret = new.credentials.first {
            throw CommandFailure(
                "\(option): \(secret.place) holds a secret, and other users can see command lines",
                hint: "write {token} there, and say where it is with --token-file", status: .usage)
        }
        var moved = plan
        if new.url.origin != plan.service.url.origin {
            moved.redirectOrigins = []
            // Whether a service elsewhere wants a token is not known.
            let isSaid = says("auth.optional") || settings?.says("auth.optional") == true
            for index in moved.service.authentication.parts.indices where !isSaid {
                moved.service.authentication.parts[index].isRequired = false
            }
        }
        let isPlain = plan.profile?.profile.isPlain ?? true
        // A query takes the place of the profile's.
        moved.service.url = isPlain ? new.url : plan.service.url.moved(to: new.url)
        moved.service.credentials = new.credentials
        plan = try changed(plan, to: moved, by: settings)
        return mark.parameter
    }

    /// The plan with a text that says what changes, below all that options say, and what the settings
    /// say if they change it.
    func changed(
        _ plan: DeliveryPlan, to other: DeliveryPlan, by settings: ServiceSettings? = nil
    ) throws(CommandFailure) -> DeliveryPlan {
        let own = settings.map { "services.\($0.name)" }
        let said = plan.profile?.profile.texts.prefix { text in
            text.isOverriding && (text.place.hasPrefix("-") || text.place == own)
        }
        return try orFailure { try plan.changed(to: other, below: said?.count ?? 0) }
    }

    private func use(
        of name: String, format: AudioCodec?, usual: AudioCodec?, isSpoken: Bool = false
    ) throws(CommandFailure) -> ProfileUse {
        let settings = try settings()
        var service = try overridden(
            located(Services.profile(named: name, isOption: profile.service != nil)))
        service = try speaking(service, format, settings, isSpoken: isSpoken)
        let words = try words(for: service)
        let usual = settings?.format.flatMap { AudioCodec(rawValue: $0.text) } ?? usual
        do throws(ProfileError) {
            if format == nil, let usual, service.reads(usual) {
                return try ProfileUse(service, words: words, codec: usual)
            }
            let plain = service.isPlain ? service.plainCodec : nil
            return try ProfileUse(service, words: words, codec: format ?? plain)
        } catch {
            throw CommandFailure(error).standing(at: try place(of: error, settings))
        }
    }

    /// The service at the person's usual socket, where it says `unix:` alone.
    private func located(_ service: ServiceProfile) throws(CommandFailure) -> ServiceProfile {
        guard service.url.text == ServiceURL.localScheme else { return service }
        let place: SocketPlace
        do throws(ControlFailure) {
            place = try SocketPlace(ServiceURL.localScheme)
        } catch {
            throw CommandFailure(error)
        }
        // It is the profile's own address, below what a person says over it.
        let count = service.texts.prefix(while: \.isOverriding).count
        let text = ProfileText(
            name: service.name, place: "the usual socket",
            text: "url = \(TOMLText.quoted(place.text))")
        return try orFailure {
            try ServiceProfile.reading(service.texts[..<count] + [text] + service.texts[count...])
        }
    }

    /// The way that a service has for a person who speaks, if it has one that takes the format, and the
    /// fields that are said; a way that is said counts more, and the URL of an upload or of a WebSocket.
    private func speaking(
        _ service: ServiceProfile, _ format: AudioCodec?, _ settings: ServiceSettings?,
        isSpoken: Bool
    ) throws(CommandFailure) -> ServiceProfile {
        let variable = profile.service == nil ? ServiceVariables.url : nil
        let url = target?.text ?? settings?.url?.text ?? variable
        guard service.hasLiveWay, !service.says("way"), url.map(ServiceURL.namesSocket) ?? isSpoken
        else { return service }
        do throws(ProfileError) {
            let live = try service.speaking
            return format.map(live.reads) ?? true ? live : service
        } catch {
            // A field of the upload's body is said of the upload; a mistake in the profile is told.
            let own = service.texts.filter { !$0.isOverriding }
            _ = try orFailure { try ServiceProfile.reading(own).speaking }
            return service
        }
    }

    /// Where the file says the word that a service does not take; nil when an option does.
    private func place(
        of error: ProfileError, _ settings: ServiceSettings?
    ) throws(CommandFailure) -> SettingsPosition? {
        switch error {
        case .unknownWord(let word, _, _), .valueNotTaken(_, let word, _, _),
            .valueNotOfHost(_, let word, _):
            guard profile.words[word] == nil else { return nil }
            if let place = settings?.words[word]?.place { return place }
            return try Configuration.current()[word]?.place
        default: return nil
        }
    }

    private func refuseWords(_ reason: String) throws(CommandFailure) {
        guard let word = profile.words.keys.sorted().first else { return }
        let option = ProfileWord.usual.contains(word) ? "--\(word)" : "--set \(word)"
        throw CommandFailure(
            "\(option): \(reason), and a URL alone has no \(word)",
            hint: "name the service with --service NAME; see 'utter services'", status: .usage)
    }
}

extension ServiceOptions {
    /// The settings of the named service; nil: none.
    func settings() throws(CommandFailure) -> ServiceSettings? {
        guard let name = try KnownSettings.service.value(profile.service) else { return nil }
        return try Configuration.current().services[name]
    }

    /// The words for a service, by their names: by options, for this service, for all.
    func words(for service: ServiceProfile) throws(CommandFailure) -> [String: String] {
        var words: [String: String] = [:]
        // A word for all counts for services that have it.
        for setting in [KnownSettings.language, KnownSettings.model, KnownSettings.prompt] {
            guard let value = try setting.value(),
                service.words.contains(where: { $0.name == setting.name })
            else { continue }
            words[setting.name] = value
        }
        for (name, entry) in try settings()?.words ?? [:] { words[name] = entry.text }
        words.merge(profile.words) { $1 }
        // A service understands the words better that it is told to expect.
        var limits = VocabularyLimits(characters: 400)
        var expected = service.words.first { $0.name == "prompt" }
        if let list = service.words.first(where: { $0.name == ProfileWord.vocabulary }) {
            limits = VocabularyLimits(characters: 600, longest: 100, most: list.most)
            expected = list
        }
        if let name = expected?.name, words[name] == nil {
            words[name] = TextSettings.vocabulary(in: words["language"], within: limits)
        }
        return words
    }
}

extension ServiceSettings {
    /// Where the service is; nil until each word of its URL is said.
    func origin() throws(CommandFailure) -> Origin? {
        if let url {
            return try explained(urlName) {
                try ServiceURL(TokenMark(in: url.text).url).origin
            }
        }
        let service = try Services.profile(profile)
        // A missing part is told when the service is asked.
        return try? DeliveryPlan(
            ProfileUse(service, words: words.mapValues(\.text), codec: nil)
        ).service.url.origin
    }

    var urlName: String {
        let name = "services.\(name).url"
        return url.map { "\(ConfigurationFile.path):\($0.place.line): \(name)" } ?? name
    }

    /// Applies what is allowed, and refuses a secret in the URL.
    func apply(to plan: inout DeliveryPlan) throws(CommandFailure) {
        if let secret = plan.service.credentials.first {
            throw CommandFailure(
                "\(urlName): \(secret.place) holds a secret",
                hint: "write {token} there, and say in the settings where the token is",
                status: .configuration)
        }
        // Another server of that kind may be open to all.
        if url != nil, !says("auth.optional") {
            plan.service.authentication.token?.isRequired = false
        }
        if allowsTokenInClear { plan.allowsSecretsInClear = true }
    }

    /// Demands that there is the profile, and that it has what is said to it.
    func check() throws(CommandFailure) {
        let service = try Services.profile(named: name, isOption: true)
        for (name, entry) in words.sorted(by: { $0.key < $1.key }) {
            try orFailure(standingAt: entry.place) {
                guard let word = service.words.first(where: { $0.name == name }) else {
                    throw ProfileError.unknownWord(
                        name, service: service.title, known: service.words.map(\.name))
                }
                _ = try word.value(for: entry.text, of: service.title)
            }
        }
        if let url {
            try explained(urlName, status: .configuration) {
                _ = try ServiceURL(TokenMark(in: url.text).url)
            }
        }
        if let format, let codec = AudioCodec(rawValue: format.text) {
            try orFailure(standingAt: format.place) { _ = try service.format(codec) }
        }
    }
}
