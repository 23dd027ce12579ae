// SPDX-License-Identifier: Apache-2.0

/// How to get into a service: the secrets it needs, and what utter makes of them.
package struct AuthenticationPlan: Sendable, Hashable {
    /// A secret: where it goes in a request, and where it comes from by default.
    package struct Part: Sendable, Hashable {
        package var place: Credential.Place
        package var form = SecretForm.plain
        /// Where it comes from; nil when a person has to say.
        package var source: SecretSource?
        /// Whether the service needs it.
        package var isRequired = true
    }

    package enum Use: Sendable, Hashable {
        case asTheyAre
        /// utter fetches a token for them, and sends that instead.
        case token(TokenExchange)
        /// Each request is signed by version 4 of Amazon's signatures, without its body.
        case amazonSignature(region: String, service: String)
    }

    /// The secrets; the first is what a person calls the token.
    package var parts: [Part] = []
    package var use = Use.asTheyAre

    /// The origin to which the sources of the parts belong; nil when none is named.
    package var origin: Origin?

    init() {}

    /// The token of a service, as most want it: `Authorization: Bearer …` (RFC 6750 §2.1).
    package static let bearer = {
        var plan = AuthenticationPlan()
        plan.parts = [
            Part(
                place: .header("Authorization"), form: SecretForm(unchecked: "Bearer {}"),
                isRequired: false)
        ]
        return plan
    }()

    /// Whether the sources of the parts may be asked for a service there.
    package func belongs(to other: Origin) -> Bool { origin == nil || origin == other }

    /// The secret that a person calls the token; nil for a service without.
    package var token: Part? {
        get { parts.first }
        set { if let newValue, !parts.isEmpty { parts[0] = newValue } }
    }
}
