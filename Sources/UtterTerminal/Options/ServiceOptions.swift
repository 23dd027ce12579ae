// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import Glibc
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
            "The service's URL. Otherwise UTTER_URL, otherwise what 'utter serve' listens on.",
            valueName: "url"))
    package var to: String?

    @Option(help: "How the audio travels: pcm, wav or ogg-opus.")
    package var format = AudioFormat.pcm

    @Option(
        help: ArgumentHelp(
            "A file with the service's key, readable by you alone. Otherwise UTTER_TOKEN.",
            valueName: "file"))
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

    @Option(help: ArgumentHelp("PEM certificates to trust.", valueName: "file"))
    package var cacert: String?

    @Flag(help: "Allow a key to travel over plain http to another machine.")
    package var insecureKey = false

    @Flag(help: "Do not try again by itself; keep the take at the first failure.")
    var noRetry = false

    @Option(
        help: ArgumentHelp(
            "When all was sent and no answer came: resend, or keep.", valueName: "what"))
    var onUnknown = RetryPolicy.UnknownOutcome.resend

    @Option(help: ArgumentHelp("The longest wait for a connection.", valueName: "time"))
    package var connectTimeout: DurationArgument?

    @Option(help: ArgumentHelp("The longest stall while sending.", valueName: "time"))
    package var stallTimeout: DurationArgument?

    @Option(help: ArgumentHelp("The longest wait for the answer.", valueName: "time"))
    package var answerTimeout: DurationArgument?

    /// A take of `source` to the service that these options describe.
    ///
    /// - Throws: `CommandFailure` when an option is wrong or the key's file cannot be used.
    package func plan(
        source: any CaptureSource, capture: CapturePlan
    ) throws(CommandFailure) -> TakePlan {
        TakePlan(source: source, capture: capture, delivery: try delivery())
    }

    /// How these options deliver a take.
    ///
    /// - Throws: `CommandFailure` when an option is wrong or the key's file cannot be used.
    package func delivery() throws(CommandFailure) -> DeliveryPlan {
        DeliveryPlan(
            service: try service(), format: format, deadlines: deadlines,
            redirectOrigins: try redirectOrigins(), certificateFile: cacert, retry: retry)
    }

    private var retry: RetryPolicy {
        var policy = noRetry ? RetryPolicy.never : .standard
        policy.unknownOutcome = onUnknown
        return policy
    }

    private func service() throws(CommandFailure) -> RecognitionService {
        let text = to ?? Environment["UTTER_URL"] ?? Self.localURL
        do throws(ServiceError) {
            let url = try ServiceURL(text)
            var fields: [HeaderField] = []
            for line in header { fields.append(try HeaderField(line: line)) }
            let credential = try key()
            if credential != nil && url.isInClear && !insecureKey {
                throw ServiceError.invalidCredential(
                    reason: "it would travel in the clear to \(url.origin)")
            }
            return try RecognitionService(
                url: url, headers: fields, credential: credential, contentType: contentType,
                answer: try AnswerRule(answer))
        } catch {
            if case .invalidCredential = error {
                throw CommandFailure(
                    "the key cannot be used: \(error.description)", hint: error.hint,
                    status: .configuration)
            }
            throw CommandFailure(error)
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
        do throws(ServiceError) {
            return try redirectTo.map { text throws(ServiceError) in try Origin(text) }
        } catch {
            throw CommandFailure(error)
        }
    }

    private func key() throws(ServiceError) -> Credential? {
        if let tokenFile { return try Credential(secret: try SecretFile.read(tokenFile)) }
        guard let token = Environment["UTTER_TOKEN"], !token.isEmpty else { return nil }
        return try Credential(secret: token)
    }
}
