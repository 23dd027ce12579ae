// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
package import SpeechService
package import TakeStore

extension DeliveryPlan {
    var record: DeliveryManifest {
        let isAnswerOfProfile = service.answer == profile?.profile.answer
        var record = DeliveryManifest(
            url: service.url.text, format: format.name,
            answer: isAnswerOfProfile ? Self.profileAnswer : service.answer.description,
            idHeader: idHeader, framing: framing.rawValue)
        record.profile = profile?.record
        record.method = service.method.rawValue
        record.headers = service.headers.nonEmpty?.map { .init(name: $0.name, value: $0.value) }
        record.contentType = service.contentType
        switch service.body {
        case .raw: break
        case .form(let form):
            record.form = DeliveryManifest.Form(
                fields: form.fields.map {
                    .init(name: $0.name, value: $0.value, contentType: $0.contentType)
                },
                fileField: form.fileField, fileName: form.fileName)
        case .json(let template): record.jsonBody = template.text
        }
        record.detectsEnd = service.detectsEnd ? true : nil
        let (connection, origin) = (service.connection, service.url.origin.description)
        record.bodyKey = service.bodyKey.map { DeliveryManifest.Secret($0, origin: origin) }
        record.httpVersion = connection.http == .one ? nil : connection.http.rawValue
        record.certificateFile = connection.certificateFile
        record.connection = DeliveryManifest.Connection(connection, origin: origin)
        record.redirectOrigins = redirectOrigins.nonEmpty?.map(\.description)
        record.secrets = service.credentials.nonEmpty?.map {
            DeliveryManifest.Secret($0, origin: origin)
        }
        record.allowsSecretsInClear = allowsSecretsInClear ? true : nil
        record.unknownOutcome =
            retry.unknownOutcome == .resend ? nil : retry.unknownOutcome.rawValue
        record.isUnset = isUnset ? true : nil
        return record
    }

    /// Stands for the rule of the take's profile.
    private static let profileAnswer = "profile"

    /// The plan that a take remembers, without its secrets.
    ///
    /// It is made anew from the profile. Where the take remembers something else, the person said
    /// so, and that counts, unless `texts` say something else now.
    package init(
        _ record: DeliveryManifest, overriding texts: [ProfileText] = [],
        words: [String: String] = [:], codec: AudioCodec? = nil
    ) throws(ProfileError) {
        do throws(ServiceError) {
            try self.init(plain: record)
        } catch {
            throw .unusable(error, service: "what it remembers")
        }
        let plain = DeliveryManifest.Profile(plain: record.url, format: record.format)
        guard let profile = record.profile ?? (texts.isEmpty ? nil : plain) else { return }
        let old = try DeliveryPlan(ProfileUse(profile))
        let new = texts.isEmpty ? old : try DeliveryPlan(ProfileUse(profile, overriding: texts))
        var plan = try DeliveryPlan(
            ProfileUse(profile, overriding: texts, words: words, codec: codec))
        plan.change(
            to: self, unlike: old, new, isAnswerOwn: record.answer != Self.profileAnswer)
        self = plan
    }

    /// Takes over what the take remembers otherwise than `old`, its profile's plan, unless `new`
    /// says it anew.
    private mutating func change(
        to other: DeliveryPlan, unlike old: DeliveryPlan, _ new: DeliveryPlan, isAnswerOwn: Bool
    ) {
        func take(_ part: WritableKeyPath<DeliveryPlan, some Equatable>) {
            guard other[keyPath: part] != old[keyPath: part],
                new[keyPath: part] == old[keyPath: part]
            else { return }
            self[keyPath: part] = other[keyPath: part]
        }
        take(\.service.url)
        take(\.service.method)
        take(\.service.headers)
        take(\.service.contentType)
        take(\.service.body)
        take(\.service.bodyKey)
        if isAnswerOwn { take(\.service.answer) }
        take(\.service.detectsEnd)
        take(\.service.connection)
        // A login belongs to one proxy.
        if service.connection.proxy == other.service.connection.proxy {
            service.connection.proxyLogin = other.service.connection.proxyLogin
        }
        take(\.format)
        take(\.redirectOrigins)
        take(\.idHeader)
        take(\.framing)
        take(\.allowsSecretsInClear)
        take(\.retry.unknownOutcome)
        take(\.isUnset)
    }

    private init(plain record: DeliveryManifest) throws(ServiceError) {
        let headers = try (record.headers ?? []).map { field throws(ServiceError) in
            try HeaderField(name: field.name, value: field.value)
        }
        var service = try RecognitionService(
            url: ServiceURL(record.url), headers: headers, contentType: record.contentType,
            answer: record.answer == Self.profileAnswer ? .automatic : AnswerRule(record.answer))
        service.method = RequestMethod(rawValue: record.method) ?? .post
        service.body = try BodyShape(record)
        service.bodyKey = record.bodyKey.map { secret in
            Credential(askedOf: secret.source, place: .body, form: .plain)
        }
        service.detectsEnd = record.detectsEnd ?? false
        service.connection = try ConnectionSettings(record)
        self.init(
            service: service, format: AudioCodec(rawValue: record.format) ?? .pcm,
            redirectOrigins: try (record.redirectOrigins ?? []).map { text throws(ServiceError) in
                try Origin(text)
            })
        idHeader = try HeaderField(name: record.idHeader, value: "id").name
        framing = BodyFraming(rawValue: record.framing) ?? .auto
        allowsSecretsInClear = record.allowsSecretsInClear ?? false
        retry.unknownOutcome = .init(record)
        isUnset = record.isUnset ?? false
    }
}

extension UnknownOutcome {
    /// Sent again unless the record says otherwise.
    package init(_ record: DeliveryManifest?) {
        self = record?.unknownOutcome.flatMap { Self(rawValue: $0) } ?? .resend
    }
}

extension BodyShape {
    fileprivate init(_ record: DeliveryManifest) throws(ServiceError) {
        if let form = record.form {
            self = .form(
                try AudioForm(
                    fields: form.fields.map { field throws(ServiceError) in
                        try AudioForm.Field(
                            name: field.name, value: field.value, contentType: field.contentType)
                    }, fileField: form.fileField, fileName: form.fileName))
        } else if let template = record.jsonBody {
            self = .json(try JSONTemplate(template))
        } else {
            self = .raw
        }
    }
}

extension DeliveryManifest.Secret {
    init(_ credential: Credential, origin: String) {
        switch credential.place {
        case .header(let name):
            self.init(header: name, form: credential.form.description, origin: origin)
        case .query(let name):
            self.init(query: name, form: credential.form.description, origin: origin)
        case .part(let name):
            self.init(form: credential.form.description, origin: origin)
            part = name
        case .fields, .proxy, .body: self.init(form: credential.form.description, origin: origin)
        }
        let isReadOnce = credential.source.isReadOnce
        switch credential.source {
        case .variable(let name): variable = name
        case .file(let path): file = isReadOnce ? "" : path
        case .command(let text): command = text
        case .headerFile(let path): headerFile = isReadOnce ? "" : path
        case .credential(let name): self.credential = name
        case .given: break
        }
    }

    var place: Credential.Place {
        if let header { return .header(header) }
        if headerFile != nil { return .fields }
        return part.map { .part($0) } ?? .query(query ?? "")
    }

    var source: SecretSource {
        if let variable { return .variable(variable) }
        if let file { return .file(file) }
        if let command { return .command(command) }
        if let headerFile { return .headerFile(headerFile) }
        return credential.map { .credential($0) } ?? .given
    }
}

extension DeliveryManifest.Connection {
    /// What a take remembers of the settings beside HTTP's version and the certificates to trust;
    /// nil when all is as usual.
    init?(_ settings: ConnectionSettings, origin: String) {
        self.init()
        proxy = settings.proxy?.description
        proxyExceptions = settings.proxyExceptions
        proxyLogin = settings.proxyLogin.map { DeliveryManifest.Secret($0, origin: origin) }
        clientCertificate = settings.clientCertificate
        clientKey = settings.clientKey
        minimumTLS = settings.minimumTLS == .two ? nil : settings.minimumTLS.rawValue
        pinnedKeys = settings.pinnedKeys.nonEmpty?.map(\.description)
        addresses = settings.addresses?.rawValue
        resolutions = settings.resolutions.nonEmpty?.map(\.description)
        if self == DeliveryManifest.Connection() { return nil }
    }
}

extension Array {
    fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}

extension ConnectionSettings {
    /// The proxy's login is asked for.
    ///
    /// - Throws: `ServiceError` when the record is not one that this program has written.
    init(_ record: DeliveryManifest) throws(ServiceError) {
        self.init()
        http = record.httpVersion.flatMap { HTTPVersion(rawValue: $0) } ?? .one
        certificateFile = record.certificateFile
        guard let connection = record.connection else { return }
        if let text = connection.proxy { proxy = try Proxy(text) }
        proxyExceptions = connection.proxyExceptions
        proxyLogin = connection.proxyLogin.map { secret in
            Credential(askedOf: secret.source, place: .proxy, form: .plain)
        }
        clientCertificate = connection.clientCertificate
        clientKey = connection.clientKey
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
