// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// A moment as it is written into names and manifests, to the second.
package struct UTCTime {
    private static let compactStyle = Date.ISO8601FormatStyle(timeZone: .gmt)
        .year().month().day().dateSeparator(.omitted).dateTimeSeparator(.space)
        .time(includingFractionalSeconds: false).timeSeparator(.omitted)

    private let date: Date

    package init(_ date: Date) { self.date = date }

    /// The moment that `compact` has written; nil for another text.
    static func date(compact text: String) -> Date? {
        // An unreadable text is another text.
        let date = try? compactStyle.parse(text.replacing("-", with: " "))
        // The 31st of February is read as one in March.
        return date.flatMap { UTCTime($0).compact == text ? $0 : nil }
    }

    /// Such as `20261121-052233`.
    package var compact: String { date.formatted(Self.compactStyle).replacing(" ", with: "-") }

    /// Such as `2026-11-21T05:22:33Z` (ISO 8601).
    var iso8601: String { date.formatted(.iso8601) }
}
