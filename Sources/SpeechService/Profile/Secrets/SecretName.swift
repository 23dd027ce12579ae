// SPDX-License-Identifier: Apache-2.0

/// Tells from its name whether a header field or a query parameter holds a secret.
///
/// Services have no common name for it: `xi-api-key`, `Ocp-Apim-Subscription-Key`, `X-NLS-Token`,
/// `?key=`, `access_token=`. A name is taken apart into words; one of the table makes it a secret.
package enum SecretName {
    private static let words: Set<String> = [
        "accesskey", "apikey", "appkey", "auth", "authentication", "authorization", "authtoken",
        "bearer", "cookie", "credential", "credentials", "jwt", "key", "otp", "pass", "passphrase",
        "passwd", "password", "pin", "pwd", "secret", "session", "sessionid", "sid", "sig", "sign",
        "signature", "subscriptionkey", "token",
    ]

    /// Ends of words in one piece, such as `accesstoken`.
    private static let endings = ["apikey", "token", "secret", "password"]

    /// No secrets, in spite of such a word.
    private static let harmless: Set<String> = ["idempotency-key", "sec-websocket-key"]

    package static func isSecret(_ name: String) -> Bool {
        guard !harmless.contains(name.lowercased()) else { return false }
        return parts(of: name).contains { part in
            words.contains(part) || endings.contains { part.hasSuffix($0) }
        }
    }

    /// In lower case, cut at signs and before capitals.
    private static func parts(of name: String) -> [String] {
        var parts: [String] = []
        var part = ""
        var wasLower = false
        for character in name {
            let isWordPart = character.isLetter || character.isNumber
            if !isWordPart || character.isUppercase && wasLower {
                if !part.isEmpty { parts.append(part) }
                part = ""
            }
            if isWordPart { part += character.lowercased() }
            wasLower = character.isLowercase
        }
        return part.isEmpty ? parts : parts + [part]
    }
}
