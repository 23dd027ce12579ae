// SPDX-License-Identifier: Apache-2.0

/// The secrets that a service needs, and their use.
package struct AuthenticationPlan: Sendable, Hashable {
    /// Where a secret goes in a request, and where it comes from by default.
    package struct Part: Sendable, Hashable {
        package var place: Credential.Place
        package var form = SecretForm.plain
        /// Nil when only a person can say.
        package var source: SecretSource?
        package var isRequired = true
    }

    package enum Use: Sendable, Hashable {
        case asTheyAre
        /// The secrets buy a token, which is sent instead.
        case token(TokenExchange)
        /// Version 4 of Amazon's signatures, without the body.
        case amazonSignature(region: String, service: String)
    }

    /// The first is called the token.
    package var parts: [Part] = []
    package var use = Use.asTheyAre

    /// The parts' sources belong to it; nil when none is named.
    package var origin: Origin?

    init() {}

    /// `Authorization: Bearer …` (RFC 6750 §2.1), optional.
    package static let bearer = {
        var plan = AuthenticationPlan()
        plan.parts = [
            Part(
                place: .header("Authorization"), form: SecretForm(unchecked: "Bearer {}"),
                isRequired: false)
        ]
        return plan
    }()

    /// Whether the parts' sources may be asked for a service there.
    package func belongs(to other: Origin) -> Bool { origin == nil || origin == other }

    /// Nil for a service without secrets.
    package var token: Part? {
        get { parts.first }
        set { if let newValue, !parts.isEmpty { parts[0] = newValue } }
    }
}
