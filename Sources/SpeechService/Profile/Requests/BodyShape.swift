// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// The parts of a request's body beside the recording.
public enum BodyShape: Sendable, Hashable {
    /// Nothing.
    case raw
    /// A form, in which the recording is a file (RFC 7578).
    case form(AudioForm)
    /// A JSON document, in one of whose strings the recording stands in base64.
    case json(JSONTemplate)
}

package struct BodyFrame: Sendable, Hashable {
    package let contentType: String
    package var prologue: [UInt8] = []
    /// Whether the recording stands there in base64 (RFC 4648 §4).
    package private(set) var isBase64 = false
    package var epilogue: [UInt8] = []
}

extension RecognitionService {
    /// Makes the bytes around a recording; they are the same for the same arguments.
    ///
    /// - Parameters:
    ///   - mediaType: the recording's own type.
    ///   - fileName: its name in a form that has none for it.
    ///   - id: the recording's, which does not occur in it: letters, digits and hyphens, at most 50.
    /// - Returns: the request's type, and the bytes.
    package func frame(mediaType: String, fileName: String, id: String) -> BodyFrame {
        switch body {
        case .raw: BodyFrame(contentType: contentType ?? mediaType)
        case .form(let form):
            form.frame(mediaType: contentType ?? mediaType, fileName: fileName, id: id)
        case .json(let template):
            BodyFrame(
                contentType: contentType ?? "application/json",
                prologue: Array(template.prologue.utf8), isBase64: true,
                epilogue: Array(template.epilogue.utf8))
        }
    }
}

struct BodyPlan: Sendable, Hashable {
    enum Kind: String, Sendable, CaseIterable {
        case raw
        case form
        case json
    }

    var kind = Kind.raw
    /// Replaces the type of the format; of a JSON document, the document's own.
    var contentType: WordTemplate?
    /// Most services expect the recording under this name.
    var fileField = "file"
    /// In a form; nil: `audio` with the format's extension.
    var fileName: String?
    var fields: [ProfileField] = []
    var template = ""
    var keyFile: String?

    init() {}

    init(_ reader: inout SettingsReader) throws(SettingsError) {
        let said = try reader.word("kind", as: Kind.self)
        contentType = try reader.string("content-type").flatMap(Self.nonEmpty).map(
            WordTemplate.init)
        let field = try reader.string("file-field")
        fileField = field ?? fileField
        fileName = try reader.string("file-name").flatMap(Self.nonEmpty)
        fields = try ProfileField.read("fields", &reader, allowsJSON: true)
        let document = try reader.string("template")
        keyFile = try reader.string("key-file")
        template = document ?? ""
        // A field that only one kind has names that kind.
        let isForm = field != nil || fileName != nil || !fields.isEmpty
        kind = said ?? (document != nil ? .json : isForm ? .form : .raw)
        guard kind == .json else { return }
        guard document != nil else {
            throw SettingsError("a body of kind 'json' needs a 'template'")
        }
        _ = try reader.string("template", as: JSONTemplate.init(_:))
    }

    /// An empty text takes away what another profile says.
    private static func nonEmpty(_ text: String) -> String? { text.isEmpty ? nil : text }
}
