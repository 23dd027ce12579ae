// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
package import SpeechService
package import TakeStore

extension DeliveryPlan {
    /// What a take remembers of this plan.
    package var record: DeliveryRecord {
        var record = DeliveryRecord(
            url: service.url.text, format: format.name, answer: service.answer.description,
            idHeader: idHeader, framing: framing.rawValue)
        record.method = service.method.rawValue
        record.headers =
            service.headers.isEmpty
            ? nil : service.headers.map { .init(name: $0.name, value: $0.value) }
        record.contentType = service.contentType
        switch service.body {
        case .raw: break
        case .form(let form):
            record.form = DeliveryRecord.Form(
                fields: form.fields.map { .init(name: $0.name, value: $0.value) },
                fileField: form.fileField, fileName: form.fileName)
        case .json(let template): record.jsonBody = template.text
        }
        record.detectsEnd = service.detectsEnd ? true : nil
        record.httpVersion = connection.http == .one ? nil : connection.http.rawValue
        record.certificateFile = connection.certificateFile
        record.connection = DeliveryRecord.Connection(connection)
        record.redirectOrigins =
            redirectOrigins.isEmpty ? nil : redirectOrigins.map(\.description)
        let origin = service.url.origin.description
        record.secrets =
            service.credentials.isEmpty
            ? nil : service.credentials.map { DeliveryRecord.Secret($0, origin: origin) }
        record.allowsSecretsInClear = allowsSecretsInClear ? true : nil
        return record
    }

    /// Makes the plan that a take remembers, without its secrets.
    ///
    /// - Throws: `ServiceError` when the record is not one that this program has written.
    package init(_ record: DeliveryRecord) throws(ServiceError) {
        let headers = try (record.headers ?? []).map { field throws(ServiceError) in
            try HeaderField(name: field.name, value: field.value)
        }
        var service = try RecognitionService(
            url: ServiceURL(record.url), headers: headers, contentType: record.contentType,
            answer: AnswerRule(record.answer))
        service.method = RequestMethod(rawValue: record.method) ?? .post
        service.body = try BodyShape(record)
        service.detectsEnd = record.detectsEnd ?? false
        self.init(
            service: service, format: AudioCodec(rawValue: record.format) ?? .pcm,
            redirectOrigins: try (record.redirectOrigins ?? []).map { text throws(ServiceError) in
                try Origin(text)
            })
        idHeader = try HeaderField(name: record.idHeader, value: "id").name
        connection = try ConnectionSettings(record)
        framing = BodyFraming(rawValue: record.framing) ?? .auto
        allowsSecretsInClear = record.allowsSecretsInClear ?? false
    }
}

extension BodyShape {
    /// The shape that a take remembers.
    fileprivate init(_ record: DeliveryRecord) throws(ServiceError) {
        if let form = record.form {
            self = .form(
                try AudioForm(
                    fields: form.fields.map { field throws(ServiceError) in
                        try AudioForm.Field(name: field.name, value: field.value)
                    }, fileField: form.fileField, fileName: form.fileName))
        } else if let template = record.jsonBody {
            self = .json(try JSONTemplate(template))
        } else {
            self = .raw
        }
    }
}

extension DeliveryRecord.Secret {
    /// Remembers where a credential stands and comes from.
    fileprivate init(_ credential: Credential, origin: String) {
        switch credential.place {
        case .header(let name):
            self.init(header: name, form: credential.form.description, origin: origin)
        case .query(let name):
            self.init(query: name, form: credential.form.description, origin: origin)
        }
        switch credential.source {
        case .variable(let name): variable = name
        case .file(let path): file = path
        case .command(let text): command = text
        case .headerFile(let path): headerFile = path
        case .given: break
        }
    }

    /// Where the secret stands in the request.
    package var place: Credential.Place {
        header.map { .header($0) } ?? .query(query ?? "")
    }

    /// Where the secret comes from.
    package var source: SecretSource {
        if let variable { return .variable(variable) }
        if let file { return .file(file) }
        if let command { return .command(command) }
        if let headerFile { return .headerFile(headerFile) }
        return .given
    }
}
