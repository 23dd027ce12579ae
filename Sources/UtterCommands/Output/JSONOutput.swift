// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Objects as they are printed: JSON that is harmless to a terminal.
///
/// An encoder escapes what JSON forbids in strings, which leaves the C1 controls and the signs that
/// turn the reading direction; those are escaped here.
enum JSONOutput {
    /// The JSON of a value whose members are strings, numbers and the like.
    ///
    /// - Parameters:
    ///   - value: what is encoded.
    ///   - isPretty: whether it has a line for each member.
    /// - Returns: the text; `null` when a number is none, which no value of ours has.
    static func text(_ value: some Encodable, isPretty: Bool = false) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        // Strings and finite numbers can always be encoded.
        guard let data = try? encoder.encode(value) else { return "null" }
        return escaped(String(decoding: data, as: UTF8.self))
    }

    /// JSON with what a terminal could obey as `\uXXXX`; such a sign stands in strings only.
    static func escaped(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: isObeyed) else { return json }
        var result = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            guard isObeyed(scalar) else {
                result.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            let zeros = String(repeating: "0", count: 4 - digits.count)
            result.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
        }
        return String(result)
    }

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

/// An optional member of an object in JSON that is always there: as null when it is nil.
@propertyWrapper
struct Nullable<Value: Encodable>: Encodable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard let wrappedValue else { return try container.encodeNil() }
        try container.encode(wrappedValue)
    }
}

extension Nullable: Sendable where Value: Sendable {}

/// What standard output has of a take.
package enum OutputForm: Sendable {
    case text
    /// One object with everything (`--json`).
    case object
    /// An object for each thing that happens, as it happens (`--events`).
    case events
}
