// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// The step to take when the whole body was sent and no final answer came: the service may have
/// the take, and may charge for it again.
public enum UnknownOutcome: String, Sendable, CaseIterable {
    /// Send it again, marked by the same id and the next attempt number.
    case resend
    /// Keep the take; the person decides later.
    case keep
    /// Keep the take; the program that shows the outcome asks the person now.
    case ask
}

/// Which refusals are worth another attempt, and which concern the token.
///
/// `StatusVerdict.of(status:)` decides what it leaves open.
package struct RetryRule: Sendable, Hashable {
    /// Statuses that are tried again; nil for the usual ones.
    var statuses: Set<Int>?
    /// Statuses that refuse the token; nil for the usual ones.
    var tokenRefusals: Set<Int>?
    /// Codes in answers that are tried again, whatever the status; without regard to case.
    ///
    /// A star at the end stands for any rest.
    var codes: Set<String> = []
    /// They refuse the token, whatever the status.
    var tokenCodes: Set<String> = []
    /// Close codes of a WebSocket after which the session is tried again; nil for the usual ones.
    var closeCodes: Set<Int>?
    package internal(set) var honoursRetryAfter = true

    package init() {}

    init(_ reader: inout SettingsReader) throws(SettingsError) {
        statuses = try Self.statuses("statuses", within: 400...599, &reader)
        tokenRefusals = try Self.statuses("token-refused", within: 400...599, &reader)
        closeCodes = try Self.statuses("close-codes", within: 1000...4999, &reader)
        codes = Set(try reader.labels("codes") ?? [])
        tokenCodes = Set(try reader.labels("token-codes") ?? [])
        honoursRetryAfter = try reader.flag("retry-after") ?? true
    }

    /// Reads the table `retry`: what is tried again, and when.
    static func withPauses(
        _ reader: inout SettingsReader
    ) throws(SettingsError) -> (RetryRule, RetryPauses) {
        (try RetryRule(&reader), try RetryPauses(&reader))
    }

    private static func statuses(
        _ key: String, within range: ClosedRange<Int>, _ reader: inout SettingsReader
    ) throws(SettingsError) -> Set<Int>? {
        guard let statuses = try reader.integers(key) else { return nil }
        guard statuses.allSatisfy(range.contains) else {
            throw reader.error(
                key, " holds numbers of refusals, from \(range.lowerBound) to \(range.upperBound)")
        }
        return Set(statuses)
    }
}

/// When a take is sent again, as far as a profile says; nil leaves it to the plan.
package struct RetryPauses: Sendable, Hashable {
    /// Whether a take is kept at its first failure.
    package private(set) var isNever = false
    package private(set) var unknownOutcome: UnknownOutcome?
    package private(set) var whileSpeaking: [Duration]?
    package private(set) var afterRelease: [Duration]?
    package private(set) var longestRetryAfter: Duration?

    init() {}

    init(_ reader: inout SettingsReader) throws(SettingsError) {
        isNever = try reader.flag("never") ?? false
        unknownOutcome = try reader.word("unknown")
        whileSpeaking = try reader.times("pauses-while-speaking", upTo: 86_400)
        afterRelease = try reader.times("pauses-after-release", upTo: 86_400)
        longestRetryAfter = try reader.seconds(
            "longest-retry-after-seconds", upTo: 86_400, allowsZero: true)
    }
}

extension RetryRule {
    package func verdict(status: Int, code: String? = nil) -> StatusVerdict {
        let usual = StatusVerdict.of(status: status)
        switch usual {
        case .accepted, .redirect, .unusable: return usual
        case .tokenRefused, .retryable, .refused: break
        }
        if let meaning = verdict(code: code) { return meaning }
        if tokenRefusals?.contains(status) == true { return .tokenRefused }
        if statuses?.contains(status) == true { return .retryable }
        switch usual {
        case .tokenRefused: return tokenRefusals == nil ? usual : .refused
        case .retryable: return statuses == nil ? usual : .refused
        default: return usual
        }
    }

    /// Also for an answer with a good status; nil for a code that means nothing here.
    package func verdict(code: String?) -> StatusVerdict? {
        guard let code = code?.lowercased() else { return nil }
        func isAmong(_ codes: Set<String>) -> Bool {
            codes.contains {
                $0.hasSuffix("*")
                    ? code.hasPrefix($0.dropLast().lowercased()) : $0.lowercased() == code
            }
        }
        if isAmong(tokenCodes) { return .tokenRefused }
        return isAmong(codes) ? .retryable : nil
    }
}

/// The meaning of a final status for a posted recording (RFC 9110 §15).
package enum StatusVerdict: Sendable, Hashable {
    /// 2xx, and 101, after which the answer comes over a WebSocket: the answer decides.
    case accepted
    /// 307 and 308: the same request again at another place.
    case redirect
    /// 401 and 403: the token is missing, wrong or not enough.
    case tokenRefused
    case retryable
    case refused
    /// Another one below 200, or 600 and above.
    case unusable

    /// 301, 302 and 303 are refusals: followed as the RFC allows they would turn the POST into a
    /// GET without the recording.
    ///
    /// Only 408, 423, 425 and 429 among 4xx say that time helps: 409 and 421 are refusals, as
    /// nothing of ours changes the conflict. 501 and 505 say that the server will never do it.
    package static func of(status: Int) -> StatusVerdict {
        switch status {
        case 101, 200..<300: .accepted
        case 307, 308: .redirect
        case 401, 403: .tokenRefused
        case 408, 423, 425, 429: .retryable
        case 501, 505: .refused
        case 500..<600: .retryable
        case 300..<500: .refused
        default: .unusable
        }
    }
}
