// SPDX-License-Identifier: Apache-2.0

package import SpeechService
package import TakeStore

// The rule about secrets. One goes to the origin that it belongs to, and to no other:
//
// 1. a token that is given for a delivery goes where that delivery goes;
// 2. what a kept take remembers goes to the origin for which it was given;
// 3. what a profile or the settings name goes to their origin;
// 4. the usual token goes to the origin of the URL beside it, and without one to a service that has
//    no token of its own; to a named service or a kept take only if the caller names a URL as well;
// 5. none travels without TLS to another machine, unless the plan allows it.
//
// The first that is there counts. The rule reads nothing: the caller says what is there, and the
// secret is asked for while the take records.

/// Whether a source has a secret, as far as a caller knows without asking it.
package enum SecretFinding: Sendable, Equatable {
    /// It is asked while the take records.
    case asked
    case known(String)
    case absent(reason: String)
}

/// The caller's means to open a service, beside those that the service and the take name.
package struct SecretOffers: Sendable {
    /// Where the usual token may go.
    package enum Claim: Sendable, Equatable {
        /// No URL stands beside it.
        case anywhere
        case only(Origin)
        /// The URL beside it cannot be read.
        case nowhere
    }

    package var token: SecretSource?
    /// Where the token stands, and how, instead of where the service or the take has it.
    package var position: (place: Credential.Place, form: SecretForm)?
    /// The token of the service by the caller's settings, and its origin.
    package var settled: (source: SecretSource, origin: Origin)?
    /// The usual token, and the URL beside it, as an environment has them.
    package var usual, usualURL: SecretSource?
    package var claim = Claim.anywhere
    /// Whether the caller names a URL, for which the usual token is meant then.
    package var isURLNamed = false
    /// A token for the plan's origin that stands in for one that a kept take remembers and that is
    /// not there any more.
    package var substitute: SecretSource?
    package var find: @Sendable (SecretSource, Credential.Place) -> SecretFinding = { _, _ in
        .asked
    }

    package init() {}

    fileprivate func has(_ source: SecretSource, for place: Credential.Place) -> Bool {
        if case .absent = find(source, place) { false } else { true }
    }

    /// Whether a remembered secret is the token, and not one beside it.
    fileprivate func isToken(_ secret: DeliveryManifest.Secret) -> Bool {
        if let part = secret.part, part != "key" { return false }
        return switch secret.source {
        case .headerFile, .given: false
        case .variable: secret.source != usualURL
        case .file, .command, .credential: true
        }
    }
}

/// Why a delivery has not the secrets that it needs, or may not send them.
package enum SecretRefusal: Error, Sendable, Equatable {
    /// A secret that a kept take remembers, and that is not there.
    package struct Missing: Sendable, Equatable {
        package let place: Credential.Place
        package let isToken: Bool
        var reason: String
    }

    case noToken(for: Credential.Place)
    /// The service wants a secret; the source is nil when none is named for its origin.
    case lacking(Credential.Place, isToken: Bool, source: SecretSource?, Origin)
    case forgotten([Missing])
    case inClear(Credential.Place, to: Origin)
    case unusable(ServiceError, SecretSource)
    case noRequest(ServiceError)
}

extension SecretRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noToken(let place): return "there is no token to send as \(place)"
        case .lacking(let place, let isToken, let source, let origin):
            let what = "\(origin) wants \(isToken ? "a token" : "\(place)"), and"
            return switch source {
            case .variable(let name): "\(what) \(SharedCredentials.absence(of: name))"
            case .credential(let name): "\(what) there is no credential '\(name)'"
            default: "\(what) there is none"
            }
        case .forgotten(let missing):
            let lacks = missing.map { "its \($0.place): \($0.reason)" }
            return "is not sent without " + lacks.joined(separator: "; nor without ")
        case .inClear(let place, let origin):
            return "\(place) holds a secret, and would travel in the clear to \(origin)"
        case .unusable(let error, let source): return "\(source): \(error.description)"
        case .noRequest(let error): return error.description
        }
    }
}

extension DeliveryPlan {
    /// Chooses the secrets that go with the delivery, by the rule at the head of this file.
    ///
    /// What a take remembers is nil for a new one. After an error the plan is not to be used.
    package mutating func addSecrets(
        _ offers: SecretOffers = SecretOffers(), remembered: [DeliveryManifest.Secret]? = nil
    ) throws(SecretRefusal) {
        let origin = service.url.origin
        if let (source, itsOrigin) = offers.settled {
            // The usual token is that of the URL beside it.
            let isUsual =
                offers.claim == .only(itsOrigin)
                && offers.usual.map { offers.has($0, for: .header("")) } == true
            service.authentication.token?.source = isUsual ? offers.usual : source
            service.authentication.origin = itsOrigin
        }
        let known = (remembered ?? []).filter { secret in
            secret.origin == origin.description
                // A URL that is given anew may have no room for it.
                && secret.query.map { service.url.parameter($0) == "" } ?? true
        }
        let old = known.first(where: offers.isToken)
        let hasNewFile = service.credentials.contains { $0.place == .fields }
        let hasNewFields =
            hasNewFile
            || service.credentials.contains { credential in
                if case .header = credential.place { true } else { false }
            }
        let wanted = service.authentication.token
        var place = wanted?.place ?? .header("Authorization")
        var form = wanted?.form ?? .bearer
        if let position = offers.position {
            (place, form) = position
        } else if let old {
            (place, form) = (old.place, try Self.form(of: old))
        }
        let token = newToken(offers, at: place, isKept: remembered != nil, isKnown: old != nil)
        if let token {
            try add(token.source, token.finding, at: place, form)
        } else if old == nil, offers.position != nil {
            throw .noToken(for: place)
        } else if old == nil, let wanted, wanted.isRequired {
            throw lacking(wanted, isToken: true)
        }
        var missing: [SecretRefusal.Missing] = []
        for secret in known where !(token != nil && secret == old) {
            guard !service.credentials.contains(where: { $0.place == secret.place }),
                // A file of header fields has unknown contents: fields given anew replace it.
                !(secret.place == .fields && hasNewFields)
            else { continue }
            let isToken = secret == old
            let spot = isToken ? (place, form) : (secret.place, try Self.form(of: secret))
            let finding = finding(of: secret, offers)
            if case .absent(let reason) = finding {
                if isToken, let source = offers.substitute {
                    try add(source, offers.find(source, place), at: place, form)
                } else if case .header = secret.place, hasNewFile {
                    // The fields of the file are known once it is read.
                    continue
                } else {
                    missing.append(
                        .init(
                            place: secret.place, isToken: offers.isToken(secret), reason: reason))
                }
            } else {
                try add(secret.source, finding, at: spot.0, spot.1)
            }
        }
        guard missing.isEmpty else { throw .forgotten(missing) }
        try addOtherParts(offers)
    }

    /// Demands that no secret travels in the clear, and that a token can be asked for.
    package func checkSecrets() throws(SecretRefusal) {
        let issuer: Origin?
        do throws(ServiceError) {
            issuer = try service.tokenIssuer()
        } catch {
            throw .noRequest(error)
        }
        guard let secret = service.credentials.first, !allowsSecretsInClear else { return }
        let origins = [service.url.origin] + redirectOrigins + (issuer.map { [$0] } ?? [])
        guard let clear = origins.first(where: \.isInClear) else { return }
        throw .inClear(secret.place, to: clear)
    }

    /// Why no request can begin, whatever the caller has checked; nil when one can.
    var secretFailure: TakeFailure? {
        do throws(SecretRefusal) {
            try checkSecrets()
            return nil
        } catch {
            return .secretMissing(reason: error.description)
        }
    }

    // MARK: - Steps

    private func newToken(
        _ offers: SecretOffers, at place: Credential.Place, isKept: Bool, isKnown: Bool
    ) -> (source: SecretSource, finding: SecretFinding)? {
        if let token = offers.token { return (token, .asked) }
        // A kept take knows where its token came from.
        guard !isKnown else { return nil }
        let (authentication, origin) = (service.authentication, service.url.origin)
        if let source = authentication.token?.source, authentication.belongs(to: origin),
            offers.has(source, for: place)
        {
            return (source, offers.find(source, place))
        }
        guard let usual = offers.usual, [.anywhere, .only(origin)].contains(offers.claim),
            authentication.token != nil || offers.position != nil,
            offers.isURLNamed || authentication.origin == nil && !isKept,
            offers.has(usual, for: place)
        else { return nil }
        return (usual, offers.find(usual, place))
    }

    private func finding(
        of secret: DeliveryManifest.Secret, _ offers: SecretOffers
    ) -> SecretFinding {
        let source = secret.source
        let other: String? =
            switch offers.claim {
            case .anywhere: nil
            case .nowhere: "another place"
            case .only(let origin):
                origin.description == secret.origin ? nil : origin.description
            }
        guard let other, case .variable(let name) = source,
            case .variable(let url)? = offers.usualURL
        else { return offers.find(source, secret.place) }
        if source == offers.usualURL {
            return .absent(reason: "it was in \(url), which leads to \(other) now")
        }
        guard source == offers.usual else { return offers.find(source, secret.place) }
        return .absent(reason: "\(name) belongs to \(other), where \(url) leads")
    }

    /// Adds the secrets beside the token that the service names and no take knew.
    private mutating func addOtherParts(_ offers: SecretOffers) throws(SecretRefusal) {
        let authentication = service.authentication
        for part in authentication.parts.dropFirst()
        where !service.credentials.contains(where: { $0.place == part.place }) {
            if let source = part.source, authentication.belongs(to: service.url.origin),
                offers.has(source, for: part.place)
            {
                try add(source, offers.find(source, part.place), at: part.place, part.form)
            } else if part.isRequired, !service.keyMayHoldUser {
                throw lacking(part, isToken: false)
            }
        }
    }

    private func lacking(
        _ part: AuthenticationPlan.Part, isToken: Bool
    ) -> SecretRefusal {
        let origin = service.url.origin
        let source = service.authentication.belongs(to: origin) ? part.source : nil
        return .lacking(part.place, isToken: isToken, source: source, origin)
    }

    private mutating func add(
        _ source: SecretSource, _ finding: SecretFinding, at place: Credential.Place,
        _ form: SecretForm
    ) throws(SecretRefusal) {
        guard case .known(let secret) = finding else {
            return service.add(Credential(askedOf: source, place: place, form: form))
        }
        do throws(ServiceError) {
            service.add(
                try Credential(place: place, form: form, secret: secret, source: source))
        } catch {
            throw .unusable(error, source)
        }
    }

    private static func form(
        of secret: DeliveryManifest.Secret
    ) throws(SecretRefusal) -> SecretForm {
        do throws(ServiceError) {
            return try SecretForm(secret.form)
        } catch {
            throw .unusable(error, secret.source)
        }
    }
}

extension RecognitionService {
    /// Whether the key may hold the name that belongs to it, before a colon; one that is not known yet
    /// may.
    fileprivate var keyMayHoldUser: Bool {
        credentials.contains { credential in
            credential.place == .part("key") && credential.plain?.contains(":") != false
        }
    }

    /// A secret beside the key that is needed, and stands neither in the plan, nor in what was asked
    /// for, nor in the key.
    func partMissing(beside answers: [Credential]) -> Credential.Place? {
        var known = self
        for answer in answers { known.add(answer) }
        guard !known.keyMayHoldUser else { return nil }
        return authentication.parts.dropFirst().first { part in
            part.isRequired && !known.credentials.contains { $0.place == part.place }
        }?.place
    }

    /// Who is asked for a token, and gets the secret; nil when no token is fetched.
    fileprivate func tokenIssuer() throws(ServiceError) -> Origin? {
        guard case .token(let use) = authentication.use else { return nil }
        var known = self
        // A secret that is not known yet changes no origin.
        for credential in credentials where !credential.isKnown {
            known.add(try credential.holding("secret"))
        }
        guard let secrets = ClientSecrets(of: known) else { return nil }
        return try use.request(with: secrets, uuid: "0").url.origin
    }
}
