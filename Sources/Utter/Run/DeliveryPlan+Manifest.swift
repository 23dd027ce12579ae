// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
package import SpeechService
package import TakeStore

extension DeliveryPlan {
    /// Makes the plan that a profile describes, without its secrets.
    package init(_ use: ProfileUse) throws(ProfileError) {
        let profile = use.profile
        self.init(
            service: try profile.service(words: use.words, format: use.format),
            format: use.format.codec, redirectOrigins: profile.transfer.redirectOrigins)
        let transfer = profile.transfer
        framing = use.format.framing ?? transfer.framing ?? .auto
        if let name = transfer.idHeader { idHeader = name }
        if let connect = transfer.connect { deadlines.connect = connect }
        if let answer = transfer.answer { deadlines.answer = answer }
        if let stall = transfer.stall { deadlines.stall = stall }
        if let refusal = transfer.refusal { deadlines.refusal = refusal }
        if let whole = transfer.whole { deadlines.whole = whole }
        allowsSecretsInClear = transfer.allowsSecretsInClear
        catchUpRate = transfer.catchUpRate
        let pauses = profile.pauses
        if pauses.isNever { retry = .never }
        if let times = pauses.whileSpeaking { retry.pausesWhileSpeaking = times }
        if let times = pauses.afterRelease { retry.pausesAfterRelease = times }
        if let time = pauses.longestRetryAfter { retry.longestRetryAfter = time }
        retry.unknownOutcome = pauses.unknownOutcome ?? .resend
    }
}

extension DeliveryPlan {
    /// The texts of the profile, below one that says the plan's own values where they differ: a take
    /// remembers these.
    var record: DeliveryManifest {
        let (base, words) = base
        let lines = lines(over: base)
        let isOtherAnswer = service.answer != base.service.answer
        var texts = base.service.use?.profile.texts ?? []
        if isOtherAnswer, base.service.use?.profile.says("answer") == true {
            texts.insert(ProfileText(overriding: "answer = false", place: Self.place), at: 0)
        }
        let said = lines + (isOtherAnswer ? service.answer.lines : [])
        if !said.isEmpty {
            let text = said.joined(separator: "\n")
            texts.insert(ProfileText(overriding: text, place: Self.place), at: 0)
        }
        let isSpoken = texts.contains(where: \.isSpeaking)
        let own = texts.map { DeliveryManifest.Text(name: $0.name, text: $0.text) }
        let plain = DeliveryManifest(texts: own, words: words, format: format.name)
        // A kept take goes the usual way, and each secret goes with it.
        let later = isSpoken ? try? DeliveryPlan(plain) : nil
        let origin = (later ?? self).service.url.origin.description
        let strays = service.strayPlaces(over: base.service).map {
            Credential(askedOf: .given, place: $0, form: .plain)
        }
        let secrets = (service.credentials + strays).map {
            DeliveryManifest.Secret($0, origin: origin)
        }
        return DeliveryManifest(
            texts: own, words: words,
            format: format.name, secrets: secrets.isEmpty ? nil : secrets,
            bodyKey: service.bodyKey.map { .init($0, origin: origin) },
            proxyLogin: service.connection.proxyLogin.map { .init($0, origin: origin) },
            isUnset: isUnset ? true : nil,
            unknownOutcome: retry.unknownOutcome == .resend
                ? nil : retry.unknownOutcome.rawValue)
    }

    private static let place = "the take"

    /// The plan of the profile, in the format of this one, and the words that are said to it.
    ///
    /// A service without a profile is known by its URL.
    private var base: (plan: DeliveryPlan, words: [String: String]) {
        if let use = service.use {
            let form = ProfileText(
                overriding: "formats = [\(ProfileFields.form(format, like: use))]",
                place: Self.place)
            // The profile may not take the format of the plan.
            if let plan = try? plan(of: use.profile, use.words) { return (plan, use.words) }
            // The text that says the format may not suit it either; the URL alone is left then.
            if let plan = try? plan(of: .reading([form] + use.profile.texts), use.words) {
                return (plan, use.words)
            }
        }
        let url = service.url.withoutSecrets().url.withoutBraces
        // A URL can be read again.
        return ((try? plan(of: .reading([ProfileText(plainFor: url)]), [:])) ?? self, [:])
    }

    private func plan(
        of profile: ServiceProfile, _ words: [String: String]
    ) throws(ProfileError) -> DeliveryPlan {
        try DeliveryPlan(ProfileUse(profile, words: words, codec: format))
    }

    /// The plan that a take remembers, without its secrets; of what is said now, the first text
    /// counts most.
    package init(
        _ record: DeliveryManifest, overriding texts: [ProfileText] = [],
        words: [String: String] = [:], codec: AudioCodec? = nil
    ) throws(ProfileError) {
        if let former = record.former {
            let record = try former.record(of: record)
            try self.init(record, overriding: texts, words: words, codec: codec)
            return
        }
        let (all, later) = (record.profileTexts, record.profileTexts.later)
        let known = later.filter { old in
            !texts.contains { ($0.name, $0.text) == (old.name, old.text) }
        }
        let profile = try ServiceProfile.reading(texts + known)
        var old = AudioCodec(rawValue: record.format)
        // Samples are kept as WAV is, but do not say their rate.
        if later.count < all.count { old = profile.reads(.wav) ? .wav : nil }
        let use = try ProfileUse(
            profile, words: profile.asked(record.words).merging(words) { _, new in new },
            codec: codec ?? old)
        try self.init(use)
        isUnset = record.isUnset ?? false
        if !use.profile.says("body.key-file", in: texts) {
            service.bodyKey = record.bodyKey.map {
                Credential(askedOf: $0.source, place: .body, form: .plain)
            }
        }
        // A login belongs to one proxy.
        if !use.profile.says("connection.proxy", in: texts) {
            service.connection.proxyLogin = record.proxyLogin.map {
                Credential(askedOf: $0.source, place: .proxy, form: .plain)
            }
        }
    }

    /// This plan made anew by the texts of its profile, and one behind the first `count` of them that
    /// says the values of `other` where they differ.
    ///
    /// Secrets, and what may be done with them, are those of `other`: no text says them.
    package func changed(
        to other: DeliveryPlan, below count: Int
    ) throws(ProfileError) -> DeliveryPlan {
        let lines = other.lines(over: self)
        guard let use = service.use, !lines.isEmpty else { return other }
        let text = ProfileText(overriding: lines.joined(separator: "\n"), place: Self.place)
        let texts = use.profile.texts
        let profile = try ServiceProfile.reading(texts[..<count] + [text] + texts[count...])
        var plan = try DeliveryPlan(
            ProfileUse(profile, words: profile.asked(use.words), codec: use.format.codec))
        (plan.format, plan.isUnset) = (other.format, other.isUnset)
        plan.allowsSecretsInClear = other.allowsSecretsInClear
        plan.service.authentication = other.service.authentication
        plan.service.credentials = other.service.credentials
        plan.service.bodyKey = other.service.bodyKey
        plan.service.connection.proxyLogin = other.service.connection.proxyLogin
        return plan
    }

    private func lines(over base: DeliveryPlan) -> [String] {
        fields(over: base).lines(over: base.fields(over: base))
    }

    /// The plan in the words of a profile, without its answer and its secrets.
    private func fields(over base: DeliveryPlan) -> ProfileFields {
        var fields = service.fields(over: base.service)
        fields.say("transfer.framing", text: framing.rawValue)
        fields.say("transfer.id-header", text: idHeader)
        fields.say("transfer.connect-seconds", deadlines.connect)
        fields.say("transfer.stall-seconds", deadlines.stall)
        fields.say("transfer.answer-seconds", deadlines.answer)
        fields.say("transfer.refusal-seconds", deadlines.refusal)
        fields.say("transfer.whole-seconds", deadlines.whole)
        fields.say("transfer.catch-up", text: catchUpRate?.text)
        fields.say("transfer.redirect-to", texts: redirectOrigins.map(\.description))
        fields.say("transfer.insecure-token", allowsSecretsInClear)
        fields.say("retry.unknown", text: retry.unknownOutcome.rawValue)
        fields.say("retry.pauses-while-speaking", retry.pausesWhileSpeaking)
        fields.say("retry.pauses-after-release", retry.pausesAfterRelease)
        fields.say(
            "retry.longest-retry-after-seconds", retry.longestRetryAfter, allowsZero: true)
        return fields
    }
}

extension DeliveryManifest {
    /// The texts of the profile, and of what was said over it.
    package var profileTexts: [ProfileText] {
        former?.profileTexts ?? texts.map { ProfileText(name: $0.name, text: $0.text) }
    }

    /// The name of the profile; nil where the service is known by its URL alone.
    package var profileName: String? { profileTexts.first { !$0.isOverriding }?.name }
}

extension UnknownOutcome {
    /// Sent again unless the record says otherwise.
    package init(_ record: DeliveryManifest?) {
        self = record?.unknownOutcome.flatMap { Self(rawValue: $0) } ?? .resend
    }
}

extension DeliveryManifest.Secret {
    init(_ credential: Credential, origin: String) {
        var header, query, part: String?
        switch credential.place {
        case .header(let name): header = name
        case .query(let name): query = name
        case .part(let name): part = name
        case .fields, .proxy, .body: break
        }
        var variable, file, command, headerFile, name: String?
        let isReadOnce = credential.source.isReadOnce
        switch credential.source {
        case .variable(let text): variable = text
        case .file(let path): file = isReadOnce ? "" : path
        case .command(let text): command = text
        case .headerFile(let path): headerFile = isReadOnce ? "" : path
        case .credential(let text): name = text
        case .given: break
        }
        self.init(
            header: header, query: query, part: part, form: credential.form.description,
            origin: origin, variable: variable, file: file, command: command,
            headerFile: headerFile, credential: name)
    }

    var place: Credential.Place {
        if let header { return .header(header) }
        if headerFile != nil { return .fields }
        return part.map { .part($0) } ?? .query(query ?? "")
    }

    var source: SecretSource {
        if let variable { return .variable(variable) }
        if let file { return .file(file) }
        if let command { return .command(command) }
        if let headerFile { return .headerFile(headerFile) }
        return credential.map { .credential($0) } ?? .given
    }
}
