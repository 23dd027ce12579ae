// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// What a profile says of the body of a request.
package struct BodyPlan: Sendable, Hashable {
    /// The shapes.
    package enum Kind: String, Sendable, CaseIterable {
        /// The audio alone.
        case raw
        /// A form whose last field is the audio.
        case form
        /// A JSON document in one of whose strings the audio stands.
        case json
    }

    /// The shape.
    package var kind = Kind.raw
    /// The audio's type instead of its format's own; of a JSON document, the document's.
    package var contentType: WordTemplate?
    /// The name of the audio's field in a form.
    package var fileField = AudioForm.usualFileField
    /// The audio's file name in a form; nil for `audio` with the extension of its format.
    package var fileName: String?
    /// The form's other fields.
    package var fields: [ProfileField] = []
    /// The JSON document.
    package var template = ""

    /// A body that is the audio alone.
    init() {}

    /// Reads the table `body`.
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
