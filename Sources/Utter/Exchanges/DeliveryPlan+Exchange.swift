// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import SpeechService
internal import TakeStore

extension DeliveryPlan {
    /// What decides which requests deliver a take.
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
    /// Nil when the service needs no token, or the secret is missing.
    func tokenRequest(uuid: String) -> (use: TokenExchange, request: TokenRequest)? {
        guard case .token(let use) = authentication.use, let secrets = ClientSecrets(of: self),
            // One that cannot be made has been refused before the take (`checkSecrets`).
            let request = try? use.request(with: secrets, uuid: uuid)
        else { return nil }
        return (use, request)
    }
}
