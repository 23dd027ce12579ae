// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// A JSON value as a program that reads `--json` sees it.
enum JSONText: Decodable, Equatable {
    case object([String: JSONText])
    case array([JSONText])
    case string(String)
    case number(Double)
    case bool(Bool)
    case null

    init(_ bytes: [UInt8]) throws {
        self = try JSONDecoder().decode(JSONText.self, from: Data(bytes))
    }

    init(from decoder: any Decoder) throws {
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
        } else if let value = attempt([JSONText].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONText].self))
        }
    }

    subscript(name: String) -> JSONText? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    subscript(index: Int) -> JSONText? {
        if case .array(let elements) = self, index < elements.count { elements[index] } else { nil }
    }

    var names: Set<String> {
        if case .object(let members) = self { Set(members.keys) } else { [] }
    }

    var string: String? { if case .string(let value) = self { value } else { nil } }

    var array: [JSONText]? { if case .array(let elements) = self { elements } else { nil } }

    var number: Double? { if case .number(let value) = self { value } else { nil } }
}
