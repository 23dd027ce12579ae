// SPDX-License-Identifier: Apache-2.0

/// One line of a message's head: a name and its value (RFC 9112 §5).
package struct HeaderField: Sendable, Hashable {
    package let name: String

    /// The value without the white space around it.
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether this field is called `name`, whatever the case of its letters.
    package func isNamed(_ name: String) -> Bool {
        self.name.lowercased() == name.lowercased()
    }
}
