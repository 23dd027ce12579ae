// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Settings

/// A JSON document in which one mark, `{audio}`, stands for the recording in base64.
///
/// The mark stands in a string and may be a part of it: `{"audio":{"content":"{audio}"}}`,
/// `"data:audio/wav;base64,{audio}"`. Everything else is sent as it was written; what base64 is
/// made of needs no escape in JSON.
public struct JSONTemplate: Sendable, Hashable {
    static let mark = "{audio}"

    /// The most bytes: the take remembers it.
    private static let byteLimit = 64 << 10

    package let text: String

    /// Reads a document.
    ///
    /// - Throws: `ServiceError.invalidTemplate` when it is too long or not JSON, or when the mark does
    ///   not stand in its strings exactly once; `.secretInBody` when a member has the name of a
    ///   secret.
    public init(_ text: String) throws(ServiceError) {
        guard text.utf8.count <= Self.byteLimit else {
            throw .invalidTemplate(reason: "it is longer than \(ByteCount.text(Self.byteLimit))")
        }
        let document: JSONValue
        do throws(AnswerError) {
            document = try JSONParser.parse(Array(text.utf8))
        } catch {
            throw .invalidTemplate(reason: Self.reason(error))
        }
        let count = text.ranges(of: Self.mark).count
        guard count > 0 else {
            throw .invalidTemplate(reason: "\(Self.mark) must appear once, inside a string")
        }
        guard count == 1 else {
            throw .invalidTemplate(reason: "\(Self.mark) must appear once, not \(count) times")
        }
        guard !document.members.contains(where: { $0.name.contains(Self.mark) }) else {
            throw .invalidTemplate(reason: "\(Self.mark) is the name of a member, not a value")
        }
        guard document.strings.contains(where: { $0.contains(Self.mark) }) else {
            throw .invalidTemplate(reason: "\(Self.mark) must appear once, inside a string")
        }
        if let name = document.secretName { throw .secretInBody(name: TerminalText.shown(name)) }
        self.text = text
    }

    var prologue: String { String(text[..<place.lowerBound]) }

    var epilogue: String { String(text[place.upperBound...]) }

    private var place: Range<String.Index> {
        // There is one: `init` has seen it.
        text.firstRange(of: Self.mark) ?? text.endIndex..<text.endIndex
    }

    private static func reason(_ error: AnswerError) -> String {
        switch error {
        case .notJSON(let offset, let excerpt): "it is not JSON at byte \(offset): '\(excerpt)'"
        case .truncated: "it is not JSON: it ends inside a value"
        case .empty: "it is empty"
        default: "it is not JSON that utter can read"
        }
    }
}

extension JSONValue {
    /// The members of all objects in the value, in order.
    fileprivate var members: [JSONMember] {
        switch self {
        case .array(let elements): elements.flatMap(\.members)
        case .object(let members): members.flatMap { [$0] + $0.value.members }
        case .null, .bool, .number, .string: []
        }
    }

    fileprivate var strings: [String] {
        switch self {
        case .string(let text): [text]
        case .array(let elements): elements.flatMap(\.strings)
        case .object(let members): members.flatMap(\.value.strings)
        case .null, .bool, .number: []
        }
    }

    /// But for those of lists inside, which have their own elements.
    fileprivate var ownStrings: [String] {
        switch self {
        case .string(let text): [text]
        case .object(let members): members.flatMap(\.value.ownStrings)
        case .array, .null, .bool, .number: []
        }
    }

    fileprivate var secretName: String? {
        members.first { member in
            SecretName.isSecret(member.name) && member.value.string?.isEmpty == false
        }?.name
    }
}

enum WordJSON {
    static func check(
        _ text: String, path: String, at place: SettingsPosition?
    ) throws(SettingsError) {
        // The place that the parser names is one in the text, and not in the file.
        guard let document = try? JSONParser.parse(Array(text.utf8)) else {
            throw SettingsError("'\(path)' is not JSON", at: place)
        }
        if let name = document.secretName {
            throw SettingsError(
                "'\(path)': '\(TerminalText.shown(name))' must not hold a secret; secrets belong "
                    + "in 'auth'", at: place)
        }
    }

    /// Leaves out what has a word without a value, and all around it that has nothing but a list of none;
    /// nil when nothing is left.
    static func filled(
        _ text: String, by words: [String: String], keeping marks: [String] = []
    ) -> String? {
        var words = words
        for mark in marks { words[mark] = "{\(mark)}" }
        // Without words it is sent as it was written.
        if WordTemplate(text).words.allSatisfy({ words[$0] == "{\($0)}" }) { return text }
        // The reader of the profile has refused everything but JSON.
        guard let document = try? JSONParser.parse(Array(text.utf8)) else { return nil }
        return filled(document, by: words).map(JSONText.text(of:))
    }

    private static func filled(_ value: JSONValue, by words: [String: String]) -> JSONValue? {
        switch value {
        case .null, .bool, .number: value
        case .string(let text): WordTemplate(text).filled(by: words).map(JSONValue.string)
        case .array(let elements):
            rest(elements.flatMap { all($0, by: words) }, of: value, words).map(JSONValue.array)
        case .object(let members):
            rest(
                members.compactMap { member in
                    filled(member.value, by: words).map {
                        JSONMember(name: member.name, value: $0)
                    }
                }, of: value, words
            ).map(JSONValue.object)
        }
    }

    /// An element of a list, once for each value of a word that is one.
    private static func all(_ element: JSONValue, by words: [String: String]) -> [JSONValue] {
        let names = element.ownStrings.flatMap { WordTemplate($0).words }
        return WordTemplate.each(of: names, in: words).compactMap { filled(element, by: $0) }
    }

    private static func rest<Part>(
        _ rest: [Part], of value: JSONValue, _ words: [String: String]
    ) -> [Part]? {
        let none = "\(WordTemplate.separator)"
        let hasNone = value.strings.contains { text in
            WordTemplate(text).words.contains { words[$0] == none }
        }
        return rest.isEmpty && hasNone ? nil : rest
    }
}
