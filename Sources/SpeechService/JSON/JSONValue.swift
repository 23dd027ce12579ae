// SPDX-License-Identifier: Apache-2.0

/// A value of JSON (RFC 8259 §3).
enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A double (RFC 8259 §6); a number that is too large becomes infinite.
    case number(Double)
    case string(String)
    case array([JSONValue])
    /// In order; a name may occur twice.
    case object([JSONMember])

    var string: String? { if case .string(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
    var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// The value of the last member with this name.
    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    subscript(index: Int) -> JSONValue? {
        guard let elements, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// Not null, false, zero or empty.
    ///
    /// Services send `"error": null`, `"error": ""` and `"err_no": 0` with a success.
    var isSet: Bool {
        switch self {
        case .null: false
        case .bool(let flag): flag
        case .number(let number): number != 0
        case .string(let text): !text.isEmpty
        case .array(let elements): !elements.isEmpty
        case .object(let members): !members.isEmpty
        }
    }
}

struct JSONMember: Sendable, Hashable {
    var name: String
    var value: JSONValue
}

/// Writes JSON (RFC 8259) without white space between its tokens.
package enum JSONText {
    /// Whole numbers have no point; members stay in order.
    static func text(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .number(let number): text(of: number)
        case .string(let text): quoted(text)
        case .array(let elements): "[" + elements.map(text(of:)).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.map { quoted($0.name) + ":" + text(of: $0.value) }
                .joined(separator: ",") + "}"
        }
    }

    /// With what must be escaped (RFC 8259 §7), and the control character 0x7F.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let hex = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private static func text(of number: Double) -> String {
        // Beyond 2^53 a double is whole anyway, and what is infinite has no spelling.
        if number == number.rounded(), number.magnitude < 0x1p53 { return String(Int(number)) }
        return number.isFinite ? "\(number)" : "null"
    }
}
