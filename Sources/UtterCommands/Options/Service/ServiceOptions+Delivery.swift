// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Utter
internal import UtterSettings

extension ServiceOptions {
    /// How takes get to the service that these options and the environment describe; no format is PCM,
    /// or WAV in a form or in JSON, where a service learns the rate from the audio itself.
    ///
    /// A voice goes the way that a service has for it, unless a person says another way, or a URL.
    func delivery(
        format: AudioCodec?, isSpoken: Bool = false
    ) throws(CommandFailure) -> DeliveryPlan {
        let usual = try KnownSettings.format.value(format)
        let use = try profileUse(format: format, usual: usual, isSpoken: isSpoken)
        // The variable says where the usual service is, and this one is named.
        var plan = try delivery(use, at: profile.service == nil ? ServiceVariables.url : nil)
        plan.isUnset = isServiceUnset
        return plan
    }

    /// How a kept take is delivered: as it was meant to be, but for what these options change.
    ///
    /// Neither `UTTER_URL` nor a default counts, unless a person asks for a take that was recorded
    /// before a service was chosen. A secret goes to the origin for which it was given, and to no
    /// other. Without a format it travels as before.
    func delivery(
        of manifest: TakeManifest, format: AudioCodec? = nil, isAsked: Bool
    ) throws(CommandFailure) -> DeliveryPlan {
        let mayChoose = isAsked && target == nil && manifest.delivery?.isUnset == true
        let chosen = mayChoose ? try KnownSettings.service.value(profile.service) : profile.service
        if let use = try newUse(chosen, for: manifest, format: format) {
            return try delivery(use)
        }
        if mayChoose, ServiceVariables.url != nil {
            let use = try plainUse(format: format ?? AudioCodec(rawValue: manifest.format))
            return try delivery(use, at: ServiceVariables.url)
        }
        guard let record = manifest.delivery else {
            // The take's delivery was lost with its manifest.
            if target != nil {
                return try delivery(format: format ?? AudioCodec(rawValue: manifest.format))
            }
            throw CommandFailure(
                "take \(manifest.id.text) does not know where it was meant to go",
                hint: "name the service or its URL: utter retry \(manifest.id.shortName) --to URL",
                status: .configuration)
        }
        var plan = try plan(of: record, in: manifest, format: format)
        plan = try changed(plan, to: changingFormat(of: plan, format, from: record))
        var parameter: String?
        if let target {
            let (url, parts) = (plan.service.url, plan.service.authentication.parts)
            parameter = try move(&plan, to: target.text, named: target.option)
            // The secrets that it wanted it wants there, too.
            plan.service.authentication.parts = parts
            plan.isUnset = false
            if plan.service.url.origin != url.origin, !says("transfer.insecure-token") {
                // A permission for one service does not hold for another.
                plan.allowsSecretsInClear = false
            }
        }
        try change(&plan)
        try checkLogin(plan.service.connection, take: manifest.id)
        try addSecrets(to: &plan, parameter, of: manifest)
        try check(plan)
        return plan
    }

    /// Drops the media type of the old audio, or of the old body, which is not that of another.
    private func changingFormat(
        of plan: DeliveryPlan, _ format: AudioCodec?, from record: DeliveryManifest
    ) -> DeliveryPlan {
        var plan = plan
        if let format, format.name != record.format, record.profileName == nil {
            plan.service.contentType = nil
        }
        // The plan that is changed here was made of it.
        guard says("body"), let old = try? DeliveryPlan(record),
            (old.service.body == .raw) != (plan.service.body == .raw)
        else { return plan }
        plan.service.headers.removeAll { $0.isNamed("Content-Type") }
        // Where nothing else names the rate, the audio does itself.
        if plan.format == .pcm, plan.service.body != .raw, format == nil { plan.format = .wav }
        return plan
    }

    /// Whether a token is given here that belongs to one origin only.
    var bringsSecrets: Bool {
        tokenFile != nil || tokenCommand != nil || Self.tokenFields.contains { field($0) != nil }
            || header.contains { line in
                line.hasPrefix("@") || SecretName.isSecret(String(line.prefix { $0 != ":" }))
            }
    }

    // MARK: - Everything but secrets

    /// Applies what options say beside the profile, which the settings have completed.
    func change(
        _ plan: inout DeliveryPlan, by settings: ServiceSettings? = nil
    ) throws(CommandFailure) {
        try checkFiles(plan.service.connection, by: settings)
        try changeLogin(of: &plan.service.connection)
        try addHeaders(to: &plan.service)
    }

    /// Adds the login of the proxy, unless a kept take remembers another than that of the variable.
    private func changeLogin(of connection: inout ConnectionSettings) throws(CommandFailure) {
        let name = ServiceVariables.proxyLoginName
        if let file = field(Self.proxyLoginField) {
            connection.proxyLogin = Credential(
                askedOf: .file(Self.absolute(file)), place: .proxy, form: .plain)
        } else if connection.proxyLogin.map({ $0.source == .variable(name) }) ?? true,
            connection.proxy != Proxy.none, let text = Environment.secret(name)
        {
            connection.proxyLogin = try explained(name) {
                try Credential(place: .proxy, secret: text, source: .variable(name))
            }
        }
    }

    /// Demands that the login that a kept take remembers can be asked for, or is given anew.
    private func checkLogin(
        _ connection: ConnectionSettings, take: TakeID
    ) throws(CommandFailure) {
        guard let login = connection.proxyLogin, !login.isKnown else { return }
        var isForeign = false
        if case .command(let command) = login.source { isForeign = !Services.know(command) }
        guard login.source.isGone || isForeign else { return }
        throw CommandFailure(
            "take \(take.text) is not sent without the login of its proxy, which was "
                + (isForeign ? "printed by a command that no settings name" : "typed or piped"),
            hint: "give it again: utter retry \(take.shortName) -c \(Self.proxyLoginField)=FILE",
            status: .configuration)
    }

    /// Adds header fields that hold a secret; the others are texts.
    private func addHeaders(to service: inout RecognitionService) throws(CommandFailure) {
        for file in header.filter({ $0.hasPrefix("@") }) {
            service.add(Credential(headerFile: Self.absolute(String(file.dropFirst()))))
        }
        for field in try headerFields() where SecretName.isSecret(field.name) {
            try add(field.value, at: .header(field.name), from: .given, to: &service)
        }
    }

    // MARK: - Secrets

    private func add(
        _ secret: String, at place: Credential.Place, from source: SecretSource,
        to service: inout RecognitionService, _ option: String = "--header"
    ) throws(CommandFailure) {
        service.add(
            try explained(option) {
                try Credential(place: place, secret: secret, source: source)
            })
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

    // MARK: - What is given as it is

    /// The path from the root on: a take is sent again from another folder.
    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        return unsafe String(cPath: folder) + "/" + path
    }
}
