// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
internal import Settings

/// A form of audio that a service reads, and what a request with it has of its own.
package struct ProfileFormat: Sendable, Hashable {
    /// The form.
    package var codec: AudioCodec
    /// The audio's type instead of the form's own.
    package var contentType: WordTemplate?
    /// The audio's file name in a form.
    package var fileName: String?
    /// Query parameters.
    package var query: [ProfileField] = []
    /// Header fields.
    package var headers: [ProfileField] = []
    /// Fields of a form.
    package var fields: [ProfileField] = []
    /// Words for templates.
    package var words: [String: String] = [:]

    /// A form of which nothing else is said.
    init(codec: AudioCodec) { self.codec = codec }

    /// Reads one of the tables `formats`.
    init(_ reader: inout SettingsReader) throws(SettingsError) {
        guard let codec = try reader.word("codec", as: AudioCodec.self) else {
            throw SettingsError("each of 'formats' needs a 'codec'")
        }
        self.codec = codec
        contentType = try reader.string("content-type").map(WordTemplate.init)
        fileName = try reader.string("file-name")
        query = try ProfileField.read("query", &reader)
        headers = try ProfileField.read("headers", &reader)
        fields = try ProfileField.read("fields", &reader, allowsJSON: true)
        for word in try reader.texts("words") ?? [] {
            guard WordTemplate.isName(word.name) else {
                throw SettingsError(
                    "'\(reader.path("words")).\(word.name)' is no word", at: word.place)
            }
            words[word.name] = word.value
        }
    }
}
