// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A JSON value as a program that reads `--json` sees it.
package enum ParsedJSON: Decodable, Equatable {
    case object([String: ParsedJSON])
    case array([ParsedJSON])
    case string(String)
    case number(Double)
    case bool(Bool)
    case null

    package init(_ bytes: [UInt8]) throws {
        self = try JSONDecoder().decode(ParsedJSON.self, from: Data(bytes))
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        func attempt<Value: Decodable>(_ type: Value.Type) -> Value? {
            // A value of another kind is tried as the next one.
            try? container.decode(type)
        }
        if container.decodeNil() {
            self = .null
        } else if let value = attempt(Bool.self) {
            self = .bool(value)
        } else if let value = attempt(Double.self) {
            self = .number(value)
        } else if let value = attempt(String.self) {
            self = .string(value)
        } else if let value = attempt([ParsedJSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: ParsedJSON].self))
        }
    }

    package subscript(name: String) -> ParsedJSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    package subscript(index: Int) -> ParsedJSON? {
        if case .array(let elements) = self, index < elements.count { elements[index] } else { nil }
    }

    package var names: Set<String> {
        if case .object(let members) = self { Set(members.keys) } else { [] }
    }

    package var string: String? { if case .string(let value) = self { value } else { nil } }

    package var array: [ParsedJSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var number: Double? { if case .number(let value) = self { value } else { nil } }
}
