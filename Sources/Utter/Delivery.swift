// SPDX-License-Identifier: Apache-2.0

internal import ChunkedUpload
internal import SpeechService

/// Decides what follows a transfer: the transcript, another transfer, or the end.
///
/// Every resend is decided here and numbered. libcurl decides none.
struct Delivery {
    /// More redirects than this are a loop.
    private static let redirectLimit = 5

    /// Where the present attempt goes.
    private(set) var url: ServiceURL
    /// The number of the present attempt, from 1.
    private(set) var attempt = 1
    private let origin: Origin
    private let allowed: [Origin]
    private var redirects = 0

    /// What follows.
    enum Step: Equatable {
        /// The answer is good.
        case answered
        /// Post again from the journal's start, to `url`, as attempt number `attempt`.
        case resend
        /// No more attempts.
        case failed(TakeFailure)
    }

    init(url: ServiceURL, allowed: [Origin]) {
        self.url = url
        origin = url.origin
        self.allowed = allowed
    }

    /// Decides after one transfer.
    ///
    /// - Parameters:
    ///   - answer: nil when the answer was read as one; why it is none otherwise.
    ///   - message: the service's own words, from a refusal's body.
    mutating func next(
        after result: TransferResult, answer: AnswerError?, message: String?
    ) -> Step {
        switch result.ending {
        case .answered: break
        case .insecure(let text): return .failed(.insecure(reason: text, host: url.origin.host))
        case .badResponse(let text): return .failed(.responseUnusable(reason: text))
        case .cancelled: return .failed(.cancelled)
        default: return .failed(.notDelivered(result.ending, host: url.origin.description))
        }
        guard let status = result.status else {
            return .failed(.responseUnusable(reason: "there is no status"))
        }
        switch StatusVerdict.of(status: status) {
        case .accepted: return answer.map { .failed(.answerUnusable($0)) } ?? .answered
        case .redirect: return redirect(to: result.header("location"))
        case .keyRefused: return .failed(.keyRefused(status: status, message: message))
        case .retryable: return .failed(.unavailable(status: status, message: message))
        case .refused: return .failed(.refused(status: status, message: message))
        case .unusable: return .failed(.responseUnusable(reason: "its status is \(status)"))
        }
    }

    private mutating func redirect(to location: String?) -> Step {
        let shown = TerminalText.cut(TerminalText.singleLine(location ?? "nowhere"))
        func refuse(_ reason: String) -> Step {
            .failed(.redirectRefused(location: shown, reason: reason))
        }
        guard let location else { return refuse("no Location was given") }
        guard redirects < Self.redirectLimit else {
            return refuse("it is redirect number \(redirects + 1)")
        }
        let target: ServiceURL
        do throws(ServiceError) {
            target = try url.resolving(location: location)
        } catch {
            return refuse(error.description)
        }
        guard target.origin == origin || allowed.contains(target.origin) else {
            return refuse("key and audio would go to another origin")
        }
        url = target
        redirects += 1
        attempt += 1
        return .resend
    }
}
