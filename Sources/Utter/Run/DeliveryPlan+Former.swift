// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import SpeechService
internal import TakeStore

// Takes of version 1 say each member of a request by itself. It is read into the plan that their
// profile describes, and written as the text of what is said otherwise.
extension FormerDelivery {
    fileprivate var string: String? { if case .text(let text) = self { text } else { nil } }
    fileprivate var list: [Self] { if case .list(let list) = self { list } else { [] } }

    fileprivate func word<Word: RawRepresentable<String>>() -> Word? {
        string.flatMap(Word.init(rawValue:))
    }

    fileprivate func values<Value>(
        _ read: (String) throws(ServiceError) -> Value
    ) throws(ServiceError) -> [Value] {
        try list.compactMap(\.string).map { text throws(ServiceError) in try read(text) }
    }

    /// The texts of the profile, and of what was said over it.
    var profileTexts: [ProfileText] {
        let texts = self.profile.texts.list.map {
            ProfileText(name: $0.name.string ?? "", text: $0.text.string ?? "")
        }
        return texts.isEmpty ? [ProfileText(plainFor: self.url.string ?? "")] : texts
    }

    /// The delivery in today's form; its secrets are the same.
    func record(of old: DeliveryManifest) throws(ProfileError) -> DeliveryManifest {
        var words: [String: String] = [:]
        if case .members(let said) = self.profile.words { words = said.compactMapValues(\.string) }
        var plan = try DeliveryPlan(
            ProfileUse(.reading(profileTexts), words: words, codec: self.profile.format.word()))
        do throws(ServiceError) {
            try plan.read(self)
        } catch {
            throw .unusable(error, service: "the take")
        }
        let (record, login) = (plan.record, self.connection.proxyLogin)
        return DeliveryManifest(
            texts: record.texts, words: record.words, format: record.format,
            secrets: old.secrets, bodyKey: old.bodyKey,
            proxyLogin: login.origin.string.map {
                .init(
                    form: login.form.string ?? "", origin: $0, variable: login.variable.string,
                    file: login.file.string, command: login.command.string,
                    credential: login.credential.string)
            }, isUnset: old.isUnset, unknownOutcome: record.unknownOutcome)
    }
}

extension DeliveryPlan {
    fileprivate mutating func read(_ former: FormerDelivery) throws(ServiceError) {
        format = former.format.word() ?? format
        service.url = try ServiceURL(former.url.string ?? "")
        service.method = former.method.word() ?? .post
        service.headers = try former.headers.list.map { field throws(ServiceError) in
            try HeaderField(name: field.name.string ?? "", value: field.value.string ?? "")
        }
        service.contentType = former.contentType.string
        if let fileField = former.form.fileField.string {
            let fields = try former.form.fields.list.map { field throws(ServiceError) in
                try AudioForm.Field(
                    name: field.name.string ?? "", value: field.value.string ?? "",
                    contentType: field.contentType.string)
            }
            service.body = .form(
                try AudioForm(
                    fields: fields, fileField: fileField, fileName: former.form.fileName.string))
        } else if let template = former.jsonBody.string {
            service.body = .json(try JSONTemplate(template))
        } else {
            service.body = .raw
        }
        if let rule = former.answer.string, rule != "profile" {
            service.answer = try AnswerRule(rule)
        }
        service.detectsEnd = former.detectsEnd == .flag(true)
        service.connection = try ConnectionSettings(former, former.connection)
        redirectOrigins = try former.redirectOrigins.values(Origin.init)
        idHeader = former.idHeader.string ?? idHeader
        framing = former.framing.word() ?? .auto
        allowsSecretsInClear = former.allowsSecretsInClear == .flag(true)
        retry.unknownOutcome = former.unknownOutcome.word() ?? .resend
    }
}

extension ConnectionSettings {
    fileprivate init(
        _ former: FormerDelivery, _ connection: FormerDelivery
    ) throws(ServiceError) {
        self.init()
        http = former.httpVersion.word() ?? .one
        certificateFile = former.certificateFile.string
        if let text = connection.proxy.string { proxy = try Proxy(text) }
        if case .list = connection.proxyExceptions {
            proxyExceptions = try connection.proxyExceptions.values(\.self)
        }
        (clientCertificate, clientKey) = (
            connection.clientCertificate.string, connection.clientKey.string
        )
        minimumTLS = connection.minimumTLS.word() ?? .two
        pinnedKeys = try connection.pinnedKeys.values(PinnedKey.init)
        addresses = connection.addresses.word()
        resolutions = try connection.resolutions.values(HostResolution.init)
    }
}
