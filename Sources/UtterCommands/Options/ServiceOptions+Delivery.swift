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
    ) throws(CommandFailure) -> (any CaptureSource, CapturePlan) -> TakePlan {
        let delivery = try delivery(format: format)
        return { TakePlan(source: $0, capture: $1, delivery: delivery) }
    }

    /// How a new take is delivered.
    private func delivery(format: AudioCodec?) throws(CommandFailure) -> DeliveryPlan {
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
    /// - Parameters:
    ///   - manifest: what is known of the take.
    ///   - format: how it travels now, or nil for as before.
    /// - Returns: the plan.
    /// - Throws: `CommandFailure` when an option is wrong, when the take does not know where it was
    ///   meant to go, or when a secret is missing.
    package func delivery(
        of manifest: TakeManifest, format: AudioCodec? = nil
    ) throws(CommandFailure) -> DeliveryPlan {
        let record = try record(of: manifest)
        var plan: DeliveryPlan
        do throws(ServiceError) {
            plan = try DeliveryPlan(record)
        } catch {
            throw CommandFailure(
                "take \(manifest.id.text) cannot be sent: \(error.description)",
                status: .localIO)
        }
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
            plan.service.url = new.url
            plan.service.credentials = new.credentials
        }
        try connection.addLogin(to: &plan.connection, of: record, take: manifest.id.text)
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
        tokenFile != nil || tokenCommand != nil
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
    private func change(
        _ plan: inout DeliveryPlan, format: AudioCodec?
    ) throws(CommandFailure) {
        try body.change(&plan, keepsFormat: format != nil)
        try connection.change(&plan.connection)
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
        plan.deadlines = deadlines
        plan.retry = retry
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

    /// Adds the token, and what a kept take knows of its secrets.
    private func addToken(
        to plan: inout DeliveryPlan, _ parameter: String?, known: [DeliveryRecord.Secret] = [],
        of take: TakeManifest? = nil
    ) throws(CommandFailure) {
        let old = known.first { $0.isToken }
        var place = Credential.Place.header("Authorization")
        var form = "Bearer {}"
        if let tokenHeader {
            (place, form) = try tokenPlace(tokenHeader)
        } else if let parameter {
            (place, form) = (.query(parameter), SecretForm.percentEncoded.description)
        } else if let old {
            (place, form) = (old.place, old.form)
        }
        let token = try newToken(
            for: plan.service.url.origin, isKept: take != nil, isKnown: old != nil)
        if let (secret, source, option) = token {
            try add(secret, at: place, as: form, from: source, to: &plan.service, option)
        } else if old == nil, tokenHeader != nil || parameter != nil {
            throw CommandFailure(
                "there is no token to send as \(place)",
                hint: "give one with --token-file, --token-command or UTTER_TOKEN",
                status: .configuration)
        }
        var missing: [(secret: DeliveryRecord.Secret, why: String)] = []
        for secret in known where !(token != nil && secret == old) {
            guard !plan.service.credentials.contains(where: { $0.place == secret.place })
            else { continue }
            var why = ""
            guard let value = try SecretReader.value(of: secret, why: &why) else {
                missing.append((secret, why))
                continue
            }
            let isToken = secret == old
            try add(
                value, at: isToken ? place : secret.place, as: isToken ? form : secret.form,
                from: secret.source, to: &plan.service, "the take's secret")
        }
        if let take, !missing.isEmpty { throw Self.failure(take, missing) }
    }

    /// The failure of a take whose secrets cannot be had.
    private static func failure(
        _ take: TakeManifest, _ missing: [(secret: DeliveryRecord.Secret, why: String)]
    ) -> CommandFailure {
        let id = take.id.text
        let lacks = missing.map { "its \($0.secret.place): \($0.why)" }
        let parameters = missing.filter { !$0.secret.isToken }.compactMap(\.secret.query)
        var words: [String] = []
        if missing.contains(where: { !$0.secret.isToken && $0.secret.header != nil }) {
            words.append("--header @FILE")
        }
        if parameters.count == 1, !missing.contains(where: { $0.secret.isToken }) {
            words.append("--to 'URL?\(parameters[0])={token}' --token-file FILE")
        } else {
            if !parameters.isEmpty { words.append("--to URL, with them in its query,") }
            if missing.contains(where: { $0.secret.isToken }) { words.append("--token-file FILE") }
        }
        return CommandFailure(
            "take \(id) is not sent without \(lacks.joined(separator: "; nor without "))",
            hint: "give what is missing: utter retry \(id) \(words.joined(separator: " "))",
            status: .configuration)
    }

    /// The token that the options give, or for a new take the environment.
    private func newToken(
        for origin: Origin, isKept: Bool, isKnown: Bool
    ) throws(CommandFailure) -> (secret: String, source: SecretSource, option: String)? {
        if let tokenFile {
            let secret = try SecretReader.file(tokenFile, option: "--token-file")
            let path = Self.absolute(tokenFile)
            // What came through a pipe cannot be read again.
            return (secret, SecretFile.isRegular(path) ? .file(path) : .given, "--token-file")
        }
        if let tokenCommand {
            let secret = try SecretReader.command(tokenCommand, option: "--token-command")
            return (secret, .command(tokenCommand), "--token-command")
        }
        let name = ServiceVariables.tokenName
        // For a kept take without one, only a variable that says whose token it is.
        guard let token = ServiceVariables.token, ServiceVariables.tokenBelongs(to: origin),
            !isKept || !isKnown && (ServiceVariables.url != nil || to != nil)
        else { return nil }
        return (token, .variable(name), name)
    }

    private func add(
        _ secret: String, at place: Credential.Place, as form: String = "{}",
        from source: SecretSource, to service: inout RecognitionService, _ option: String
    ) throws(CommandFailure) {
        service.add(
            try explained(option) { () throws(ServiceError) in
                try Credential(
                    place: place, form: form == "{percent}" ? .percentEncoded : SecretForm(form),
                    secret: secret, source: source)
            })
    }

    /// Reads `Name: form`, in which `{}` stands for the token.
    private func tokenPlace(
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
    private func noteVariable(in service: inout RecognitionService) throws(CommandFailure) {
        guard ServiceVariables.url != nil else { return }
        for credential in service.credentials {
            try add(
                credential.value, at: credential.place,
                from: .variable(ServiceVariables.urlName), to: &service,
                ServiceVariables.urlName)
        }
    }

    /// Refuses what no service would read, and to send a secret in the clear, unless it was allowed.
    private func check(_ plan: DeliveryPlan) throws(CommandFailure) {
        if case .form = plan.service.body,
            plan.service.headers.contains(where: { $0.isNamed("Content-Type") })
        {
            throw CommandFailure(
                "--header: a form has its own Content-Type, which names its boundary",
                hint: "name the audio's with --content-type", status: .usage)
        }
        guard let secret = plan.service.credentials.first, !plan.allowsSecretsInClear
        else { return }
        let origins = [plan.service.url.origin] + plan.redirectOrigins
        guard let clear = origins.first(where: \.isInClear) else { return }
        throw CommandFailure(
            "\(secret.place) holds a secret, and would travel in the clear to \(clear)",
            hint: "use https, or allow it with --insecure-token", status: .configuration)
    }

    // MARK: - What is given as it is

    private var retry: RetryPolicy {
        guard !noRetry else { return .never }
        var policy = RetryPolicy.standard
        policy.unknownOutcome = onUnknown
        return policy
    }

    /// The deadlines that these options change.
    private var deadlines: TransferDeadlines {
        var deadlines = TransferDeadlines()
        if let connectTimeout { deadlines.connect = connectTimeout.duration }
        if let stallTimeout { deadlines.stall = stallTimeout.duration }
        if let answerTimeout { deadlines.answer = answerTimeout.duration }
        return deadlines
    }

    /// The path from the root on: a take is sent again from another folder.
    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }
}

extension DeliveryRecord.Secret {
    /// Whether it is what `--token-file` and its like give.
    fileprivate var isToken: Bool {
        switch source {
        case .variable(let name): name != ServiceVariables.urlName
        case .file, .command: true
        case .headerFile, .given: false
        }
    }
}

extension RecognitionService {
    /// Whether the secret has a place in a URL that was given anew.
    fileprivate func isOpen(_ secret: DeliveryRecord.Secret) -> Bool {
        secret.query.map { url.parameter($0) == "" } ?? true
    }
}
