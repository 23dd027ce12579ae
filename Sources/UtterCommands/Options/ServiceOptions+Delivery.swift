// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Utter
internal import UtterSettings

/// How the options become the plan of a delivery.
extension ServiceOptions {
    /// Makes takes to the service that these options and the environment describe; no format is PCM, or
    /// WAV in a form or in JSON, where a service learns the rate from the audio itself.
    func planner(
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
        return try plainDelivery(format: usual)
    }

    /// How a take is delivered to a URL, by what the options say alone.
    private func plainDelivery(format: AudioCodec?) throws(CommandFailure) -> DeliveryPlan {
        let text = to ?? ServiceVariables.url ?? Self.localURL
        let option = to == nil ? ServiceVariables.urlName : "--to"
        let mark = TokenMark(in: text)
        var service = try explained(option) { () throws(ServiceError) in
            try RecognitionService(url: ServiceURL(mark.url))
        }
        if to == nil { try noteVariable(in: &service) }
        var plan = DeliveryPlan(service: service, format: format ?? .pcm)
        try change(&plan, format: format)
        try addSecrets(to: &plan, mark.parameter)
        try check(plan)
        return plan
    }

    /// How a kept take is delivered: as it was meant to be, but for what these options change.
    ///
    /// Neither `UTTER_URL` nor a default counts. A secret goes to the origin for which it was
    /// given, and to no other.
    ///
    /// The format is how it travels now, or nil for as before.
    func delivery(
        of manifest: TakeManifest, format: AudioCodec? = nil
    ) throws(CommandFailure) -> DeliveryPlan {
        if let use = try newUse(for: manifest, format: format) { return try delivery(use) }
        guard let record = manifest.delivery else {
            // What it knew of its delivery was lost with its manifest.
            if to != nil {
                return try plainDelivery(format: format ?? AudioCodec(rawValue: manifest.format))
            }
            throw CommandFailure(
                "take \(manifest.id.text) does not know where it was meant to go",
                hint: "name the service or its URL: utter retry \(manifest.id.text) --to URL",
                status: .configuration)
        }
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
        try addSecrets(to: &plan, mark?.parameter, of: manifest)
        try check(plan)
        return plan
    }

    /// Whether a token is given here that belongs to one origin only.
    var bringsSecrets: Bool {
        tokenFile != nil || tokenCommand != nil || tokenFd != nil || tokenCredential != nil
            || header.contains { line in
                line.hasPrefix("@") || SecretName.isSecret(String(line.prefix { $0 != ":" }))
            }
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
        if insecureToken { plan.allowsSecretsInClear = true }
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
                let isRegular = OwnFile.isRegular(path)
                for field in try SecretFile.headerFields(path) {
                    let source: SecretSource =
                        isRegular ? .headerFile(path, field: field.name) : .given
                    try add(field.value, at: .header(field.name), from: source, to: &service)
                }
                continue
            }
            let field = try explained("--header") { () throws(ServiceError) in
                try HeaderField(line: line)
            }
            if SecretName.isSecret(field.name) {
                try add(field.value, at: .header(field.name), from: .given, to: &service)
            } else {
                fields.append(field)
            }
        }
        service.headers.removeAll { old in fields.contains { $0.isNamed(old.name) } }
        service.headers += fields
    }

    // MARK: - Secrets

    private func add(
        _ secret: String, at place: Credential.Place, from source: SecretSource,
        to service: inout RecognitionService, _ option: String = "--header"
    ) throws(CommandFailure) {
        service.add(
            try explained(option) { () throws(ServiceError) in
                try Credential(place: place, secret: secret, source: source)
            })
    }

    /// Reads `Name: form`, in which `{}` stands for the token.
    func tokenPlace(
        _ text: String
    ) throws(CommandFailure) -> (place: Credential.Place, form: SecretForm) {
        let line = text.contains(":") ? text : text + ": {}"
        return try explained("--token-header") { () throws(ServiceError) in
            let field = try HeaderField(line: line)
            return (.header(field.name), try SecretForm(field.value))
        }
    }

    /// Says of secrets in the URL of the environment that they can be read there again.
    func noteVariable(in service: inout RecognitionService) throws(CommandFailure) {
        guard ServiceVariables.url != nil else { return }
        for credential in service.credentials {
            try add(
                credential.value ?? "", at: credential.place,
                from: .variable(ServiceVariables.urlName), to: &service, ServiceVariables.urlName)
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
        try checkSecrets(of: plan)
    }

    // MARK: - What is given as it is

    /// The path from the root on: a take is sent again from another folder.
    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }
}
