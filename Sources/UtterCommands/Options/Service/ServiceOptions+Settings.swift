// SPDX-License-Identifier: Apache-2.0

internal import Settings
internal import Utter
internal import UtterSettings

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
    /// Where the service is; nil as long as a word of its URL is not said.
    func origin() throws(CommandFailure) -> Origin? {
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
}
