// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// What a request asks for, as far as its head says it.
enum Demand: Sendable, Equatable {
    /// Whether the endpoint works.
    case health
    /// The text of the body.
    case recognition(AudioMediaType, AnswerFormat, FaultPlan, BodyClaim)

    /// Reads the head of a request.
    ///
    /// - Throws: `Refusal` with the status and the reason.
    init(
        _ head: HTTPRequest, configuration: RecognitionEndpointConfiguration
    ) throws(Refusal) {
        let path = (head.path ?? "").prefix { $0 != "?" }
        // Browsers send this; no page that somebody happens to visit may use the endpoint.
        guard head.headerFields[.origin] == nil else {
            throw Refusal(403, "requests of web pages are not served")
        }
        switch path {
        case "/healthz":
            guard head.method == .get || head.method == .head else {
                throw Refusal(405, "use GET", fields: [.allow: "GET, HEAD"])
            }
            self = .health
        case "/recognize", "/v1/recognize":
            guard head.method == .post else {
                throw Refusal(405, "use POST", fields: [.allow: "POST"])
            }
            self = try Self.recognition(head.headerFields, configuration)
        default:
            throw Refusal(404, "there is nothing here; audio goes to /recognize")
        }
    }

    private static func recognition(
        _ fields: HTTPFields, _ configuration: RecognitionEndpointConfiguration
    ) throws(Refusal) -> Demand {
        if let token = configuration.bearerToken, !token.isShown(by: fields[.authorization]) {
            throw Refusal(
                401, "the bearer token is missing or wrong", fields: [.wwwAuthenticate: "Bearer"])
        }
        guard let format = AnswerFormat(accept: fields[.accept]) else {
            throw Refusal(
                406, "answers are application/x-ndjson, application/json or text/plain")
        }
        let encoding = fields[.contentEncoding] ?? "identity"
        guard encoding.lowercased() == "identity" else {
            throw Refusal(415, "the content encoding '\(encoding)' is not supported")
        }
        let mediaType: AudioMediaType
        do {
            mediaType = try AudioMediaType(parsing: fields[.contentType])
        } catch {
            throw Refusal(
                415, "\(error.reason); send audio/wav, audio/ogg;codecs=opus or audio/pcm")
        }
        if let length = fields[.contentLength].flatMap(Int.init),
            length > configuration.maximumBodyByteCount
        {
            throw Refusal(BodyFailure.tooLarge(limit: configuration.maximumBodyByteCount))
        }
        return .recognition(
            mediaType, format, try plan(fields, configuration), try BodyClaim(fields))
    }

    private static func plan(
        _ fields: HTTPFields, _ configuration: RecognitionEndpointConfiguration
    ) throws(Refusal) -> FaultPlan {
        guard configuration.allowsFaults, let name = HTTPField.Name("X-Misbehave"),
            let text = fields[name]
        else { return FaultPlan() }
        do {
            return try FaultPlan(parsing: text)
        } catch {
            throw Refusal(400, error.description)
        }
    }
}
