// SPDX-License-Identifier: Apache-2.0

internal import Settings
internal import Utter
internal import UtterSettings

/// How a service that is named becomes the plan of a delivery.
extension ServiceOptions {
    /// The profile of a new take, and what is said with it; nil when no service is named.
    func profileUse(
        format: AudioCodec?, usual: AudioCodec?
    ) throws(CommandFailure) -> ProfileUse? {
        guard let name = try KnownSettings.service.value(profile.service) else {
            try refuseWords("no service is named")
            return nil
        }
        return try use(of: name, format: format, usual: usual)
    }

    /// The profile of a service that an option names for a take that was meant for another; nil when
    /// none does.
    func newUse(
        for manifest: TakeManifest, format: AudioCodec?
    ) throws(CommandFailure) -> ProfileUse? {
        guard let name = profile.service else { return nil }
        // Raw samples do not say their rate.
        let old =
            manifest.format == AudioCodec.pcm.name ? .wav : AudioCodec(rawValue: manifest.format)
        return try use(of: name, format: format, usual: old)
    }

    /// The plan of a kept take, by what it remembers and what is said now.
    func plan(
        of record: DeliveryRecord, in manifest: TakeManifest, format: AudioCodec?
    ) throws(CommandFailure) -> DeliveryPlan {
        let id = manifest.id.text
        if record.profile == nil { try refuseWords("take \(id) was for no service by its name") }
        do throws(ProfileError) {
            return try DeliveryPlan(record, words: profile.words, codec: format)
        } catch {
            var failure = CommandFailure(error)
            failure.message = "take \(id) cannot be sent: \(failure.message)"
            if failure.status == .configuration { failure.status = .localIO }
            throw failure
        }
    }

    /// Makes the plan of a service that is named.
    func delivery(
        _ use: ProfileUse, at variable: String? = nil
    ) throws(CommandFailure) -> DeliveryPlan {
        var plan: DeliveryPlan
        do throws(ProfileError) {
            plan = try DeliveryPlan(use)
        } catch {
            throw CommandFailure(error).standing(at: try place(of: error, settings()))
        }
        var parameter: String?
        var settled: (source: SecretSource, origin: Origin)?
        if let settings = try settings() {
            if let url = settings.url?.text {
                parameter = try Self.move(&plan, to: url, named: settings.urlName)
            }
            try settings.apply(to: &plan)
            // It belongs to the origin that the plan has now, wherever an option leads then.
            settled = settings.token.map { ($0, plan.service.url.origin) }
        }
        if let to {
            parameter = try Self.move(&plan, to: to, named: "--to")
        } else if let variable {
            parameter = try Self.move(&plan, to: variable, named: ServiceVariables.urlName)
            try noteVariable(in: &plan.service)
        }
        try change(&plan, format: use.format.codec)
        try addSecrets(to: &plan, parameter, settled: settled)
        try check(plan)
        return plan
    }

    /// The plan of a trial of the service that is named, which is made once.
    func trialPlan() throws(CommandFailure) -> DeliveryPlan {
        guard let use = try profileUse(format: nil, usual: nil) else {
            throw CommandFailure("no service is named", status: .usage)
        }
        var plan = try delivery(use)
        plan.retry = .never
        return plan
    }

    /// Sends to another URL than the profile's.
    ///
    /// - Returns: the parameter of the query that stands for the token, if one does.
    private static func move(
        _ plan: inout DeliveryPlan, to text: String, named option: String
    ) throws(CommandFailure) -> String? {
        let mark = TokenMark(in: text)
        let new = try explained(option) { () throws(ServiceError) in
            try RecognitionService(url: ServiceURL(mark.url))
        }
        if new.url.origin != plan.service.url.origin {
            plan.redirectOrigins = []
            // Whether a service elsewhere wants a token is not known.
            for index in plan.service.authentication.parts.indices {
                plan.service.authentication.parts[index].isRequired = false
            }
        }
        plan.service.url = plan.service.url.moved(to: new.url)
        plan.service.credentials = new.credentials
        return mark.parameter
    }

    private func use(
        of name: String, format: AudioCodec?, usual: AudioCodec?
    ) throws(CommandFailure) -> ProfileUse {
        let settings = try settings()
        let service = try Services.profile(named: name, isOption: profile.service != nil)
        let words = try words(for: service)
        let usual = settings?.format.flatMap { AudioCodec(rawValue: $0.text) } ?? usual
        do throws(ProfileError) {
            if format == nil, let usual, service.reads(usual) {
                return try ProfileUse(service, words: words, codec: usual)
            }
            return try ProfileUse(service, words: words, codec: format)
        } catch {
            throw CommandFailure(error).standing(at: try place(of: error, settings))
        }
    }

    /// Where the file says the word that a service does not take; nil when an option does.
    private func place(
        of error: ProfileError, _ settings: ServiceSettings?
    ) throws(CommandFailure) -> SettingsPlace? {
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
            "\(option): \(reason), and a URL alone knows no \(word)",
            hint: "name the service with --service NAME; see 'utter services'", status: .usage)
    }
}
