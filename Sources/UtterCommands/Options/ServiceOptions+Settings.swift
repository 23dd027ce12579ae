// SPDX-License-Identifier: Apache-2.0

internal import Settings
internal import Utter

/// What the person's file says of the service that is asked.
extension ServiceOptions {
    /// What it says of the service that is named; nil when that is nothing.
    func settings() throws(CommandFailure) -> ServiceSettings? {
        guard let name = try KnownSettings.service.value(profile.service) else { return nil }
        return try Configuration.current().services[name]
    }

    /// What is said to a service, by the names of its words: by options, for this service, for all.
    func words(for service: ServiceProfile) throws(CommandFailure) -> [String: String] {
        var words: [String: String] = [:]
        // What is said for all counts for services that have it.
        for setting in [KnownSettings.language, KnownSettings.model, KnownSettings.prompt] {
            guard let value = try setting.value(),
                service.words.contains(where: { $0.name == setting.name })
            else { continue }
            words[setting.name] = value
        }
        for (name, entry) in try settings()?.words ?? [:] { words[name] = entry.text }
        return words.merging(profile.words) { $1 }
    }
}

extension ServiceSettings {
    /// The token that the file has for an origin: for a kept take whose own cannot be had.
    static func token(
        for origin: Origin
    ) throws(CommandFailure) -> (secret: SecretReader.Value, source: SecretSource)? {
        for (_, settings) in try Configuration.current().services.sorted(by: { $0.key < $1.key }) {
            var why = ""
            guard let source = settings.token, try settings.origin() == origin,
                let secret = try SecretReader.value(from: source, why: &why)
            else { continue }
            return (secret, source)
        }
        return nil
    }

    /// Where the service is; nil as long as a word of its URL is not said.
    private func origin() throws(CommandFailure) -> Origin? {
        if let url {
            return try explained(urlName) { () throws(ServiceError) in
                try ServiceURL(TokenMark(in: url.text).url).origin
            }
        }
        let service = try Services.profile(profile)
        do throws(ProfileError) {
            let use = try ProfileUse(service, words: words.mapValues(\.text), codec: nil)
            return try DeliveryPlan(use).service.url.origin
        } catch {
            // What it lacks is said when it is asked.
            return nil
        }
    }

    /// What a message calls the URL.
    var urlName: String {
        let name = "services.\(name).url"
        return url.map { "\(ConfigurationFile.path):\($0.place.line): \(name)" } ?? name
    }

    /// Adds where the token comes from, unless the environment has one, and what is allowed.
    ///
    /// The token belongs to the origin that the plan has now: the profile's, or that of `url`.
    func apply(to plan: inout DeliveryPlan) throws(CommandFailure) {
        if let secret = plan.service.credentials.first {
            throw CommandFailure(
                "\(urlName): \(secret.place) holds a secret",
                hint: "write {token} there, and say in the settings where the token is",
                status: .configuration)
        }
        // Another server of that kind may be open to all.
        if url != nil { plan.service.authentication.token?.isRequired = false }
        if allowsTokenInClear { plan.allowsSecretsInClear = true }
        guard let token else { return }
        let origin = plan.service.url.origin
        // The token of the environment is that of the URL beside it.
        let isInEnvironment =
            ServiceVariables.url != nil && ServiceVariables.token != nil
            && ServiceVariables.tokenBelongs(to: origin)
        plan.service.authentication.token?.source =
            isInEnvironment ? .variable(ServiceVariables.tokenName) : token
        plan.service.authentication.origin = origin
    }
}
