// SPDX-License-Identifier: Apache-2.0

/// The text of one profile, and what it is called.
package struct ProfileText: Sendable, Hashable {
    /// The profile's name, such as `openai`.
    package var name: String
    /// Where it stands, for a message: a file's path.
    package var place: String
    /// The text, which is TOML.
    package var text: String

    /// Creates a text.
    ///
    /// - Parameters:
    ///   - name: the profile's name.
    ///   - place: a file's path; nil for the name with the extension `.toml`.
    ///   - text: the text.
    package init(name: String, place: String? = nil, text: String) {
        self.name = name
        self.place = place ?? name + ".toml"
        self.text = text
    }
}
