// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
package import Utter

/// How the options become the plan of a delivery.
extension ServiceOptions {
    /// Makes takes to the service that these options and the environment describe.
    ///
    /// - Parameter format: how they travel; nil for PCM, or WAV in a form or in JSON, where a
    ///   service learns the rate from the audio itself.
    /// - Returns: a function that makes a take of a source.
    /// - Throws: `CommandFailure` when an option is wrong or a secret cannot be had.
    package func planner(
        format: AudioCodec?
    ) throws(CommandFailure) -> @Sendable (any CaptureSource, CapturePlan) -> TakePlan {
        let delivery = try delivery(format: format)
        return { TakePlan(source: $0, capture: $1, delivery: delivery) }
    }

    /// How a new take is delivered.
    private func delivery(format: AudioCodec?) throws(CommandFailure) -> DeliveryPlan {
        let usual = try KnownSettings.format.value(format)
        if let use = try profileUse(format: format, usual: usual) {
            // The variable says where the usual service is, and this one is named.
            return try delivery(use, at: profile.service == nil ? ServiceVariables.url : nil)
        }
        let format = usual
        let text = to ?? ServiceVariables.url ?? Self.localURL
        let option = to == nil ? ServiceVariables.urlName : "--to"
        let mark = TokenMark(in: text)
        var service = try explained(option) { () throws(ServiceError) in
            try RecognitionService(url: ServiceURL(mark.url))
        }
        if to == nil { try noteVariable(in: &service) }
        var plan = DeliveryPlan(service: service, format: format ?? .pcm)
        try change(&plan, format: format)
        try addToken(to: &plan, mark.parameter)
        try check(plan)
        return plan
    }

    /// How a kept take is delivered: as it was meant to be, but for what these options change.
    ///
    /// Neither `UTTER_URL` nor a default counts. A secret goes to the origin for which it was
    /// given, and to no other.
    ///
    /// The format is how it travels now, or nil for as before.
    package func delivery(
        of manifest: TakeManifest, format: AudioCodec? = nil
    ) throws(CommandFailure) -> DeliveryPlan {
        if let use = try newUse(for: manifest, format: format) { return try delivery(use) }
        let record = try record(of: manifest)
        var plan = try plan(of: record, in: manifest, format: format)
        let mark = to.map { TokenMark(in: $0) }
        if let format, format != plan.format {
            // The old type said what the audio was before.
            (plan.format, plan.service.contentType) = (format, nil)
        }
        if let mark {
            let new = try explained("--to") { () throws(ServiceError) in
                try RecognitionService(url: ServiceURL(mark.url))
            }
            if new.url.origin != plan.service.url.origin {
                // What was allowed for one service is not allowed for another.
                (plan.redirectOrigins, plan.allowsSecretsInClear) = ([], false)
            }
            plan.service.url =
                plan.profile == nil ? new.url : plan.service.url.moved(to: new.url)
            plan.service.credentials = new.credentials
        }
        try connection.addLogin(
            to: &plan.service.connection, of: record, take: manifest.id.text)
        try change(&plan, format: format)
        let known = (record.secrets ?? []).filter { secret in
            secret.origin == plan.service.url.origin.description
                && (to == nil || plan.service.isOpen(secret))
        }
        try addToken(to: &plan, mark?.parameter, known: known, of: manifest)
        try check(plan)
        return plan
    }

    /// Whether a token is given here that belongs to one origin only.
    package var bringsSecrets: Bool {
        tokenFile != nil || tokenCommand != nil || tokenFd != nil || tokenCredential != nil
            || header.contains { line in
                line.hasPrefix("@") || SecretName.isSecret(String(line.prefix { $0 != ":" }))
            }
    }

    /// What a take that is not locked remembers of its delivery; of one before version 2 that is
    /// little.
    private func record(of manifest: TakeManifest) throws(CommandFailure) -> DeliveryRecord {
        if let record = manifest.delivery { return record }
        guard to != nil || !(manifest.url.isEmpty || manifest.url.contains("?")) else {
            let id = manifest.id.text
            throw CommandFailure(
                manifest.url.isEmpty
                    ? "take \(id) does not know where it was meant to go"
                    : "take \(id) was kept by an older utter, which did not keep the query of "
                        + manifest.url,
                hint: "name the whole URL: utter retry \(id) --to URL", status: .configuration)
        }
        var record = DeliveryRecord(
            url: to == nil ? manifest.url : TokenMark(in: to ?? "").url, format: manifest.format,
            answer: AnswerRule.automatic.description, idHeader: "Idempotency-Key",
            framing: BodyFraming.auto.rawValue)
        // Whether it had a token is not known. The one of the environment is what there was.
        if let url = try? ServiceURL(record.url), ServiceVariables.token != nil,
            ServiceVariables.tokenBelongs(to: url.origin)
        {
            var secret = DeliveryRecord.Secret(
                header: "Authorization", form: "Bearer {}", origin: url.origin.description)
            secret.variable = ServiceVariables.tokenName
            record.secrets = [secret]
        }
        return record
    }

    // MARK: - Everything but secrets

    /// Applies the options that are given; `format` is one of them.
    func change(
        _ plan: inout DeliveryPlan, format: AudioCodec?
    ) throws(CommandFailure) {
        try body.change(&plan, keepsFormat: format != nil)
        try connection.change(&plan.service.connection)
        if let contentType {
            plan.service.contentType = try explained("--content-type") { () throws(ServiceError) in
                try HeaderField(name: "Content-Type", value: contentType).value
            }
        }
        if let answer {
            plan.service.answer = try explained("--answer") { () throws(ServiceError) in
                try AnswerRule(answer)
            }
        }
        if let idHeader {
            plan.idHeader = try explained("--id-header", hint: "write it like X-Request-Id") {
                () throws(ServiceError) in
                try HeaderField(name: idHeader, value: "id").name
            }
        }
        if !redirectTo.isEmpty {
            let hint = "write it like https://eu.speech.example"
            plan.redirectOrigins = try explained("--redirect-to", hint: hint) {
                () throws(ServiceError) in
                try redirectTo.map { text throws(ServiceError) in try Origin(text) }
            }
        }
        if let framing { plan.framing = framing }
        if let method { plan.service.method = method }
        if endpointing { plan.service.detectsEnd = true }
        if insecureToken || insecureKey { plan.allowsSecretsInClear = true }
        try changeHeaders(of: &plan.service)
        if let connectTimeout { plan.deadlines.connect = connectTimeout.duration }
        if let stallTimeout { plan.deadlines.stall = stallTimeout.duration }
        if let answerTimeout { plan.deadlines.answer = answerTimeout.duration }
        let known = plan.retry.unknownOutcome
        plan.retry = noRetry ? .never : .standard
        plan.retry.unknownOutcome = onUnknown ?? known
        plan.catchUpRate = catchUpRate?.rate
    }

    /// Adds header fields; one replaces those of its name that the take had.
    private func changeHeaders(of service: inout RecognitionService) throws(CommandFailure) {
        var fields: [HeaderField] = []
        for line in header {
            guard !line.hasPrefix("@") else {
                let path = Self.absolute(String(line.dropFirst()))
                // What came through a pipe cannot be read again.
                let source: SecretSource =
                    SecretFile.isRegular(path) ? .headerFile(path) : .given
                for field in try SecretReader.headerFile(path) {
                    try add(
                        field.value, at: .header(field.name), from: source,
                        to: &service, "--header")
                }
                continue
            }
            let field = try explained("--header") { () throws(ServiceError) in
                try HeaderField(line: line)
            }
            if SecretName.isSecret(field.name) {
                try add(
                    field.value, at: .header(field.name), from: .given, to: &service, "--header")
            } else {
                fields.append(field)
            }
        }
        service.headers.removeAll { old in fields.contains { $0.isNamed(old.name) } }
        service.headers += fields
    }

    // MARK: - Secrets

    /// Adds a secret; nil is one that the pipeline asks for.
    func add(
        _ secret: String?, at place: Credential.Place, as form: String = "{}",
        from source: SecretSource, to service: inout RecognitionService, _ option: String
    ) throws(CommandFailure) {
        service.add(
            try explained(option) { () throws(ServiceError) in
                let form = form == "{percent}" ? .percentEncoded : try SecretForm(form)
                guard let secret else {
                    return Credential(askedOf: source, place: place, form: form)
                }
                return try Credential(place: place, form: form, secret: secret, source: source)
            })
    }

    /// Reads `Name: form`, in which `{}` stands for the token.
    func tokenPlace(
        _ text: String
    ) throws(CommandFailure) -> (Credential.Place, String) {
        let line = text.contains(":") ? text : text + ": {}"
        let field = try explained("--token-header") { () throws(ServiceError) in
            let field = try HeaderField(line: line)
            _ = try SecretForm(field.value)
            return field
        }
        return (.header(field.name), field.value)
    }

    /// Says of secrets in the URL of the environment that they can be read there again.
    func noteVariable(in service: inout RecognitionService) throws(CommandFailure) {
        guard ServiceVariables.url != nil else { return }
        for credential in service.credentials {
            try add(
                credential.value ?? "", at: credential.place,
                from: .variable(ServiceVariables.urlName), to: &service,
                ServiceVariables.urlName)
        }
    }

    /// Refuses what no service would read, and to send a secret in the clear, unless it was allowed.
    func check(_ plan: DeliveryPlan) throws(CommandFailure) {
        if case .form = plan.service.body,
            plan.service.headers.contains(where: { $0.isNamed("Content-Type") })
        {
            throw CommandFailure(
                "--header: a form has its own Content-Type, which names its boundary",
                hint: "name the audio's with --content-type", status: .usage)
        }
        let issuer = try explained("auth.exchange") { () throws(ServiceError) in
            try plan.service.checkTokenRequest()
        }
        guard let secret = plan.service.credentials.first, !plan.allowsSecretsInClear
        else { return }
        let origins = [plan.service.url.origin] + plan.redirectOrigins + (issuer.map { [$0] } ?? [])
        guard let clear = origins.first(where: \.isInClear) else { return }
        throw CommandFailure(
            "\(secret.place) holds a secret, and would travel in the clear to \(clear)",
            hint: "use https, or allow it with --insecure-token", status: .configuration)
    }

    // MARK: - What is given as it is

    /// The path from the root on: a take is sent again from another folder.
    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }
}

extension RecognitionService {
    /// Whether the secret has a place in a URL that was given anew.
    fileprivate func isOpen(_ secret: DeliveryRecord.Secret) -> Bool {
        secret.query.map { url.parameter($0) == "" } ?? true
    }
}
