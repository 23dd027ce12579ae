// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Objects as they are printed: JSON that is harmless to a terminal.
///
/// An encoder escapes what JSON forbids in strings, which leaves the C1 controls and the signs that
/// turn the reading direction; those are escaped here.
enum JSONOutput {
    /// Writes a value in one line, or in a line for each member if `isPretty`.
    static func text(_ value: some Encodable, isPretty: Bool = false) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        // Strings and finite numbers can always be encoded.
        guard let data = try? encoder.encode(value) else { return "null" }
        return escaped(String(decoding: data, as: UTF8.self))
    }

    /// Writes each character that a terminal could obey as `\u` and four digits; JSON has them in
    /// strings only.
    static func escaped(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: isObeyed) else { return json }
        return json.unicodeScalars.map { scalar -> String in
            guard isObeyed(scalar) else { return String(scalar) }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

struct JSONObject: Encodable, Sendable, ExpressibleByDictionaryLiteral {
    typealias Content = any Encodable & Sendable

    private struct Member: Encodable {
        let value: Content?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            guard let value else { return try container.encodeNil() }
            try container.encode(value)
        }
    }

    private var members: [String: Member]

    /// Makes an object; nil members are null.
    init(dictionaryLiteral members: (String, Content?)...) {
        let members = members.map { ($0, Member(value: $1)) }
        self.members = Dictionary(members) { $1 }
    }

    /// Sets a member, to null where that is nil.
    subscript(name: String) -> Content? {
        get { members[name]?.value }
        set { members[name] = Member(value: newValue) }
    }

    var withoutNulls: JSONObject {
        var object = self
        object.members = members.filter { $0.value.value != nil }
        return object
    }

    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}

/// The form of a take on standard output.
package enum OutputForm: Sendable {
    case text
    /// An object with everything (`--json`).
    case object
    /// An object for each thing that happens, as it happens (`--events`).
    case events
}
