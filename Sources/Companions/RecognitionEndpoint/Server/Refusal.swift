// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import HTTPTypes

struct Refusal: Error, Sendable, Equatable {
    var status: Int
    var message: String
    var fields: HTTPFields = [:]
    /// A problem in JSON (RFC 9457) that is sent in the message's place.
    var problem: String?

    init(_ status: Int, _ message: String, fields: HTTPFields = [:], problem: String? = nil) {
        self.status = status
        self.message = message
        self.fields = fields
        self.problem = problem
    }

    init(_ failure: BodyFailure) {
        self.init(
            failure.status, failure.description,
            fields: failure == .noRecogniser ? [.retryAfter: "1"] : [:])
    }

    static let firstFailed = Refusal(
        503, "the request before this one with the same key has failed",
        fields: [.retryAfter: "1"])
}

enum BodyFailure: Error, Sendable, Equatable {
    /// The body is not the audio that its media type promises; `reason` says where.
    case notAudio(reason: String)
    /// The body is of a form that cannot be decoded here.
    case unknownType(reason: String)
    case tooLarge(limit: Int)
    /// The client went away in the middle of the body, or sent what is not HTTP.
    case brokenOff
    case stalled(Duration)
    case superseded
    case digestMismatch
    /// The endpoint is shutting down and the time for running recognitions is over.
    case shuttingDown
    /// Two programs have failed at it, or one that works has refused it.
    case recogniserFailed(reason: String)
    case noRecogniser
    /// A key stands for one recording (draft-ietf-httpapi-idempotency-key-header-07 §2.7).
    case otherRecording
    case expired

    /// Why a recording is not decoded.
    init(_ error: any Error) {
        let isUnknown = (error as? UndecodableAudio)?.isOfUnknownType ?? false
        self = isUnknown ? .unknownType(reason: "\(error)") : .notAudio(reason: "\(error)")
    }

    /// Whether the same recording would fail again.
    var isOfRecording: Bool {
        switch self {
        case .notAudio, .unknownType, .digestMismatch, .otherRecording: true
        default: false
        }
    }

    var status: Int {
        switch self {
        case .notAudio, .brokenOff, .digestMismatch: 400
        case .stalled: 408
        case .superseded: 409
        case .expired: 410
        case .tooLarge: 413
        case .unknownType: 415
        case .otherRecording: 422
        case .shuttingDown, .noRecogniser: 503
        case .recogniserFailed: 500
        }
    }

    var description: String {
        switch self {
        case .notAudio(let reason), .unknownType(let reason):
            "the body cannot be decoded: \(reason)"
        case .tooLarge(let limit): "the body is longer than \(limit) bytes"
        case .brokenOff: "the body broke off"
        case .stalled(let time):
            "nothing of the body has come for \((time / .milliseconds(100)).rounded() / 10) s"
        case .superseded: "another request with the same key took its place"
        case .digestMismatch: "the body is not the one that its Content-Digest names"
        case .shuttingDown: "the endpoint is shutting down"
        case .recogniserFailed(let reason): "the recogniser failed: \(reason)"
        case .noRecogniser: "as many recordings wait as this endpoint is allowed"
        case .otherRecording: "another recording has been answered under this Idempotency-Key"
        case .expired: "the upload has expired"
        }
    }
}
