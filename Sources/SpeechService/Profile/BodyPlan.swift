// SPDX-License-Identifier: Apache-2.0

internal import Settings

struct BodyPlan: Sendable, Hashable {
    enum Kind: String, Sendable, CaseIterable {
        case raw
        case form
        case json
    }

    var kind = Kind.raw
    /// The audio's type instead of its format's own; of a JSON document, the document's.
    var contentType: WordTemplate?
    var fileField = AudioForm.usualFileField
    /// The audio's file name in a form; nil for `audio` with the extension of its format.
    var fileName: String?
    var fields: [ProfileField] = []
    var template = ""

    init() {}

    init(_ reader: inout SettingsReader) throws(SettingsError) {
        kind = try reader.word("kind") ?? .raw
        contentType = try reader.string("content-type").map(WordTemplate.init)
        fileField = try reader.string("file-field") ?? AudioForm.usualFileField
        fileName = try reader.string("file-name")
        fields = try ProfileField.read("fields", &reader, allowsJSON: true)
        let place = reader.place("template")
        template = try reader.string("template") ?? ""
        guard kind == .json else { return }
        guard let place else {
            throw SettingsError("a body of kind 'json' needs a 'template'")
        }
        do throws(ServiceError) {
            _ = try JSONTemplate(template)
        } catch {
            throw SettingsError("'\(reader.path("template"))': \(error.description)", at: place)
        }
    }
}
