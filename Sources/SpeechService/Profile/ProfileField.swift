// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
internal import Settings

struct ProfileField: Sendable, Hashable {
    var name: String
    var value: WordTemplate
    /// A JSON document, in whose strings words may stand.
    var isJSON = false
    /// The value's type in a form; nil is text.
    var contentType: String?
    var place: SettingsPosition

    /// Reads a table of fields in the order in which they are written; a list makes several fields of
    /// one name, and an empty text takes a field away that another profile has.
    static func read(
        _ key: String, _ reader: inout SettingsReader, allowsJSON: Bool = false
    ) throws(SettingsError) -> [ProfileField] {
        guard var inside = try reader.table(key) else { return [] }
        var fields: [ProfileField] = []
        for member in inside.table.members where member.node.value != .string("") {
            var nodes = [member.node]
            if case .array(let elements) = member.node.value { nodes = elements }
            if allowsJSON, nodes.contains(where: { $0.value.table != nil }) {
                fields += try nodes.map { node throws(SettingsError) in
                    if case .string(let text) = node.value {
                        return ProfileField(
                            name: member.name, value: WordTemplate(text), place: node.place)
                    }
                    return try ProfileField(
                        member, node.value.table ?? SettingsTable(), inside.path(member.name),
                        isOfForm: key == "fields")
                }
                continue
            }
            let texts =
                nodes.isEmpty || nodes == [member.node]
                ? try inside.string(member.name).map { [$0] } : try inside.strings(member.name)
            fields += (texts ?? []).map {
                ProfileField(
                    name: member.name, value: WordTemplate($0), place: member.node.place)
            }
        }
        return fields
    }

    private init(
        _ member: SettingsTable.Member, _ table: SettingsTable, _ path: String, isOfForm: Bool
    ) throws(SettingsError) {
        var reader = SettingsReader(table, name: path)
        let json = try reader.string("json")
        let text = isOfForm ? try reader.string("text") : nil
        let type = isOfForm ? try reader.string("content-type") : nil
        contentType = type ?? (json == nil ? nil : "application/json")
        guard let value = json ?? text else {
            throw SettingsError("'\(path)' needs a member 'json'", at: member.place)
        }
        let place = reader.place("json") ?? member.place
        try reader.finish()
        if json != nil { try WordJSON.check(value, path: path + ".json", at: place) }
        (name, self.value, isJSON) = (member.name, WordTemplate(value), json != nil)
        self.place = place
    }

    private init(name: String, value: WordTemplate, place: SettingsPosition) {
        (self.name, self.value, self.place) = (name, value, place)
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

    /// Fills in the words; nil when one of them has no value.
    func filled(by words: [String: String]) -> String? {
        isJSON ? WordJSON.filled(value.text, by: words) : value.filled(by: words)
    }

    /// The same, once for each value of a word that is a list.
    func all(by words: [String: String]) -> [String] {
        isJSON ? filled(by: words).map { [$0] } ?? [] : value.all(by: words)
    }
}

package struct ProfileFormat: Sendable, Hashable {
    package let codec: AudioCodec
    var contentType: WordTemplate?
    var fileName: String?
    /// Counts over that of the whole profile.
    package private(set) var framing: BodyFraming?
    var query: [ProfileField] = []
    var headers: [ProfileField] = []
    var fields: [ProfileField] = []
    var words: [String: String] = [:]
    /// Samples a second; nil: those of the recording, 16,000.
    package private(set) var rate: Int?

    init(codec: AudioCodec) { self.codec = codec }

    init(_ reader: inout SettingsReader) throws(SettingsError) {
        guard let codec = try reader.word("codec", as: AudioCodec.self) else {
            throw SettingsError("each of 'formats' needs a 'codec'")
        }
        self.codec = codec
        contentType = try reader.string("content-type").map(WordTemplate.init)
        fileName = try reader.string("file-name")
        framing = try reader.word("framing")
        rate = try reader.integer("rate")
        guard rate == nil || codec == .pcm && [16_000, 24_000].contains(rate) else {
            throw reader.error("rate", " is 16000 or 24000, of pcm alone")
        }
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
        if said["transfer"]?.value.table?["framing"] != nil { framing = nil }
        let (queries, others) = (names("query", in: said), names("headers", in: said))
        let (parts, own) = (names("fields", in: body), names("words", in: said))
        query.removeAll { queries.contains($0.name.lowercased()) }
        headers.removeAll { others.contains($0.name.lowercased()) }
        fields.removeAll { parts.contains($0.name.lowercased()) }
        words = words.filter { !own.contains($0.key.lowercased()) }
    }
}
