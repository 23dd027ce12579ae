// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
internal import Settings

struct ProfileField: Sendable, Hashable {
    var name: String
    var value: WordTemplate
    /// A JSON document, in whose strings words may stand.
    var isJSON = false
    var place: SettingsPosition

    /// Reads a table of fields in the order in which they are written; a list makes several fields of
    /// one name, and an empty text takes a field away that another profile has.
    static func read(
        _ key: String, _ reader: inout SettingsReader, allowsJSON: Bool = false
    ) throws(SettingsError) -> [ProfileField] {
        guard var inside = try reader.table(key) else { return [] }
        var fields: [ProfileField] = []
        for member in inside.table.members where member.node.value != .string("") {
            let texts: [String]
            switch member.node.value {
            case .array(let elements) where !elements.isEmpty:
                texts = try inside.strings(member.name) ?? []
            case .table(let json) where allowsJSON:
                let path = inside.path(member.name)
                var document = SettingsReader(json, name: path)
                guard let text = try document.string("json") else {
                    throw SettingsError("'\(path)' needs a member 'json'", at: member.place)
                }
                let place = document.place("json") ?? member.place
                try document.finish()
                try WordJSON.check(text, path: path + ".json", at: place)
                fields.append(
                    ProfileField(
                        name: member.name, value: WordTemplate(text), isJSON: true, place: place))
                continue
            default: texts = try inside.string(member.name).map { [$0] } ?? []
            }
            fields += texts.map {
                ProfileField(
                    name: member.name, value: WordTemplate($0), place: member.node.place)
            }
        }
        return fields
    }

    /// Fields of the second list replace those of their names in the first.
    static func merged(_ one: [ProfileField], _ two: [ProfileField]) -> [ProfileField] {
        var rest = two
        var all: [ProfileField] = []
        for field in one {
            guard two.contains(where: { $0.name == field.name }) else {
                all.append(field)
                continue
            }
            all += rest.filter { $0.name == field.name }
            rest.removeAll { $0.name == field.name }
        }
        return all + rest
    }

    /// Nil when a word has no value.
    func filled(by words: [String: String]) -> String? {
        isJSON ? WordJSON.filled(value.text, by: words) : value.filled(by: words)
    }
}

package struct ProfileFormat: Sendable, Hashable {
    package var codec: AudioCodec
    var contentType: WordTemplate?
    var fileName: String?
    /// Counts over that of the whole profile.
    package var framing: BodyFraming?
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
        framing = try reader.word("framing")
        query = try ProfileField.read("query", &reader)
        headers = try ProfileField.read("headers", &reader)
        fields = try ProfileField.read("fields", &reader, allowsJSON: true)
        for word in try reader.texts("words") ?? [] {
            guard WordTemplate.isName(word.name) else {
                throw SettingsError(
                    "'\(reader.path("words")).\(word.name)' is not a word", at: word.place)
            }
            words[word.name] = word.value
        }
    }

    /// Leaves out what a person says of all forms, which counts more.
    mutating func yield(to said: SettingsTable) {
        func names(_ key: String, in table: SettingsTable) -> Set<String> {
            Set((table[key]?.value.table?.members ?? []).map { $0.name.lowercased() })
        }
        let body = said["body"]?.value.table ?? SettingsTable()
        if body["content-type"] != nil { contentType = nil }
        if body["file-name"] != nil { fileName = nil }
        let (queries, others) = (names("query", in: said), names("headers", in: said))
        let (parts, own) = (names("fields", in: body), names("words", in: said))
        query.removeAll { queries.contains($0.name.lowercased()) }
        headers.removeAll { others.contains($0.name.lowercased()) }
        fields.removeAll { parts.contains($0.name.lowercased()) }
        words = words.filter { !own.contains($0.key.lowercased()) }
    }
}
