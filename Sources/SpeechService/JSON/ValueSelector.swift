// SPDX-License-Identifier: Apache-2.0

/// A mark by which values of a kind are known.
public struct ValueSelector: Sendable, Hashable {
    /// What must be true of the value at the path.
    public enum Test: Sendable, Hashable {
        /// There is one, and it is not null.
        case exists
        /// There is one, and it is not null, false, zero or empty.
        case isSet
        /// It is this one.
        case equals(JSONValue)
    }

    /// Where the mark is.
    public var path: JSONPath
    /// What it must be.
    public var test: Test
    /// What a value with this mark is.
    public var kind: ValueKind

    /// Creates a selector.
    public init(path: JSONPath, test: Test, kind: ValueKind) {
        self.path = path
        self.test = test
        self.kind = kind
    }

    /// Creates a selector for a member with this string.
    init(_ name: String, equals text: String, is kind: ValueKind) {
        self.init(path: JSONPath(names: name), test: .equals(.string(text)), kind: kind)
    }

    /// Whether the value carries the mark.
    func matches(_ value: JSONValue) -> Bool {
        path.values(in: value).contains { found in
            switch test {
            case .exists: found != .null
            case .isSet: found.isSet
            case .equals(let wanted): found == wanted
            }
        }
    }
}
