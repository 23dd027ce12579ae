// SPDX-License-Identifier: Apache-2.0

struct ValueCondition: Sendable, Hashable {
    enum Place: Sendable, Hashable {
        case path(JSONPath)
        case event
        case header(String)
        /// The first element of that name in an XML document.
        case element(String)
    }

    enum Test: Sendable, Hashable {
        case exists
        case isAbsent
        /// Not null, false, zero or empty.
        case isSet
        case oneOf([JSONValue])
        case begins(String)

        static func equals(_ value: JSONValue) -> Test { .oneOf([value]) }

        func holds(of found: JSONValue) -> Bool {
            switch self {
            case .exists: found != .null
            case .isAbsent: found == .null
            case .isSet: found.isSet
            case .oneOf(let wanted): wanted.contains { $0.isSame(as: found) }
            case .begins(let start): found.string?.hasPrefix(start) ?? false
            }
        }
    }

    var place: Place
    var test: Test

    init(_ place: Place, _ test: Test) {
        self.place = place
        self.test = test
    }

    func found(in value: JSONValue, of event: String?) -> [JSONValue] {
        switch place {
        case .path(let path): path.values(in: value)
        case .event: event.map { [.string($0)] } ?? []
        case .header, .element: []
        }
    }

    func holds(in value: JSONValue, of event: String?) -> Bool {
        holds(of: found(in: value, of: event))
    }

    /// Whether the condition holds for any of several values.
    func holds(of found: [JSONValue]) -> Bool {
        test == .isAbsent
            ? found.allSatisfy { $0 == .null } : found.contains { test.holds(of: $0) }
    }

    /// The text of the field that this condition is about; empty when the field is missing, nil
    /// for another condition.
    func headerText(in head: AnswerHead) -> String? {
        guard case .header(let name) = place else { return nil }
        return head.header(name) ?? ""
    }

    /// An empty field counts as missing.
    func holds(ofHeader text: String) -> Bool {
        test.holds(of: text.isEmpty ? .null : .string(text))
    }
}

extension JSONValue {
    /// A number may be sent as a text.
    fileprivate func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.number(let number), .string(let text)), (.string(let text), .number(let number)):
            Double(text) == number
        default: self == other
        }
    }
}
