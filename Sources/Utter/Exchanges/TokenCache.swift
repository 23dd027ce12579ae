// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import Synchronization

/// Tokens that were fetched and are good still, by the request for them; in memory only.
final class TokenCache: Sendable {
    /// How long before its end a token is not used; or the tenth part of its life.
    private static let margin = Duration.seconds(60)
    /// The most tokens; of more, the first that ends is forgotten.
    private static let limit = 16

    private typealias Tokens = [TokenRequest: (text: String, end: ContinuousClock.Instant)]
    private let tokens = Mutex(Tokens())

    /// The token that opens a service, of an earlier request for it; nil when there is none.
    func token(for service: RecognitionService) -> Credential? {
        guard let (use, request) = service.tokenRequest(uuid: ""),
            let token = tokens.withLock({ $0[request] }), token.end > .now
        else { return nil }
        // A token that cannot be sent is fetched anew.
        return try? use.credential(token.text)
    }

    /// Returns the token as it is sent; nil when it cannot be.
    func insert(
        _ token: String, lifetime: Duration, for service: RecognitionService
    ) -> Credential? {
        guard let (use, request) = service.tokenRequest(uuid: ""),
            // A text that cannot be sent is not a token.
            let credential = try? use.credential(token)
        else { return nil }
        let end = ContinuousClock.now + lifetime - min(Self.margin, lifetime / 10)
        tokens.withLock { tokens in
            tokens[request] = (token, end)
            guard tokens.count > Self.limit else { return }
            let first = tokens.min { $0.value.end < $1.value.end }
            if let first { tokens[first.key] = nil }
        }
        return credential
    }
}
