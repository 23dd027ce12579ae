// SPDX-License-Identifier: Apache-2.0

/// The field of a response's head that holds the transcript.
package struct HeaderTranscript: Sendable, Hashable {
    /// How a value is to be read, step by step.
    package enum Coding: String, Sendable, Hashable, CaseIterable {
        /// Base64 (RFC 4648 §4 and §5), with padding or without.
        case base64
        /// Compressed by gzip or zlib (RFC 1952, RFC 1950).
        case gzip
        /// Percent-encoded (RFC 3986 §2.1).
        case percent
    }

    /// The field's name.
    package var name: String
    /// What has been done to the text, the last step first.
    package var coding: [Coding]

    /// Creates the place of a transcript.
    package init(name: String, coding: [Coding] = []) {
        self.name = name
        self.coding = coding
    }
}
