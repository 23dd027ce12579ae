// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials
internal import SpeechService

/// Tokens that were fetched and are good still, by who issues them to which client.
struct TokenCache: Sendable {
    /// A token is not used so long before its end, or the tenth part of its life.
    private static let margin = Duration.seconds(60)

    let note: TimedNote

    /// Nothing of it is secret.
    private static func name(of request: TokenRequest) -> String {
        var digest = SHA256()
        let fields = request.headers.map { "\($0.name):\($0.value)" }
        let text = ([request.url.text] + fields).joined(separator: "\n") + "\n"
        digest.update((Array(text.utf8) + request.body).span)
        return digest.hexadecimal
    }

    /// The token that opens a service, of an earlier request for it; nil when there is none.
    func token(for service: RecognitionService) -> Credential? {
        guard let (use, request) = service.tokenRequest(uuid: ""),
            let entry = note[Self.name(of: request)]
        else { return nil }
        // One that cannot be sent is fetched anew.
        return try? use.credential(entry.text)
    }

    /// Remembers a token that was fetched.
    ///
    /// - Returns: the token as it is sent; nil when it cannot be.
    func insert(
        _ token: String, lifetime: Duration, for service: RecognitionService
    ) -> Credential? {
        guard let (use, request) = service.tokenRequest(uuid: ""),
            // What cannot be sent is no token.
            let credential = try? use.credential(token)
        else { return nil }
        let used = lifetime - min(Self.margin, lifetime / 10)
        let end = Date().timeIntervalSince1970 + used / .seconds(1)
        note.insert(TimedNote.Entry(time: end, text: token), by: Self.name(of: request))
        return credential
    }
}
