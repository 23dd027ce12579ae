// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import SpeechService
internal import TakeStore

// Takes of version 1 say each member of a request by itself. It is read into the plan that their
// profile describes, and written as the text of what is said otherwise.
extension DeliveryPlan {
    init(_ former: FormerDelivery) throws(ProfileError) {
        let texts =
            former.profile?.texts.map { ProfileText(name: $0.name, text: $0.text) }
            ?? [ProfileText(plainFor: former.url)]
        let codec = AudioCodec(rawValue: former.format)
        do throws(ProfileError) {
            try self.init(
                ProfileUse(.reading(texts), words: former.profile?.words ?? [:], codec: codec))
        } catch ProfileError.formatNotTaken {
            let own = former.profile.flatMap { AudioCodec(rawValue: $0.format) }
            try self.init(
                ProfileUse(.reading(texts), words: former.profile?.words ?? [:], codec: own))
            format = codec ?? format
        }
        do throws(ServiceError) {
            try read(former)
        } catch {
            throw .unusable(error, service: "the take")
        }
    }

    /// The record in today's form; its secrets are the same.
    func record(of former: DeliveryManifest) -> DeliveryManifest {
        let record = self.record
        return DeliveryManifest(
            texts: record.texts, words: record.words, format: record.format,
            secrets: former.secrets, bodyKey: former.bodyKey, proxyLogin: former.proxyLogin,
            isUnset: former.isUnset, unknownOutcome: record.unknownOutcome)
    }

    private mutating func read(_ former: FormerDelivery) throws(ServiceError) {
        service.url = try ServiceURL(former.url)
        service.method = RequestMethod(rawValue: former.method) ?? .post
        service.headers = try (former.headers ?? []).map { field throws(ServiceError) in
            try HeaderField(name: field.name, value: field.value)
        }
        service.contentType = former.contentType
        if let form = former.form {
            service.body = .form(
                try AudioForm(
                    fields: form.fields.map { field throws(ServiceError) in
                        try AudioForm.Field(
                            name: field.name, value: field.value, contentType: field.contentType)
                    }, fileField: form.fileField, fileName: form.fileName))
        } else if let template = former.jsonBody {
            service.body = .json(try JSONTemplate(template))
        } else {
            service.body = .raw
        }
        if former.answer != "profile" { service.answer = try AnswerRule(former.answer) }
        service.detectsEnd = former.detectsEnd ?? false
        service.connection = try ConnectionSettings(former)
        redirectOrigins = try (former.redirectOrigins ?? []).map { text throws(ServiceError) in
            try Origin(text)
        }
        idHeader = former.idHeader
        framing = BodyFraming(rawValue: former.framing) ?? .auto
        allowsSecretsInClear = former.allowsSecretsInClear ?? false
        retry.unknownOutcome =
            former.unknownOutcome.flatMap { UnknownOutcome(rawValue: $0) } ?? .resend
    }
}

extension ConnectionSettings {
    fileprivate init(_ former: FormerDelivery) throws(ServiceError) {
        self.init()
        http = former.httpVersion.flatMap { HTTPVersion(rawValue: $0) } ?? .one
        certificateFile = former.certificateFile
        guard let connection = former.connection else { return }
        proxy = try connection.proxy.map { text throws(ServiceError) in try Proxy(text) }
        proxyExceptions = connection.proxyExceptions
        (clientCertificate, clientKey) = (connection.clientCertificate, connection.clientKey)
        minimumTLS = connection.minimumTLS.flatMap { TLSVersion(rawValue: $0) } ?? .two
        pinnedKeys = try (connection.pinnedKeys ?? []).map { text throws(ServiceError) in
            try PinnedKey(text)
        }
        addresses = connection.addresses.flatMap { AddressKind(rawValue: $0) }
        resolutions = try (connection.resolutions ?? []).map { text throws(ServiceError) in
            try HostResolution(text)
        }
    }
}
