// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

package struct TransferRecord: Sendable, Codable, Equatable {
    /// Its number, from 1; goes on over all processes that send the take.
    package var number: Int
    /// Where it went, without query and credentials; nil when the take was meant to go there.
    package var url: String?
    package var begun: String
    /// When it had ended; nil while it runs, and when its process died.
    package var ended: String?
    /// How it ended, for a person; nil while that is not known.
    package var ending: String?
    package var status: Int?
    /// Whether the service may have had the whole take; nil while that is not known.
    package var wasWhole: Bool?

    init(number: Int, begun: Date, url: String? = nil) {
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

/// A file that was sent, known by what it holds: the same under any name.
package struct SentFile: Sendable, Codable, Hashable {
    package var byteCount: Int
    /// Its SHA-256 in hexadecimal.
    package var sha256: String

    package init(byteCount: Int, sha256: String) {
        (self.byteCount, self.sha256) = (byteCount, sha256)
    }
}
