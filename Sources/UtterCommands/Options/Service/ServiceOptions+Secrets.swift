// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterSettings

/// How the secrets of a service come into the plan of a delivery: these options and the environment
/// offer them, and the rule of the library (`DeliveryPlan.addSecrets`) chooses.
extension ServiceOptions {
    /// Adds the secrets of a service; `parameter` of its query stands for the token, and the settings
    /// have one for an origin.
    func addSecrets(
        to plan: inout DeliveryPlan, _ parameter: String? = nil,
        settled: (source: SecretSource, origin: Origin)? = nil, of take: TakeManifest? = nil
    ) throws(CommandFailure) {
        var offers = SecretOffers()
        offers.token = try givenToken()
        if let parameter {
            offers.position = (.query(parameter), .percentEncoded)
        } else if take != nil,
            ["kind", "header", "scheme", "form"].contains(where: { says("auth.\($0)") })
        {
            // How a kept take has sent it counts less.
            offers.position = plan.service.authentication.token.map { ($0.place, $0.form) }
        }
        offers.settled = settled
        offers.usual = .variable(ServiceVariables.tokenName)
        offers.usualURL = .variable(ServiceVariables.urlName)
        offers.claim = ServiceVariables.claim
        offers.isURLNamed = target != nil || ServiceVariables.url != nil
        let isKept = take != nil
        offers.find = { Self.find($0, at: $1, isKept: isKept) }
        let remembered = take.map { $0.delivery?.secrets ?? [] }
        let before = plan
        do throws(SecretRefusal) {
            return try plan.addSecrets(offers, remembered: remembered)
        } catch {
            guard case .forgotten(let missing) = error, missing.contains(where: \.isToken),
                let source = try token(for: before.service.url.origin)
            else { throw failure(error, of: take) }
            offers.substitute = source
        }
        plan = before
        do throws(SecretRefusal) {
            try plan.addSecrets(offers, remembered: remembered)
        } catch {
            throw failure(error, of: take)
        }
    }

    private func givenToken() throws(CommandFailure) -> SecretSource? {
        if let file = tokenFile ?? field("auth.file") { return .file(Self.absolute(file)) }
        if let command = tokenCommand ?? field("auth.command") { return .command(command) }
        if let name = field("auth.variable") { return .variable(name) }
        guard let tokenCredential = field("auth.credential") else { return nil }
        if case .absent(let reason) = Self.find(
            .credential(tokenCredential), at: .part("key"), isKept: false)
        {
            throw CommandFailure(
                "-c auth.credential: \(reason)", hint: "name it with LoadCredential= in its unit",
                status: .configuration)
        }
        return .credential(tokenCredential)
    }

    /// Whether a source has a secret.
    ///
    /// A file is looked for only for a take that is kept: no microphone waits for the disk then.
    private static func find(
        _ source: SecretSource, at place: Credential.Place, isKept: Bool
    ) -> SecretFinding {
        guard !source.isGone else {
            return .absent(reason: "it was typed or piped, and is not kept")
        }
        switch source {
        case .variable(ServiceVariables.urlName):
            return ServiceVariables.parameter(at: place).map { .known($0) }
                ?? .absent(
                    reason: "it was in \(ServiceVariables.urlName), which does not hold it any more"
                )
        case .variable(let name):
            return Environment.secret(name).map { .known($0) }
                ?? .absent(reason: SharedCredentials.absence(of: name))
        case .file(let path), .headerFile(let path):
            guard isKept, !OwnFile.isRegular(path) else { return .asked }
            return .absent(reason: "the file '\(path)' is not there any more")
        case .command(let command):
            guard isKept, !Services.know(command) else { return .asked }
            return .absent(
                reason: "it came from a command that no settings and no profile of today name")
        case .given: return .asked
        case .credential(let name):
            do throws(ReadingError) {
                guard let path = try SecretSource.credentialPath(name) else {
                    return .absent(reason: "systemd has given this process no credentials")
                }
                guard isKept, !OwnFile.isRegular(path) else { return .asked }
                return .absent(
                    reason: "systemd has given this process no credential "
                        + "'\(TerminalText.shown(name))'")
            } catch {
                return .absent(reason: error.description)
            }
        }
    }

    /// The token that the settings have for an origin: for a kept take whose own cannot be had.
    private func token(for origin: Origin) throws(CommandFailure) -> SecretSource? {
        for (_, settings) in try Configuration.current().services.sorted(by: { $0.key < $1.key }) {
            guard let source = settings.token, try settings.origin() == origin else { continue }
            if case .absent = Self.find(source, at: .part("key"), isKept: true) { continue }
            return source
        }
        return nil
    }

    // MARK: - Failures

    /// Refuses what no service would read, and to send a secret in the clear, unless it was allowed.
    func check(_ plan: DeliveryPlan) throws(CommandFailure) {
        if case .form = plan.service.body,
            plan.service.headers.contains(where: { $0.isNamed("Content-Type") })
        {
            throw CommandFailure(
                "--header: a form has its own Content-Type, which names its boundary",
                hint: "set the audio part's type with -c body.content-type=TYPE", status: .usage)
        }
        do throws(SecretRefusal) {
            try plan.checkSecrets()
        } catch {
            throw failure(error, of: nil)
        }
    }

    private func failure(_ error: SecretRefusal, of take: TakeManifest?) -> CommandFailure {
        var (message, hint) = (error.description, Self.giveOne)
        switch error {
        case .lacking(_, _, .variable(let name)?, _):
            hint = "set \(name), or give a token with --token-file or --token-command"
        case .lacking(_, _, .credential?, _):
            hint = "name it with LoadCredential=, or give a token with --token-file"
        case .noToken, .lacking: break
        case .forgotten(let missing):
            message = "take \(take?.id.text ?? "") \(message)"
            hint =
                "give what is missing: utter retry \(take?.id.shortName ?? "") "
                + Self.options(for: missing)
        case .inClear: hint = "use https, or allow it with -c transfer.insecure-token=true"
        case .unusable(let error, let source):
            let isOurs = source == .variable(ServiceVariables.tokenName)
            let name = isOurs ? ServiceVariables.tokenName : source.description
            return CommandFailure(
                "\(name): \(error.description)", hint: error.hint, status: error.status)
        case .noRequest(let error):
            return CommandFailure(
                "auth.exchange: \(error.description)", hint: error.hint, status: error.status)
        }
        return CommandFailure(message, hint: hint, status: .configuration)
    }

    private static let giveOne = "give one with --token-file, --token-command or UTTER_TOKEN"

    /// The options that give the missing secrets.
    private static func options(for missing: [SecretRefusal.Missing]) -> String {
        var parameters: [String] = []
        var words: [String] = []
        for secret in missing where !secret.isToken {
            if case .query(let name) = secret.place { parameters.append(name) }
            switch secret.place {
            case .header, .fields: if words.isEmpty { words.append("--header @FILE") }
            case .query, .part, .proxy, .body: break
            }
        }
        let lacksToken = missing.contains(where: \.isToken)
        if parameters.count == 1, !lacksToken {
            words.append("--to 'URL?\(parameters[0])={token}' --token-file FILE")
        } else {
            if !parameters.isEmpty { words.append("--to URL, with them in its query,") }
            if lacksToken { words.append("--token-file FILE") }
        }
        return words.joined(separator: " ")
    }
}
