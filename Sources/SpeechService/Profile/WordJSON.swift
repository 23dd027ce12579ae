// SPDX-License-Identifier: Apache-2.0

internal import Settings

enum WordJSON {
    /// Demands that a text is JSON.
    static func check(
        _ text: String, path: String, at place: SettingsPlace?
    ) throws(SettingsError) {
        do throws(AnswerError) {
            _ = try JSONParser.parse(Array(text.utf8))
        } catch {
            throw SettingsError("'\(path)' is not JSON", at: place)
        }
    }

    /// The document with the values of its words; what has a word without a value is left out, and
    /// nil is left when that is all.
    static func filled(
        _ text: String, by words: [String: String], keeping marks: [String] = []
    ) -> String? {
        var words = words
        for mark in marks { words[mark] = "{\(mark)}" }
        // One that is no JSON has been refused when the profile was read.
        guard let document = try? JSONParser.parse(Array(text.utf8)) else { return nil }
        return filled(document, by: words).map(JSONText.text(of:))
    }

    private static func filled(_ value: JSONValue, by words: [String: String]) -> JSONValue? {
        switch value {
        case .null, .bool, .number: value
        case .string(let text): WordTemplate(text).filled(by: words).map(JSONValue.string)
        case .array(let elements): .array(elements.compactMap { filled($0, by: words) })
        case .object(let members):
            .object(
                members.compactMap { member in
                    filled(member.value, by: words).map {
                        JSONMember(name: member.name, value: $0)
                    }
                })
        }
    }
}
