// SPDX-License-Identifier: Apache-2.0

/// The trouble of a take while it runs, as its events tell it.
///
/// Pure.
package struct TakeTrouble: Sendable, Equatable {
    package enum Kind: String, Sendable, Codable {
        /// The service said no: for good, or for now.
        case refused
        /// The recording lives in memory only.
        case unkept
        /// The service is not reached.
        case offline
    }

    /// The trouble for a person, in one line.
    package struct Line: Sendable, Codable, Equatable {
        package let kind: Kind
        package let reason: String
    }

    /// Why the service takes no more of the recording.
    package private(set) var refusal: TakeFailure?
    /// Why the disk does not keep it.
    package private(set) var exposure: String?
    /// How the last transfer broke, until the next one's connection stands.
    package private(set) var outage: TakeFailure?

    package init() {}

    package mutating func note(_ event: TakeEvent) {
        switch event {
        case .refused(let failure): refusal = failure
        case .noticed(.unprotected(let reason)): exposure = reason
        case .noticed(.protectedAgain): exposure = nil
        case .interrupted(let failure, _): outage = failure
        case .connected: outage = nil
        default: break
        }
    }

    /// The gravest first; nil when nothing is wrong.
    package var lines: [Line]? {
        let lines = [
            refusal.map { Line(kind: .refused, reason: $0.description) },
            exposure.map { Line(kind: .unkept, reason: "it lives in memory only: \($0)") },
            outage.map {
                Line(
                    kind: $0.isByService ? .refused : .offline,
                    reason: "\($0.description); trying again")
            },
        ].compactMap(\.self)
        return lines.isEmpty ? nil : lines
    }
}

extension TakeFailure {
    /// Whether the service answered, and cannot serve now.
    package var isByService: Bool {
        if case .unavailable = self { true } else { false }
    }
}
