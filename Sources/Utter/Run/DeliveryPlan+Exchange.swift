// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import SpeechService
internal import TakeStore

extension DeliveryPlan {
    /// Makes what decides which requests deliver a take.
    ///
    /// - Parameters:
    ///   - progress: how far a job of an earlier run has come.
    ///   - wantsLength: whether the service is known to want the length of a body.
    ///   - attemptsBefore: how many attempts earlier runs have made.
    ///   - takenBefore: how many of them the service may have taken whole.
    ///   - hasToken: whether there is a token that an earlier run has fetched.
    /// - Returns: the exchange, before its first request.
    func makeExchange(
        from progress: ExchangeProgress? = nil, wantsLength: Bool = false, attemptsBefore: Int = 0,
        takenBefore: Int = 0, hasToken: Bool = false
    ) -> any Exchange {
        let exchange: any Exchange =
            switch service.exchange {
            case .post:
                PostOnce(
                    self, wantsLength: wantsLength, attemptsBefore: attemptsBefore,
                    takenBefore: takenBefore)
            case .job(let plan):
                JobExchange(
                    plan, self, from: progress, wantsLength: wantsLength,
                    attemptsBefore: attemptsBefore, takenBefore: takenBefore)
            }
        guard let (use, request) = service.tokenRequest(uuid: "") else { return exchange }
        return TokenFirst(
            exchange, fetching: use, at: request.url, hasToken: hasToken, policy: retry)
    }
}

extension RecognitionService {
    /// The request for the token that opens the service; nil when it needs none, or when its secret
    /// is missing.
    func tokenRequest(uuid: String) -> (use: TokenExchange, request: TokenRequest)? {
        // One that cannot be made has been refused before the take (`checkTokenRequest`).
        guard case .token(let use) = authentication.use, let secrets = ClientSecrets(of: self),
            let request = try? use.request(with: secrets, uuid: uuid)
        else { return nil }
        return (use, request)
    }

    /// Makes sure that what opens the service can be asked for.
    ///
    /// - Throws: `ServiceError` when the request for a token cannot be made.
    package func checkTokenRequest() throws(ServiceError) -> Origin? {
        guard case .token(let use) = authentication.use, let secrets = ClientSecrets(of: self)
        else { return nil }
        return try use.request(with: secrets, uuid: "0").url.origin
    }
}

extension TokenCache {
    /// The token that opens a service, of an earlier request for it; nil when there is none.
    func token(for service: RecognitionService) -> Credential? {
        guard let (use, request) = service.tokenRequest(uuid: ""),
            let token = token(for: Self.key(request))
        else { return nil }
        // One that cannot be sent is fetched anew.
        return try? use.credential(token)
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
        insert(token, for: Self.key(request), lifetime: lifetime)
        return credential
    }
}
