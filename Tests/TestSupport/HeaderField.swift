// SPDX-License-Identifier: Apache-2.0

/// One line of a message's head: a name and its value (RFC 9112 §5).
public struct HeaderField: Sendable, Hashable {
    /// The name as it was written.
    public let name: String

    /// The value without the white space around it.
    public let value: String

    /// Creates a field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether this field is called `name`, whatever the case of its letters.
    public func isNamed(_ name: String) -> Bool {
        self.name.lowercased() == name.lowercased()
    }
}
