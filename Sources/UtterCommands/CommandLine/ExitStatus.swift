// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import Utter

/// The exit statuses of `utter`, as its manual lists them.
package enum ExitStatus: Int32 {
    case textPrinted = 0
    case heardNothing = 1
    case usage = 64
    case unusableAudio = 65
    case noInput = 66
    case nothingRecorded = 67
    case refused = 69
    case internalError = 70
    case microphoneLost = 71
    case localIO = 74
    case notDelivered = 75
    case unusableAnswer = 76
    case tokenRefused = 77
    case configuration = 78
    case hungUp = 129
    case cancelled = 130
    case terminated = 143

    /// Whether the person asked for the end.
    var isByRequest: Bool {
        switch self {
        case .cancelled, .terminated, .hungUp: true
        default: false
        }
    }

    package var code: ExitCode { ExitCode(rawValue) }

    init(_ outcome: TakeOutcome) {
        guard outcome.imbalance == nil else {
            self = .internalError
            return
        }
        switch outcome.result {
        case .failure(let failure):
            self.init(failure)
            // What the disk has not taken is not kept for another try.
            if self == .notDelivered, outcome.unprotected != nil { self = .localIO }
        case .success(let transcript):
            if case .source(let error) = outcome.capture.cause, error.isLossInMidTake {
                self.init(error)
            } else if outcome.cutShort != nil {
                self = .localIO
            } else {
                self =
                    !outcome.isWhole
                    ? .unusableAnswer
                    : transcript.text.isEmpty ? .heardNothing : .textPrinted
            }
        }
    }

    private init(_ failure: TakeFailure) {
        switch failure {
        case .capture(let error): self.init(error)
        case .encoding: self = .internalError
        case .journal: self = .localIO
        case .notDelivered, .unavailable, .unfinished: self = .notDelivered
        case .insecure, .tokenRefused: self = .tokenRefused
        case .refused, .redirectRefused, .notTLS, .outsideLimits: self = .refused
        case .proxyRefused(let status): self = status == 407 ? .tokenRefused : .refused
        case .secretMissing: self = .configuration
        case .answerUnusable, .responseUnusable: self = .unusableAnswer
        case .tooShort: self = .heardNothing
        case .cancelled: self = .cancelled
        case .left: self = .terminated
        }
    }

    init(_ error: CaptureError) {
        switch error {
        case .deviceNotFound, .deviceBusy, .deviceUnusable, .deviceUnclear, .deviceIsMonitor,
            .cannotOpen:
            self = .noInput
        case .formatRefused, .unusableAudio, .noSound, .foreignAudio: self = .unusableAudio
        case .permissionDenied, .fileForbidden: self = .configuration
        case .readFailed, .limitReached: self = .localIO
        case .deviceLost, .deviceSilent, .deviceHangs, .deviceFailed: self = .microphoneLost
        }
    }
}
