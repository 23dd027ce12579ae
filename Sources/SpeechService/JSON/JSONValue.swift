// SPDX-License-Identifier: Apache-2.0

/// One value of JSON (RFC 8259 §3).
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number, as a double (RFC 8259 §6); what is too large becomes infinite.
    case number(Double)
    /// A string; a lone surrogate has become U+FFFD.
    case string(String)
    case array([JSONValue])
    /// The members of an object in their order; a name may occur twice.
    case object([JSONMember])

    /// The text of a string, or nil.
    package var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// A number, or nil.
    package var number: Double? {
        guard case .number(let number) = self else { return nil }
        return number
    }

    /// The value of an object's member, or nil; of two with this name the later one.
    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    /// An array's element, or nil.
    subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// Whether the value says something: it is not null, false, zero or empty.
    ///
    /// Services send `"error": null`, `"error": ""` and `"err_no": 0` with a success.
    package var isSet: Bool {
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

package struct JSONMember: Sendable, Hashable {
    var name: String
    var value: JSONValue

    init(name: String, value: JSONValue) {
        self.name = name
        self.value = value
    }
}
