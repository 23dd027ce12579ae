// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import SpeechService
internal import Upload

/// A refusal's advice on how the request must change.
public enum RefusalAdvice: Sendable, Equatable {
    /// The service is somewhere else (`Location`, RFC 9110 §10.2.2).
    case elsewhere(location: String)
    /// The service wants other methods than POST (`Allow`, RFC 9110 §10.2.1).
    case otherMethod(allowed: String)
    /// The service wants a token in these schemes (`WWW-Authenticate`, RFC 9110 §11.6.1).
    case schemes(String)
    /// The service wants the body's length (RFC 9110 §15.5.12).
    case length
    /// The service wants the body's length, and does not see the one that was sent.
    case lengthSent
    /// The service wants the recording in a form (`multipart/form-data`, RFC 7578).
    case form
    /// The words are about the token, whatever the status.
    case token
    /// No token was sent, since there is none.
    case tokenMissing
    /// The words are about what the token may do: a quota, a plan, a region.
    case forbidden
    /// The words are about the model.
    case model
    /// The words say that the port speaks TLS.
    case wantsTLS
    /// No token was sent: the one that the profile names belongs to another origin.
    case tokenOfOther(origin: String)
}

extension RefusalAdvice {
    /// Services with these paths want a form.
    private static let formPaths = ["/audio/transcriptions", "/audio/translations", "/inference"]

    private static let formWords = [
        "multipart", "body.file", "form-data", "form data", "a model parameter",
    ]
    private static let tokenWords = ["api key", "api-key", "apikey", "token", "unauthorized"]

    /// Words of refusals that another token does not change.
    private static let limits = [
        "quota", "billing", "credit", "plan", "region", "country", "subscription", "limit",
    ]

    /// Looks at a refusal for what must change; nil when it does not tell.
    init?(
        _ result: TransferResult, message: String?, url: ServiceURL,
        sendsAudioAlone: Bool = true, sendsSecret: Bool = true, saysLength: Bool = false,
        _ redact: (String) -> String = { $0 }
    ) {
        let words = (message ?? "").lowercased()
        func shown(_ name: String) -> String? {
            result.header(name).map {
                TerminalText.cut(TerminalText.singleLine(TerminalText.sanitized(redact($0))))
            }.flatMap { $0.isEmpty ? nil : $0 }
        }
        switch result.status {
        case (300..<400)?:
            guard let location = shown("location") else { return nil }
            // A person needs the whole URL; a text that is not a reference is shown as it is.
            let target = result.header("location").flatMap { try? url.resolving(location: $0) }
            self = .elsewhere(location: target.map { redact($0.text) } ?? location)
        case 401?, 403?:
            let challenges = result.headers.filter { $0.name == "www-authenticate" }
            let schemes = challenges.compactMap { $0.value.split(separator: " ").first }
                .map { TerminalText.cut(TerminalText.sanitized(String($0))) }
            if !schemes.isEmpty, !schemes.contains(where: { $0.lowercased() == "bearer" }) {
                self = .schemes(schemes.joined(separator: ", "))
            } else if result.status == 403, Self.limits.contains(where: words.contains) {
                self = .forbidden
            } else if !sendsSecret {
                self = .tokenMissing
            } else {
                return nil
            }
        case 405?:
            self = .otherMethod(allowed: shown("allow") ?? "another")
        case 411?:
            self = saysLength ? .lengthSent : .length
        case 400?, 404?, 415?, 422?:
            let path = url.target.prefix { $0 != "?" }
            let isAboutForms =
                Self.formWords.contains(where: words.contains)
                || Self.formPaths.contains(where: { path.hasSuffix($0) })
            if words.contains("https port") {
                self = .wantsTLS
            } else if sendsAudioAlone, isAboutForms {
                self = .form
            } else if Self.tokenWords.contains(where: words.contains) {
                self = .token
            } else if words.contains("model") {
                self = .model
            } else {
                return nil
            }
        default: return nil
        }
    }
}
