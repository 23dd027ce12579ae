// SPDX-License-Identifier: Apache-2.0

extension DeliveryRecord {
    /// The profile of a service by value, and what was said with it.
    ///
    /// The files may change or go: the take is sent by what they were.
    package struct Profile: Sendable, Codable, Equatable {
        /// The text of one file.
        package struct Text: Sendable, Codable, Equatable {
            package var name: String
            package var text: String

            package init(name: String, text: String) {
                self.name = name
                self.text = text
            }
        }

        /// The profile's own text, that of the profile which it extends, and so on.
        package var texts: [Text]
        /// What a person said, by the names of the words.
        package var words: [String: String]
        /// The form of audio that was chosen.
        package var format: String

        /// Creates a record.
        package init(texts: [Text], words: [String: String], format: String) {
            self.texts = texts
            self.words = words
            self.format = format
        }
    }
}
