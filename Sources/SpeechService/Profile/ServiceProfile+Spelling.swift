// SPDX-License-Identifier: Apache-2.0

internal import Settings

extension ServiceProfile {
    /// Demands that what has no words in it can be sent as it is: what has some is looked at when
    /// they are said.
    func checkSpelling(urlPlace: SettingsPlace?) throws(SettingsError) {
        if url.words.isEmpty {
            try placed("'url'", at: urlPlace) { () throws(ServiceError) in
                _ = try ServiceURL(url.text)
            }
        }
        let bodyPlace = table["body"]?.place
        for type in [body.contentType] + formats.map(\.contentType) {
            guard let type, type.words.isEmpty else { continue }
            try placed("'content-type'", at: bodyPlace) { () throws(ServiceError) in
                _ = try HeaderField(name: "Content-Type", value: type.text)
            }
        }
        if body.kind == .form {
            try placed("'body'", at: bodyPlace) { () throws(ServiceError) in
                _ = try AudioForm(
                    fields: body.fields.map { field throws(ServiceError) in
                        try AudioForm.Field(name: field.name, value: field.value.text)
                    }, fileField: body.fileField, fileName: body.fileName)
            }
        }
        for field in headers + formats.flatMap(\.headers) {
            let value = field.value.words.isEmpty && !field.isJSON ? field.value.text : "value"
            try placed("'headers'", at: field.place) { () throws(ServiceError) in
                _ = try HeaderField(name: field.name, value: value)
            }
        }
    }

    private func placed(
        _ name: String, at place: SettingsPlace?, _ read: () throws(ServiceError) -> Void
    ) throws(SettingsError) {
        do throws(ServiceError) {
            try read()
        } catch {
            throw SettingsError("\(name): \(error.description)", at: place)
        }
    }
}
