// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// How the secrets of a service come into the plan of a delivery.
extension ServiceOptions {
    /// Adds the token, and what a kept take knows of its secrets.
    func addToken(
        to plan: inout DeliveryPlan, _ parameter: String?, known: [DeliveryRecord.Secret] = [],
        of take: TakeManifest? = nil
    ) throws(CommandFailure) {
        let old = known.first { $0.isToken }
        let wanted = plan.service.authentication.token
        var place = wanted?.place ?? .header("Authorization")
        var form = wanted?.form.description ?? "Bearer {}"
        if let tokenHeader {
            (place, form) = try tokenPlace(tokenHeader)
        } else if let parameter {
            (place, form) = (.query(parameter), SecretForm.percentEncoded.description)
        } else if let old {
            (place, form) = (old.place, old.form)
        }
        let token = try newToken(
            of: plan.service, isKept: take != nil, isKnown: old != nil)
        if let (secret, source, option) = token {
            try add(secret, at: place, as: form, from: source, to: &plan.service, option)
        } else if old == nil, tokenHeader != nil || parameter != nil {
            throw CommandFailure(
                "there is no token to send as \(place)",
                hint: "give one with --token-file, --token-command or UTTER_TOKEN",
                status: .configuration)
        } else if old == nil, let wanted, wanted.isRequired {
            throw lacking(wanted, of: plan.service)
        }
        var missing: [(secret: DeliveryRecord.Secret, why: String)] = []
        for secret in known where !(token != nil && secret == old) {
            guard !plan.service.credentials.contains(where: { $0.place == secret.place })
            else { continue }
            var why = ""
            guard let value = try SecretReader.value(of: secret, why: &why) else {
                if secret == old,
                    let (token, source) = try ServiceSettings.token(for: plan.service.url.origin)
                {
                    try add(
                        token.text, at: place, as: form, from: source, to: &plan.service,
                        source.description)
                } else {
                    missing.append((secret, why))
                }
                continue
            }
            let isToken = secret == old
            try add(
                value.text, at: isToken ? place : secret.place, as: isToken ? form : secret.form,
                from: secret.source, to: &plan.service, "the take's secret")
        }
        if let take, !missing.isEmpty { throw Self.failure(take, missing) }
        try addOtherParts(to: &plan.service)
    }

    /// Adds the secrets beside the token that the service's description names and no take knew.
    private func addOtherParts(
        to service: inout RecognitionService
    ) throws(CommandFailure) {
        let authentication = service.authentication
        for part in authentication.parts.dropFirst()
        where !service.credentials.contains(where: { $0.place == part.place }) {
            var why = ""
            if let source = part.source, authentication.belongs(to: service.url.origin),
                let value = try SecretReader.value(from: source, why: &why)
            {
                try add(
                    value.text, at: part.place, as: part.form.description, from: source,
                    to: &service, source.description)
            } else if part.isRequired, !Self.holdsBoth(service) {
                throw lacking(part, of: service)
            }
        }
    }

    /// Whether the key holds the name that belongs to it, before a colon.
    private static func holdsBoth(_ service: RecognitionService) -> Bool {
        service.credentials.contains { $0.place == .part("key") && $0.value?.contains(":") == true }
    }

    /// The failure of a service whose secret is nowhere.
    private func lacking(
        _ part: AuthenticationPlan.Part, of service: RecognitionService
    ) -> CommandFailure {
        let what = part == service.authentication.token ? "a token" : "\(part.place)"
        let origin = service.url.origin
        switch part.source {
        case .variable(let name)? where service.authentication.belongs(to: origin):
            return CommandFailure(
                "\(origin) wants \(what), and \(name) is not set",
                hint: "set \(name), or give a token with --token-file or --token-command",
                status: .configuration)
        case .credential(let name)? where service.authentication.belongs(to: origin):
            return CommandFailure(
                "\(origin) wants \(what), and there is no credential '\(name)'",
                hint: "name it with LoadCredential=, or give a token with --token-file",
                status: .configuration)
        default:
            return CommandFailure(
                "\(origin) wants \(what), and there is none",
                hint: "give one with --token-file, --token-command or UTTER_TOKEN",
                status: .configuration)
        }
    }

    /// The failure of a take whose secrets cannot be had.
    private static func failure(
        _ take: TakeManifest, _ missing: [(secret: DeliveryRecord.Secret, why: String)]
    ) -> CommandFailure {
        let id = take.id.text
        let lacks = missing.map { "its \($0.secret.place): \($0.why)" }
        let parameters = missing.filter { !$0.secret.isToken }.compactMap(\.secret.query)
        var words: [String] = []
        if missing.contains(where: { !$0.secret.isToken && $0.secret.header != nil }) {
            words.append("--header @FILE")
        }
        if parameters.count == 1, !missing.contains(where: { $0.secret.isToken }) {
            words.append("--to 'URL?\(parameters[0])={token}' --token-file FILE")
        } else {
            if !parameters.isEmpty { words.append("--to URL, with them in its query,") }
            if missing.contains(where: { $0.secret.isToken }) { words.append("--token-file FILE") }
        }
        return CommandFailure(
            "take \(id) is not sent without \(lacks.joined(separator: "; nor without "))",
            hint: "give what is missing: utter retry \(id) \(words.joined(separator: " "))",
            status: .configuration)
    }

    /// The token that the options give, or for a new take the environment.
    private func newToken(
        of service: RecognitionService, isKept: Bool, isKnown: Bool
    ) throws(CommandFailure) -> (secret: String?, source: SecretSource, option: String)? {
        if let tokenFile {
            let secret = try SecretReader.file(tokenFile, option: "--token-file")
            let path = Self.absolute(tokenFile)
            return (secret, SecretFile.isRegular(path) ? .file(path) : .pipe, "--token-file")
        }
        if let tokenCommand { return (nil, .command(tokenCommand), "--token-command") }
        if let tokenFd {
            return (
                try SecretReader.descriptor(tokenFd, option: "--token-fd"), .pipe, "--token-fd"
            )
        }
        var why = ""
        if let tokenCredential {
            let option = "--token-credential"
            guard
                let secret = try SecretReader.credential(
                    tokenCredential, option: option, why: &why)
            else {
                throw CommandFailure(
                    "\(option): \(why)", hint: "name it with LoadCredential= in its unit",
                    status: .configuration)
            }
            return (secret, .credential(tokenCredential), option)
        }
        let (authentication, origin) = (service.authentication, service.url.origin)
        // A kept take knows where its token came from.
        if !isKnown, let source = authentication.token?.source, authentication.belongs(to: origin),
            let secret = try SecretReader.value(from: source, why: &why)
        {
            return (secret.text, source, source.description)
        }
        let name = ServiceVariables.tokenName
        // For a kept take without one, only a variable that says whose token it is.
        // A service that is named has its own token, unless this one says that it is meant.
        guard authentication.token != nil || tokenHeader != nil,
            authentication.origin == nil || to != nil || ServiceVariables.url != nil,
            let token = ServiceVariables.token, ServiceVariables.tokenBelongs(to: origin),
            !isKept || !isKnown && (ServiceVariables.url != nil || to != nil)
        else { return nil }
        return (token, .variable(name), name)
    }
}

extension DeliveryRecord.Secret {
    /// Whether it is what `--token-file` and its like give.
    fileprivate var isToken: Bool {
        if let part, part != "key" { return false }
        return switch source {
        case .variable(let name): name != ServiceVariables.urlName
        case .file, .command, .credential, .pipe: true
        case .headerFile, .given: false
        }
    }
}
