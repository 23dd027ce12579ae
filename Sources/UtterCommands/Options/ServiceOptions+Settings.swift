// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// What the person's file says of the service that is asked.
extension ServiceOptions {
    /// What it says of the service that is named; nil when that is nothing.
    ///
    /// - Throws: `CommandFailure` when the file or a variable is wrong.
    func settings() throws(CommandFailure) -> ServiceSettings? {
        guard let name = try KnownSettings.service.value(profile.service) else { return nil }
        return try Configuration.current().services[name]
    }

    /// What is said to a service, by the names of its words: by options, for this service, for all.
    ///
    /// - Throws: `CommandFailure` when the file is wrong.
    func words(for service: ServiceProfile) throws(CommandFailure) -> [String: String] {
        var words: [String: String] = [:]
        // What is said for all counts for services that have it.
        if let language = try KnownSettings.language.value(),
            service.words.contains(where: { $0.name == "language" })
        {
            words["language"] = language
        }
        for (name, entry) in try settings()?.words ?? [:] { words[name] = entry.text }
        return words.merging(profile.words) { $1 }
    }
}

extension ServiceSettings {
    /// What a message calls the URL.
    var urlName: String { "services.\(name).url" }

    /// Adds where the token comes from, unless the environment has one, and what is allowed.
    ///
    /// The token belongs to the origin that the plan has now: the profile's, or that of `url`.
    ///
    /// - Throws: `CommandFailure` when a secret stands in the URL itself.
    func apply(to plan: inout DeliveryPlan) throws(CommandFailure) {
        if let secret = plan.service.credentials.first {
            throw CommandFailure(
                "\(urlName): \(secret.place) holds a secret",
                hint: "write {token} there, and say in the settings where the token is",
                status: .configuration)
        }
        if allowsTokenInClear { plan.allowsSecretsInClear = true }
        guard let token else { return }
        let origin = plan.service.url.origin
        let isInEnvironment =
            ServiceVariables.token != nil && ServiceVariables.tokenBelongs(to: origin)
        plan.service.authentication.token?.source =
            isInEnvironment ? .variable(ServiceVariables.tokenName) : token
        plan.service.authentication.origin = origin
    }
}
