// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
internal import LinuxPlatform
internal import Settings

extension ServiceProfile {
    /// The form of audio that is sent.
    ///
    /// Without `codec` it is the service's best; without a list it is WAV, from which every service
    /// can tell the rate.
    package func format(_ codec: AudioCodec?) throws(ProfileError) -> ProfileFormat {
        guard let first = formats.first else { return ProfileFormat(codec: codec ?? .wav) }
        guard let codec else { return first }
        guard let found = formats.first(where: { $0.codec == codec }) else {
            throw .formatNotTaken(
                codec.name, service: title, taken: formats.map(\.codec.name))
        }
        return found
    }

    package func reads(_ codec: AudioCodec) -> Bool {
        formats.isEmpty || formats.contains { $0.codec == codec }
    }

    func values(
        of said: [String: String], format: ProfileFormat, tail: String? = nil
    ) throws(ProfileError) -> [String: String] {
        for name in said.keys.sorted() where !words.contains(where: { $0.name == name }) {
            throw .unknownWord(name, service: title, known: words.map(\.name))
        }
        var values = ProfileWord.fixed
        for word in words {
            values[word.name] = try word.value(for: said[word.name], of: title)
            if word.most != nil, values[word.name] == nil {
                values[word.name] = "\(WordTemplate.separator)"
            }
        }
        // Words of the form of the audio count most.
        if let rate = format.rate { values["rate"] = "\(rate)" }
        values.merge(format.words) { _, own in own }
        let prompt = [values["prompt"], tail].compactMap(\.self).joined(separator: " ")
        if !prompt.isEmpty { values[ProfileWord.tail] = prompt }
        return values
    }

    package func service(
        words said: [String: String] = [:], format: ProfileFormat, tail: String? = nil
    ) throws(ProfileError) -> RecognitionService {
        let values = try values(of: said, format: format, tail: tail)
        let query = query(by: values, format)
        let address = try address(url, by: values)
        let home = try home.map { home throws(ProfileError) in try self.address(home, by: values) }
        let isLocal = address.hasPrefix(ServiceURL.localScheme)
        do throws(ServiceError) {
            var service = try RecognitionService(
                ofProfile: ServiceURL(isLocal ? address : Self.address(address, with: query)),
                headers: headers(by: values, format),
                contentType: (format.contentType ?? body.contentType)?.filled(by: values),
                answer: answer)
            service.method = method
            service.body = try bodyShape(by: values, format)
            service.bodyKey = body.keyFile.map {
                Credential(askedOf: .file($0), place: .body, form: .plain)
            }
            service.detectsEnd = transfer.detectsEnd
            service.expectsContinue = transfer.expectsContinue
            service.socket = socket?.filled(by: values)
            service.socket?.saysEnd = answer.values.selectors.contains {
                $0.kind == .end || $0.kind == .last
            }
            service.socket?.closeCodes = retry.closeCodes
            let isWyoming = service.url.origin.scheme == "tcp"
            service.socket?.speaksWyoming = isWyoming
            try Self.checkMessages(
                of: service, home: home ?? service.url.text, hasQuery: !query.isEmpty,
                rate: format.rate)
            service.limits = limits
            service.stretches = stretches
            service.connection = connection
            service.exchange = exchange
            service.retry = retry
            service.words = values
            guard service.url.isSocket == (socket != nil) else {
                throw ServiceURL.invalid(
                    service.url.text,
                    socket == nil
                        ? "a WebSocket needs a profile that says its messages, in 'socket'"
                        : "the messages of this profile travel over ws://, wss://, unix: or tcp://")
            }
            service.authentication = authentication.resolved { WordTemplate.plain(values[$0]) }
            // A URL that is said over the profile does not take its secrets along.
            service.authentication.origin = try home.map { home throws(ServiceError) in
                try ServiceURL(home).origin
            }
            service.use = ProfileUse(self, words: said, format: format)
            service.ownQuery = query
            return service
        } catch {
            throw .unusable(error, service: title)
        }
    }

    /// The profile as it counts for a recording of a person who speaks; the same where the service has one
    /// way alone.
    ///
    /// A take that is not delivered in that way is sent in the usual one later.
    ///
    /// - Throws: `ProfileError.unreadable` when that way is not a whole profile.
    public var speaking: ServiceProfile {
        get throws(ProfileError) {
            // Below what a person says.
            let count = texts.prefix(while: \.isOverriding).count
            return hasLiveWay
                ? try .reading(texts[..<count] + [.speaking] + texts[count...]) : self
        }
    }

    package static func reading(_ texts: [ProfileText]) throws(ProfileError) -> ServiceProfile {
        do throws(SettingsError) {
            return try ServiceProfile(texts: texts)
        } catch {
            throw .unreadable(ReadingError(error, of: texts.first?.place ?? "the profile"))
        }
    }

    // MARK: - Parts

    /// Refuses an address at which the messages of the profile mean nothing.
    private static func checkMessages(
        of service: RecognitionService, home: String, hasQuery: Bool, rate: Int?
    ) throws(ServiceError) {
        let text = service.url.text
        let isWyoming = service.url.origin.scheme == "tcp"
        if service.url.isSocket, isWyoming != home.hasPrefix("tcp:") {
            throw ServiceURL.invalid(
                text, "Wyoming is spoken over tcp://, and by a profile that speaks it alone")
        }
        if isWyoming, rate ?? 16_000 != 16_000 {
            throw ServiceURL.invalid(text, "Wyoming gets 16000 samples a second")
        }
        if service.url.origin.socketPath != nil, hasQuery {
            throw ServiceURL.invalid(text, "a Unix socket has no query; 'socket.path' may have one")
        }
    }

    private func address(
        _ template: WordTemplate, by values: [String: String]
    ) throws(ProfileError) -> String {
        var text = ""
        for part in template.parts {
            switch part {
            case .text(let plain): text += plain
            case .word(let name):
                guard let value = WordTemplate.plain(values[name]) else {
                    throw .missingWord(name, service: title)
                }
                text += try spelled(value, of: name, behind: text)
            }
        }
        return text
    }

    private func query(
        by values: [String: String], _ format: ProfileFormat
    ) -> [RecognitionService.Parameter] {
        ProfileField.merged(query, format.query).flatMap { field in
            field.all(by: values).map { value in
                let name = ServiceURL.percentEncoded(field.name)
                return .init(
                    field: field.name, name: name,
                    text: "\(name)=\(ServiceURL.percentEncoded(value))")
            }
        }
    }

    /// Parameters of `query` take the place of those of their names in a URL.
    private static func address(
        _ text: String, with query: [RecognitionService.Parameter]
    ) -> String {
        guard !query.isEmpty else { return text }
        let end = text.firstIndex(of: "?") ?? text.endIndex
        let own = text[end...].dropFirst().split(separator: "&").map(String.init).filter { item in
            !query.contains { $0.name == item.prefix { $0 != "=" } }
        }
        return text[..<end] + "?" + (own + query.map(\.text)).joined(separator: "&")
    }

    /// A value as it stands in a URL: the whole beginning as it is, a part of the host unchanged when
    /// it is letters, digits, dots and hyphens, everything else percent-encoded.
    private func spelled(
        _ value: String, of word: String, behind text: String
    ) throws(ProfileError) -> String {
        guard !text.isEmpty else { return value }
        guard let start = text.firstRange(of: "://"), !text[start.upperBound...].contains("/")
        else {
            let isPath = words.contains { $0.name == word && $0.isPath } && !text.contains("?")
            return ServiceURL.percentEncoded(value, keeping: isPath ? "/@:" : "")
        }
        let isOfHost = value.utf8.allSatisfy { $0.isLetterOrDigit || "-.".utf8.contains($0) }
        guard isOfHost else { throw .valueNotOfHost(value, word: word, service: title) }
        return value
    }

    private func headers(
        by values: [String: String], _ format: ProfileFormat
    ) throws(ServiceError) -> [HeaderField] {
        var fields: [HeaderField] = []
        for field in ProfileField.merged(headers, format.headers) {
            guard let value = field.filled(by: values) else { continue }
            fields.append(try HeaderField(name: field.name, value: value))
        }
        return fields
    }

    private func bodyShape(
        by values: [String: String], _ format: ProfileFormat
    ) throws(ServiceError) -> BodyShape {
        switch body.kind {
        case .raw: return .raw
        case .json:
            let text = WordJSON.filled(body.template, by: values, keeping: ["audio"])
            return .json(try JSONTemplate(text ?? ""))
        case .form:
            var fields: [AudioForm.Field] = []
            for field in ProfileField.merged(body.fields, format.fields) {
                for value in field.all(by: values) {
                    fields.append(
                        try AudioForm.Field(
                            name: field.name, value: value, contentType: field.contentType))
                }
            }
            return .form(
                try AudioForm(
                    fields: fields, fileField: body.fileField,
                    fileName: format.fileName ?? body.fileName))
        }
    }
}
