// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// A form whose last field is the recording: `multipart/form-data` (RFC 7578).
///
/// The recording comes last, so that the form can be sent while it is being made: a service knows
/// everything else by then. Names and values are sent as UTF-8.
public struct AudioForm: Sendable, Hashable {
    /// A field of text.
    public struct Field: Sendable, Hashable {
        package let name: String
        package let value: String
        /// RFC 7578 §4.4; nil: text.
        package let contentType: String?

        /// Creates a field.
        ///
        /// - Throws: `ServiceError.invalidForm` when the name is empty, `.invalidHeader` when the type
        ///   cannot be sent, `.secretInBody` when the name is that of a secret.
        public init(
            name: String, value: String, contentType: String? = nil
        ) throws(ServiceError) {
            guard !name.isEmpty else { throw .invalidForm(reason: "a field has no name") }
            guard !SecretName.isSecret(name) else {
                throw .secretInBody(name: TerminalText.shown(name))
            }
            self.name = name
            self.value = value
            self.contentType = try contentType.map { type throws(ServiceError) in
                try HeaderField(name: "Content-Type", value: type).value
            }
        }
    }

    /// The most bytes of names and values: the take remembers them.
    private static let byteLimit = 64 << 10

    package private(set) var fields: [Field]
    package private(set) var fileField: String
    /// By its extension some services know the format; nil: `audio` with the format's extension.
    package private(set) var fileName: String?

    /// Creates a form.
    ///
    /// - Throws: `ServiceError.invalidForm` when a name is empty, when that of the recording's field
    ///   is taken, or when the form is too long.
    public init(
        fields: [Field] = [], fileField: String = "file", fileName: String? = nil
    ) throws(ServiceError) {
        guard !fileField.isEmpty else { throw .invalidForm(reason: "the recording has no name") }
        guard fileName?.isEmpty != true else { throw .invalidForm(reason: "the file has no name") }
        guard !fields.contains(where: { $0.name == fileField }) else {
            throw .invalidForm(
                reason: "the field '\(TerminalText.shown(fileField))' is the recording's own")
        }
        let texts = fields.flatMap { [$0.name, $0.value] } + [fileField, fileName ?? ""]
        guard texts.reduce(0, { $0 + $1.utf8.count }) <= Self.byteLimit else {
            throw .invalidForm(reason: "it is longer than \(ByteCount.text(Self.byteLimit))")
        }
        self.fields = fields
        self.fileField = fileField
        self.fileName = fileName
    }

    // MARK: - Bytes

    func frame(mediaType: String, fileName usualName: String, id: String) -> BodyFrame {
        let fileName = fileName ?? usualName
        let boundary = boundary(of: id, avoiding: [mediaType, fileName])
        var text = ""
        for field in fields {
            text += "--\(boundary)\r\n"
            text += "Content-Disposition: form-data; name=\"\(Self.escaped(field.name))\"\r\n"
            if let type = field.contentType { text += "Content-Type: \(type)\r\n" }
            text += "\r\n"
            text += "\(field.value)\r\n"
        }
        text += "--\(boundary)\r\n"
        text += "Content-Disposition: form-data; name=\"\(Self.escaped(fileField))\"; "
        text += "filename=\"\(Self.escaped(fileName))\"\r\n"
        text += "Content-Type: \(mediaType)\r\n\r\n"
        return BodyFrame(
            contentType: "multipart/form-data; boundary=\(boundary)", prologue: Array(text.utf8),
            epilogue: Array("\r\n--\(boundary)--\r\n".utf8))
    }

    /// A boundary (RFC 2046 §5.1.1) that occurs nowhere in the form.
    ///
    /// In the recording it does not occur, because the id is made, in part at random, when the
    /// recording begins. In the other parts it is looked for.
    private func boundary(of id: String, avoiding others: [String]) -> String {
        let texts = fields.flatMap { [$0.name, $0.value] } + [fileField] + others
        var boundary = "utter-\(id)"
        var number = 1
        while texts.contains(where: { $0.utf8.contains(boundary.utf8) }) {
            number += 1
            boundary = "utter-\(id)-\(number)"
        }
        return boundary
    }

    /// A name between quotation marks, as browsers write it (WHATWG HTML, "multipart/form-data
    /// encoding algorithm").
    private static func escaped(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\n": text += "%0A"
            case "\r": text += "%0D"
            case "\"": text += "%22"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension TerminalText {
    /// The beginning in one line, for a message.
    package static func shown(_ text: String) -> String { cut(singleLine(sanitized(text))) }
}
