// SPDX-License-Identifier: Apache-2.0

package struct ValueCondition: Sendable, Hashable {
    package enum Place: Sendable, Hashable {
        case path(JSONPath)
        case event
        case header(String)
    }

    enum Test: Sendable, Hashable {
        case exists
        case isAbsent
        /// There is one, and it is not null, false, zero or empty.
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

    /// What stands at its place in a value or at the name of its event.
    func found(in value: JSONValue, of event: String?) -> [JSONValue] {
        switch place {
        case .path(let path): path.values(in: value)
        case .event: event.map { [.string($0)] } ?? []
        case .header: []
        }
    }

    func holds(in value: JSONValue, of event: String?) -> Bool {
        holds(of: found(in: value, of: event))
    }

    /// Whether it holds of what stands at its place: of one of several.
    func holds(of found: [JSONValue]) -> Bool {
        test == .isAbsent
            ? found.allSatisfy { $0 == .null } : found.contains { test.holds(of: $0) }
    }

    /// What a field says that this condition is about; empty when the field is missing, nil when
    /// it is about no field.
    func headerText(in head: AnswerHead) -> String? {
        guard case .header(let name) = place else { return nil }
        return head.header(name) ?? ""
    }

    /// Whether it holds of a field with this value; an empty one is not there.
    func holds(ofHeader text: String) -> Bool {
        test.holds(of: text.isEmpty ? .null : .string(text))
    }
}

extension JSONValue {
    /// Whether both are the same; services send a number as a text here and there.
    fileprivate func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.number(let number), .string(let text)), (.string(let text), .number(let number)):
            Double(text) == number
        default: self == other
        }
    }
}
