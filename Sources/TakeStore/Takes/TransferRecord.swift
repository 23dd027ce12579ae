// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// What a take remembers of one transfer.
package struct TransferRecord: Sendable, Codable, Equatable {
    /// Its number, from 1; goes on over all processes that send the take.
    package var number: Int
    /// Where it went, without query and credentials; nil when the take was meant to go there.
    package var url: String?
    /// When it was begun, in ISO 8601, UTC.
    package var begun: String
    /// When it had ended; nil while it runs, and when its process died.
    package var ended: String?
    /// How it ended, for a person; nil while that is not known.
    package var ending: String?
    /// The status of the answer; nil without one.
    package var status: Int?
    /// Whether the service may have had the whole take; nil while that is not known.
    package var wasWhole: Bool?

    package init(number: Int, begun: Date, url: String? = nil) {
        self.number = number
        self.url = url
        self.begun = UTCTime(begun).iso8601
    }

    package mutating func end(_ ending: String, at date: Date, status: Int?, wasWhole: Bool) {
        self.ending = String(ending.prefix(Self.endingLimit))
        ended = UTCTime(date).iso8601
        self.status = status
        self.wasWhole = wasWhole
    }

    private static let endingLimit = 200
}
