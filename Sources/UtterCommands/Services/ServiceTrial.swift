// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterSettings
internal import UtterTerminal

/// Sends one recording to a service, keeps nothing, and says what was sent and what came back.
struct ServiceTrial {
    private var options: ServiceOptions
    /// The recording; nil for half a second of a tone, of which no text is expected.
    private let recording: String?

    init(_ name: String, _ options: ServiceOptions, recording: String? = nil) {
        self.options = options
        self.options.profile.service = name
        self.recording = recording
    }

    func run() async throws {
        let profile = try Services.profile(
            named: options.profile.service ?? "", isOption: true)
        try say("service", "\(profile.title), by \(profile.ownText?.place ?? "")")
        if let verified = profile.verified { try say("verified", verified) }
        let plan = try options.trialPlan()
        try say("token", token(of: plan))
        try await send(by: plan, of: profile)
        let voice = try options.delivery(format: nil, isSpoken: true)
        if voice.service.url.isSocket, !plan.service.url.isSocket {
            try say("voice", "goes another way")
            try await send(by: voice, of: profile)
        }
    }

    private func send(by plan: DeliveryPlan, of profile: ServiceProfile) async throws {
        let service = plan.service
        let method = service.url.isSocket ? "WebSocket" : service.method.rawValue
        try say("request", "\(method) \(service.url.text) with \(plan.format.name)")
        let status = try say(try await send(by: plan), of: profile)
        if status != .textPrinted { throw status.code }
    }

    private func token(of plan: DeliveryPlan) -> String {
        let credentials = plan.service.credentials
        guard !credentials.isEmpty else { return "none" }
        return credentials.map { "\($0.place), from \($0.source)" }.joined(separator: "; ")
    }

    private func send(by plan: DeliveryPlan) async throws(CommandFailure) -> TakeOutcome {
        var take = TakePlan(
            source: recording.map { FileReplay(path: $0, pace: .unpaced) }
                ?? SampleSource.tone(.milliseconds(500)),
            delivery: plan)
        take.isCompleteSoon = true
        let outcome = try await take.outcomeOfTrial()
        if let attempt = outcome.attempts.last { try say("answer", answer(attempt)) }
        return outcome
    }

    private func answer(_ attempt: TakeAttempt) -> String {
        let status = attempt.result.status.map { "status \($0)" } ?? "none"
        guard let end = attempt.result.timings.end else { return status }
        return "\(status) after \(StatusLine.seconds(end))"
    }

    private func say(
        _ outcome: TakeOutcome, of profile: ServiceProfile
    ) throws(CommandFailure) -> ExitStatus {
        switch outcome.result {
        case .success(let transcript) where !transcript.text.isEmpty:
            try say("text", transcript.displayText)
            return .textPrinted
        case .success:
            try say(
                "text",
                recording == nil ? "none, as is right for a tone" : "none: nothing was heard")
            return recording == nil ? .textPrinted : .heardNothing
        case .failure(let failure):
            // A person mends a service of their own in their file.
            let isOfSettings = try options.settings()?.url != nil
            let file = isOfSettings ? ConfigurationFile.path : profile.ownText?.place ?? ""
            let isOfFile = failure.isOfConnecting && options.to == nil && file.contains("/")
            throw CommandFailure(
                failure.description,
                hint: !isOfFile
                    ? failure.hint
                    : "start the service, or "
                        + (file.hasPrefix("shipped/")
                            ? "name its place: utter config set services.\(profile.name).url URL"
                            : "edit url in \(file)"),
                status: ExitStatus(outcome))
        }
    }

    private func say(_ name: String, _ text: String) throws(CommandFailure) {
        try StandardOutput.give(TextWidth.padded(name, to: 10) + text)
    }
}

extension TakePlan {
    /// Sends the take once, and keeps nothing; a secret that was typed answers every question for one.
    func outcomeOfTrial(typed: String? = nil) async throws(CommandFailure) -> TakeOutcome {
        let asker = SecretAsker()
        let pipeline = try orFailure {
            try Pipeline(spool: nil) { question in
                if let typed { return typed }
                return try await asker.answer(question)
            }
        }
        defer { pipeline.shutDown() }
        var plan = self
        plan.delivery.retry = .never
        return await pipeline.start(plan).outcome
    }
}
