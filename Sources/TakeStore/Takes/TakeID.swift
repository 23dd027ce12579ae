// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// The name of one take: when it began, and 50 random bits.
///
/// Such as `20261121-052233-k3f9q2m7x4tz`: sorts by time, to the thousandth of a second by the
/// first two letters, is a folder's name, and goes into the request as its idempotency key.
public struct TakeID: Sendable, Hashable, Codable {
    /// The name; ASCII letters, digits and hyphens.
    public let text: String

    /// Takes over a name of an earlier run; nil when it cannot be one.
    ///
    /// So that a person's own folders beside the takes, such as a copy of one, are not takes.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: 0x2D, omittingEmptySubsequences: false)
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        guard parts.map(\.count) == [8, 6, 12],
            parts[0].allSatisfy(isDigit), parts[1].allSatisfy(isDigit),
            parts[2].allSatisfy({ isDigit($0) || (0x61...0x7A).contains($0) })
        else { return nil }
        self.text = text
    }

    /// Finds a name in another text, such as the path of a file of an archive; nil when it has none.
    package init?(in text: String) {
        let words = text.split { !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "-") }
        guard let id = words.lazy.compactMap({ TakeID(String($0.suffix(28))) }).last else {
            return nil
        }
        self = id
    }

    /// As letters: without i, l, o and u, which are mistaken for others.
    private static let letters = Array("0123456789abcdefghjkmnpqrstvwxyz")
    /// The names of later years have another form.
    private static let lastTick = 250_000_000_000 * 1_024

    /// Names are in the order in which they were made, also when the clock goes back.
    package init(
        at date: Date, after newest: TakeID? = nil,
        using generator: inout some RandomNumberGenerator
    ) {
        var tick = Int((date.timeIntervalSince1970 * 1_024).rounded(.down))
        if let last = newest?.tick, last < Self.lastTick { tick = max(tick, last + 1) }
        let (second, fraction) = (tick >> 10, tick & 1_023)
        let random = (0..<10).map { _ in Int.random(in: 0..<32, using: &generator) }
        let time = Self.start(at: Date(timeIntervalSince1970: TimeInterval(second)))
        text =
            time + "-"
            + String(([fraction / 32, fraction % 32] + random).map { Self.letters[$0] })
    }

    /// When the take began, by its name, in 1,024ths of a second since 1970; nil when that says no
    /// time.
    private var tick: Int? {
        guard let date else { return nil }
        // Letters that we do not use sort behind all.
        let fraction = text.suffix(12).prefix(2).reduce(0) {
            $0 << 5 | (Self.letters.firstIndex(of: $1) ?? 31)
        }
        return Int(date.timeIntervalSince1970) << 10 | fraction
    }

    /// Such as `2026-11-21`.
    package var day: String {
        let digits = text.prefix(8)
        return "\(digits.prefix(4))-\(digits.dropFirst(4).prefix(2))-\(digits.suffix(2))"
    }

    /// The beginning of the names of takes that began then, to the second: `20261121-052233`.
    package static func start(at date: Date) -> String { UTCTime(date).compact }

    /// When the take began, by its name, to the thousandth of a second.
    package var moment: Date? { tick.map { Date(timeIntervalSince1970: Double($0) / 1_024) } }

    package var date: Date? { UTCTime.date(compact: String(text.prefix(15))) }

    /// Decodes a name.
    ///
    /// - Throws: `DecodingError` when it cannot be one.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let id = TakeID(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not the id of a take")
        }
        self = id
    }

    /// Encodes the name as a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// A moment as it is written into names and manifests, to the second.
struct UTCTime {
    private static let compactStyle = Date.ISO8601FormatStyle(timeZone: .gmt)
        .year().month().day().dateSeparator(.omitted).dateTimeSeparator(.space)
        .time(includingFractionalSeconds: false).timeSeparator(.omitted)

    private let date: Date

    init(_ date: Date) { self.date = date }

    /// The moment that `compact` has written; nil for another text.
    static func date(compact text: String) -> Date? {
        // An unreadable text is another text.
        let date = try? compactStyle.parse(text.replacing("-", with: " "))
        // The 31st of February is read as one in March.
        return date.flatMap { UTCTime($0).compact == text ? $0 : nil }
    }

    /// Such as `20261121-052233`.
    var compact: String { date.formatted(Self.compactStyle).replacing(" ", with: "-") }

    /// Such as `2026-11-21T05:22:33Z` (ISO 8601).
    var iso8601: String { date.formatted(.iso8601) }
}
