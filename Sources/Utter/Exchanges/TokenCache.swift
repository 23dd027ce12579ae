// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import FoundationEssentials
internal import SpeechService

/// Valid tokens, by issuer and client.
struct TokenCache: Sendable {
    /// A token is not used in its last minute, or the last tenth of its life.
    private static let margin = Duration.seconds(60)

    let note: TimedNote

    /// Contains no secret.
    private static func name(of request: TokenRequest) -> String {
        var digest = SHA256()
        let fields = request.headers.map { "\($0.name):\($0.value)" }
        let text = ([request.url.text] + fields).joined(separator: "\n") + "\n"
        digest.update((Array(text.utf8) + request.body).span)
        return digest.hexadecimal
    }

    /// Nil when none was fetched.
    func token(for service: RecognitionService) -> Credential? {
        guard let (use, request) = service.tokenRequest(uuid: ""),
            let entry = note[Self.name(of: request)]
        else { return nil }
        // One that cannot be sent is fetched anew.
        return try? use.credential(entry.text)
    }

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
