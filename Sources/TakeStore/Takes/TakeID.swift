// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The name of one take: when it began, and 50 random bits.
///
/// Such as `20261121-052233-k3f9q2m7x4tz`: sorts by time, to the thousandth of a second by the
/// first two letters, is a folder's name, and goes into the request as its idempotency key.
public struct TakeID: Sendable, Hashable, Codable {
    /// The name; ASCII letters, digits and hyphens.
    public let text: String

    /// Takes over a name of an earlier run; nil when it cannot be one.
    ///
    /// So that a person's own folders beside the takes, such as a copy of one, are no takes.
    public init?(_ text: String) {
        let parts = text.utf8.split(separator: 0x2D, omittingEmptySubsequences: false)
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        guard parts.map(\.count) == [8, 6, 12],
            parts[0].allSatisfy(isDigit), parts[1].allSatisfy(isDigit),
            parts[2].allSatisfy({ isDigit($0) || (0x61...0x7A).contains($0) })
        else { return nil }
        self.text = text
    }

    /// Makes a new name.
    ///
    /// - Parameters:
    ///   - date: when the take begins.
    ///   - generator: where the random bits come from.
    public init(at date: Date, using generator: inout some RandomNumberGenerator) {
        // Without i, l, o and u, which are mistaken for others.
        let letters = Array("0123456789abcdefghjkmnpqrstvwxyz")
        let random = (0..<10).map { _ in letters[Int.random(in: 0..<32, using: &generator)] }
        let seconds = date.timeIntervalSince1970
        let fraction = min(1_023, Int((seconds - seconds.rounded(.down)) * 1_024))
        let moment = [letters[fraction / 32], letters[fraction % 32]]
        text = UTCTime(date).compact + "-" + String(moment + random)
    }

    /// When the take began, by its name; nil when the name says no time.
    public var date: Date? { UTCTime.date(compact: String(text.prefix(15))) }

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
