// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import Glibc
internal import LinuxPlatform
package import Utter

extension AudioFormat: ExpressibleByArgument {}
extension RetryPolicy.UnknownOutcome: ExpressibleByArgument {}

/// Where the audio goes, in what form, and how long that may take.
package struct ServiceOptions: ParsableArguments {
    /// Creates options that have not been parsed yet.
    package init() {}

    /// Where `utter serve` listens unless told otherwise.
    package static let localURL = "http://127.0.0.1:8517/recognize"

    @Option(
        help: ArgumentHelp(
            "The service's URL. Otherwise UTTER_URL, otherwise \(localURL).",
            valueName: "url"))
    package var to: String?

    @Option(
        help: ArgumentHelp(
            "A file with the service's key, readable by you alone. Otherwise UTTER_TOKEN.",
            valueName: "file"), completion: .file())
    package var tokenFile: String?

    @Option(
        name: [.long, .customShort("H")],
        help: ArgumentHelp("A header field to send, such as 'X-Model: small'.", valueName: "field"))
    package var header: [String] = []

    @Option(help: ArgumentHelp("The Content-Type to send.", valueName: "type"))
    package var contentType: String?

    @Option(
        help: ArgumentHelp(
            "How the answer is read: auto, text, sequence, or json:PATH.", valueName: "rule"))
    package var answer = "auto"

    @Option(
        help: ArgumentHelp(
            "Another origin to which a 307 or 308 may lead; key and audio go there.",
            valueName: "origin"))
    package var redirectTo: [String] = []

    @Option(
        help: ArgumentHelp("PEM certificates to trust.", valueName: "file"), completion: .file())
    package var cacert: String?

    @Flag(help: "Allow a key to travel over plain http to another machine.")
    package var insecureKey = false

    @Flag(help: "Do not try again; keep the take at the first failure.")
    var noRetry = false

    @Option(
        help: ArgumentHelp(
            "When all was sent and no answer came: resend, keep, or ask.", valueName: "what"))
    var onUnknown = RetryPolicy.UnknownOutcome.resend

    @Option(
        help: ArgumentHelp(
            "How fast to send what is behind the voice: 4x, or bytes a second.",
            valueName: "rate"))
    package var catchUpRate: CatchUpRateArgument?

    @Option(
        help: ArgumentHelp(
            "The header field of the take's id. (default: Idempotency-Key)", valueName: "name"))
    package var idHeader: String?

    @Option(
        help: ArgumentHelp("The longest wait for a connection. (default: 10s)", valueName: "time"))
    package var connectTimeout: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "The longest stall while sending. (default: 8s)", valueName: "time")
    )
    package var stallTimeout: DurationArgument?

    @Option(
        help: ArgumentHelp("The longest wait for the answer. (default: 60s)", valueName: "time"))
    package var answerTimeout: DurationArgument?

    package mutating func validate() throws {
        let times = [
            ("--connect-timeout", connectTimeout), ("--stall-timeout", stallTimeout),
            ("--answer-timeout", answerTimeout),
        ]
        for (name, time) in times where time?.duration == .zero {
            throw ValidationError("\(name) must be above zero.")
        }
    }

    /// Makes takes to the service that these options describe.
    ///
    /// - Parameter format: how they travel.
    /// - Returns: a function that makes a take of a source.
    /// - Throws: `CommandFailure` when an option is wrong or the key's file cannot be used.
    package func planner(
        format: AudioFormat
    ) throws(CommandFailure) -> (any CaptureSource, CapturePlan) -> TakePlan {
        var delivery = try delivery()
        delivery.format = format
        return { TakePlan(source: $0, capture: $1, delivery: delivery) }
    }

    /// How these options deliver a take.
    ///
    /// - Parameter origin: where a kept take was meant to go; only `--to` goes before it.
    /// - Returns: the plan for new takes and for kept ones.
    /// - Throws: `CommandFailure` when an option is wrong or the key's file cannot be used.
    package func delivery(of origin: String? = nil) throws(CommandFailure) -> DeliveryPlan {
        try checkCertificates()
        var plan = DeliveryPlan(
            service: try service(of: origin), deadlines: deadlines,
            redirectOrigins: try redirectOrigins(), certificateFile: cacert, retry: retry)
        plan.catchUpRate = catchUpRate?.rate
        if let idHeader {
            plan.idHeader = try explained("--id-header") { () throws(ServiceError) in
                try HeaderField(name: idHeader, value: "id").name
            }
        }
        return plan
    }

    private var retry: RetryPolicy {
        guard !noRetry else { return .never }
        var policy = RetryPolicy.standard
        policy.unknownOutcome = onUnknown
        return policy
    }

    private func service(of kept: String?) throws(CommandFailure) -> RecognitionService {
        let variable = Environment["UTTER_URL"].flatMap { $0.isEmpty ? nil : $0 }
        // A query may hold a secret and is not kept; such a URL must be named again.
        let known = kept.flatMap { $0.isEmpty || $0.contains("?") ? nil : $0 }
        let text = to ?? known ?? variable ?? Self.localURL
        let isVariable = to == nil && known == nil
        let url = try explained(isVariable ? "UTTER_URL" : "--to") { () throws(ServiceError) in
            try ServiceURL(text)
        }
        let fields = try explained("--header") { () throws(ServiceError) in
            try header.map { line throws(ServiceError) in try HeaderField(line: line) }
        }
        let rule = try explained("--answer") { () throws(ServiceError) in
            try AnswerRule(answer)
        }
        let credential = try key()
        if url.isInClear && !insecureKey,
            credential != nil || fields.contains(where: { $0.isNamed("Authorization") })
        {
            throw CommandFailure(
                "the key would travel in the clear to \(url.origin)",
                hint: "use https, or allow it with --insecure-key", status: .configuration)
        }
        return try explained("--content-type") { () throws(ServiceError) in
            try RecognitionService(
                url: url, headers: fields, credential: credential, contentType: contentType,
                answer: rule)
        }
    }

    /// Names the option in which an error was made.
    private func explained<Value>(
        _ option: String, _ body: () throws(ServiceError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(ServiceError) {
            return try body()
        } catch {
            throw CommandFailure(error, in: option)
        }
    }

    /// The deadlines that these options change.
    private var deadlines: TransferDeadlines {
        var deadlines = TransferDeadlines()
        if let connectTimeout { deadlines.connect = connectTimeout.duration }
        if let stallTimeout { deadlines.stall = stallTimeout.duration }
        if let answerTimeout { deadlines.answer = answerTimeout.duration }
        return deadlines
    }

    /// The origins that redirects may lead to.
    ///
    /// - Throws: `CommandFailure` when one is not an origin.
    private func redirectOrigins() throws(CommandFailure) -> [Origin] {
        try explained("--redirect-to") { () throws(ServiceError) in
            try redirectTo.map { text throws(ServiceError) in try Origin(text) }
        }
    }

    /// - Throws: `CommandFailure` when `--cacert` names no file that can be read.
    private func checkCertificates() throws(CommandFailure) {
        guard let cacert else { return }
        guard unsafe access(cacert, R_OK) == 0 else {
            throw CommandFailure(
                "--cacert: '\(cacert)' cannot be read: \(SystemError.last("access").reason)",
                status: .configuration)
        }
        var status = stat()
        guard unsafe stat(cacert, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw CommandFailure("--cacert: '\(cacert)' is a folder", status: .configuration)
        }
    }

    /// - Throws: `CommandFailure` when there is a key that cannot be used.
    private func key() throws(CommandFailure) -> Credential? {
        if let tokenFile {
            let secret = try SecretFile.read(tokenFile)
            return try explained("--token-file") { () throws(ServiceError) in
                try Credential(secret: secret)
            }
        }
        guard let token = Environment["UTTER_TOKEN"], !token.isEmpty else { return nil }
        return try explained("UTTER_TOKEN") { () throws(ServiceError) in
            try Credential(secret: token)
        }
    }
}

extension ServiceOptions {
    /// What the environment says, and PCM.
    package static var standard: ServiceOptions {
        var options = ServiceOptions()
        options.to = nil
        options.tokenFile = nil
        options.header = []
        options.contentType = nil
        options.answer = "auto"
        options.redirectTo = []
        options.cacert = nil
        (options.insecureKey, options.noRetry) = (false, false)
        options.onUnknown = .resend
        (options.catchUpRate, options.idHeader) = (nil, nil)
        (options.connectTimeout, options.stallTimeout, options.answerTimeout) = (nil, nil, nil)
        return options
    }
}
