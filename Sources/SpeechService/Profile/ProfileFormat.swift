// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
internal import Settings

package struct ProfileFormat: Sendable, Hashable {
    package var codec: AudioCodec
    var contentType: WordTemplate?
    var fileName: String?
    var query: [ProfileField] = []
    var headers: [ProfileField] = []
    var fields: [ProfileField] = []
    var words: [String: String] = [:]

    init(codec: AudioCodec) { self.codec = codec }

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
