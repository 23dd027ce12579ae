// SPDX-License-Identifier: Apache-2.0

public import AudioCodecs
public import Capture
public import SpeechService
public import Upload

/// Why a take has no transcript.
///
/// One case for each stage that can fail.
public enum TakeFailure: Error, Sendable, Equatable {
    /// No audio came from the source.
    case capture(CaptureError)
    /// The audio could not be encoded.
    case encoding(EncodingError)
    /// Neither disk nor memory could take the audio.
    case journal(reason: String)
    /// The service could not be reached, or the connection broke.
    case notDelivered(TransferResult.Ending, host: String)
    /// The service cannot prove who it is.
    case insecure(reason: String, host: String)
    /// The proxy does not let the request through.
    case proxyRefused(status: Int)
    /// The server at the service's port does not speak TLS.
    case notTLS(reason: String, host: String)
    /// The service said no; `message` is its own, and the advice what must change.
    case refused(status: Int, message: String?, advice: RefusalAdvice? = nil)
    /// The service did not accept the token, or wants one; `message` is its own.
    case tokenRefused(status: Int, message: String?, advice: RefusalAdvice? = nil)
    /// A secret that opens the service was asked for, and there is none.
    case secretMissing(reason: String)
    /// The service is busy or broken for now; `message` is its own.
    case unavailable(status: Int, message: String?)
    /// The service pointed to a place where key and audio may not go.
    case redirectRefused(location: String, reason: String)
    /// The answer is not a transcript.
    case answerUnusable(AnswerError)
    /// The answer is not a usable HTTP response.
    case responseUnusable(reason: String)
    /// The service does not take such a recording, which was not sent.
    case outsideLimits(reason: String)
    /// The service has the recording, and has not finished in this time.
    case unfinished(after: Duration)
    /// The end was asked for so soon that the recording was dropped.
    case tooShort(Duration)
    /// The take was cancelled.
    case cancelled
    /// The program was told to leave before the answer came.
    case left
}

extension TakeFailure: CustomStringConvertible {
    /// The message: what happened and why, in one line without capital and full stop.
    public var description: String {
        switch self {
        case .capture(let error): error.description
        case .encoding(let error): error.description
        case .journal(let reason): "the recording cannot be stored: \(reason)"
        case .notDelivered(let ending, let host): Self.describe(ending, host: host)
        case .insecure(let reason, let host): "\(host) is not trusted: \(reason)"
        case .proxyRefused(status: 407):
            "the proxy wants a name and a password, or others (407)"
        case .proxyRefused(let status): "the proxy refuses to connect to the service (\(status))"
        case .notTLS(let reason, let host):
            reason.contains("wrong version number")
                ? "\(host) does not speak TLS on this port"
                : "\(host) does not speak TLS as utter does: \(reason)"
        case .refused(let status, let message, .forbidden):
            "the service forbids this: \(Self.status(status, message))"
        case .refused(let status, let message, let advice):
            "the service refused the recording: \(Self.status(status, message))"
                + Self.addition(advice)
        case .tokenRefused(let status, let message, .tokenOfOther(let origin)):
            "the service wants a token: \(Self.status(status, message)); none was sent, since the "
                + "profile's belongs to \(origin)"
        case .tokenRefused(let status, let message, .tokenMissing):
            "the service wants a token, and none was given: \(Self.status(status, message))"
        case .tokenRefused(403, let message, _):
            "the service forbids this: \(Self.status(403, message))"
        case .tokenRefused(let status, let message, let advice):
            "the service did not accept the token: \(Self.status(status, message))"
                + Self.addition(advice)
        case .secretMissing(let reason): "the recording was not sent: \(reason)"
        case .unavailable(let status, let message):
            "the service cannot answer now: \(Self.status(status, message))"
        case .redirectRefused(let location, let reason):
            "the service points to \(location), which was not followed: \(reason)"
        case .answerUnusable(let error): error.description
        case .responseUnusable(let reason): "the answer cannot be used: \(reason)"
        case .outsideLimits(let reason): "the recording was not sent: \(reason)"
        case .unfinished(let time):
            "the service has not finished after \(Self.minutes(time)); it goes on"
        case .tooShort(.zero): "nothing was recorded, and nothing is sent"
        case .tooShort(let length):
            "too short: \(Int(length / .milliseconds(1))) ms were recorded, and are not sent"
        case .cancelled: "cancelled"
        case .left: "ended by a signal before the answer came"
        }
    }

    private static func minutes(_ time: Duration) -> String {
        let seconds = time.components.seconds
        return seconds < 120 ? "\(seconds) s" : "\(seconds / 60) min"
    }

    /// Whether the same request will fail again, as far as one can know: something must change.
    public var isForGood: Bool {
        switch self {
        case .outsideLimits, .refused, .redirectRefused, .answerUnusable, .responseUnusable,
            .notTLS:
            true
        default: false
        }
    }

    /// Whether an answer came that could not be read: something in between may have spoken.
    var isOfAnswer: Bool {
        switch self {
        case .answerUnusable, .responseUnusable: true
        default: false
        }
    }

    /// Whether the recording is not wanted by the person who has made it.
    public var isUnwanted: Bool {
        switch self {
        case .cancelled, .tooShort: true
        default: false
        }
    }

    /// Whether there was no connection at all.
    package var isOfConnecting: Bool {
        switch self {
        case .notDelivered(.cannotResolve, _), .notDelivered(.cannotConnect, _),
            .notDelivered(.timedOut(.connect), _):
            true
        default: false
        }
    }

    /// Whether the proxy wants another name and password.
    var refusesLogin: Bool {
        if case .proxyRefused(status: 407) = self { true } else { false }
    }

    /// Whether a secret was refused, and another may be had.
    var refusesSecret: Bool {
        if case .tokenRefused = self { true } else { refusesLogin }
    }

    /// Whether the service was reached and failed, perhaps because of this recording.
    var mayBeTheTakes: Bool {
        switch self {
        case .unavailable, .notDelivered(.timedOut(.answer), _),
            .notDelivered(.timedOut(.stall), _), .notDelivered(.connectionLost, _),
            .notDelivered(.unproved, _):
            true
        default: false
        }
    }

    /// This failure, saying how long the service asks to wait (RFC 9110 §10.2.3).
    func naming(wait: Duration) -> TakeFailure {
        guard case .unavailable(let status, let message) = self else { return self }
        let seconds = wait.components.seconds
        // A time in minutes or hours is rounded up.
        let minutes = (min(seconds, 366 * 86_400) + 59) / 60
        let time =
            switch minutes {
            case ...1: "\(seconds) s"
            case ...120: "\(minutes) min"
            case ...2_880: "\(minutes / 60) h \(minutes % 60) min"
            case ...525_600: "\((minutes + 1_439) / 1_440) days"
            default: "more than a year"
            }
        let words = "it asks to wait \(time)"
        return .unavailable(status: status, message: message.map { "\($0); \(words)" } ?? words)
    }

    /// The status and the words, which often begin with the status themselves.
    private static func status(_ status: Int, _ message: String?) -> String {
        guard let message else { return "\(status)" }
        guard message.hasPrefix("\(status)") else { return "\(status): \(message)" }
        let words = message.dropFirst("\(status)".count).drop { " :-–".contains($0) }
        return words.isEmpty ? "\(status)" : "\(status): \(words)"
    }

    private static func addition(_ advice: RefusalAdvice?) -> String {
        switch advice {
        case .elsewhere(let location): "; it points to \(location)"
        case .lengthSent: "; its length was sent"
        default: ""
        }
    }

    private static func describe(_ ending: TransferResult.Ending, host: String) -> String {
        switch ending {
        case .cannotResolve(let text): "cannot find \(host): \(text)"
        case .cannotConnect(let text): "cannot connect to \(host): \(text)"
        case .unproved(let text): "\(host) does not show that it has the recording: \(text)"
        case .connectionLost(let text): "the connection to \(host) was lost: \(text)"
        case .timedOut(.connect): "\(host) did not accept a connection in time"
        case .timedOut(.stall): "\(host) stopped taking the recording"
        case .timedOut(.answer): "\(host) took the recording and did not answer in time"
        case .timedOut(.whole): "the transfer to \(host) took longer than allowed"
        case .unprepared(let text): "the request to \(host) cannot be made: \(text)"
        case .journalUnreadable(let text): "the recording cannot be read back: \(text)"
        case .badResponse(let text), .insecure(let text), .notTLS(let text): text
        case .proxyRefused(let status): TakeFailure.proxyRefused(status: status).description
        case .answered, .cancelled: "the transfer to \(host) ended"
        }
    }
}
