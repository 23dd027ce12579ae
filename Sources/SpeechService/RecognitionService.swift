// SPDX-License-Identifier: Apache-2.0

/// How one service is addressed and how its answer is read.
///
/// It is data: the description of a service as a file will become one of these.
public struct RecognitionService: Sendable, Hashable {
    /// Where the recording is posted to.
    public var url: ServiceURL
    /// Fields of the request beside our own; one of the same name replaces ours.
    public var headers: [HeaderField]
    /// What opens the service, or nil.
    public var credential: Credential?
    /// The `Content-Type` of the request instead of the audio format's own, or nil.
    public var contentType: String?
    /// How the answer is read.
    public var answer: AnswerRule

    /// Creates a description.
    ///
    /// - Throws: `ServiceError.invalidHeader` when `contentType` cannot be a field's value.
    public init(
        url: ServiceURL, headers: [HeaderField] = [], credential: Credential? = nil,
        contentType: String? = nil, answer: AnswerRule = .automatic
    ) throws(ServiceError) {
        self.url = url
        self.headers = headers
        self.credential = credential
        if let contentType {
            self.contentType = try HeaderField(name: "Content-Type", value: contentType).value
        }
        self.answer = answer
    }

    /// The fields to send: our own, then `headers`; secret.
    ///
    /// `Authorization` comes from the credential, `Accept` asks for JSON before text. A field that
    /// `headers` names replaces ours; names in `headers` may repeat.
    ///
    /// - Parameter audioMediaType: the media type of the audio format.
    /// - Returns: the fields in the order in which they are sent.
    public func requestHeaders(audioMediaType: String) -> [HeaderField] {
        var own = [
            HeaderField(checkedName: "Content-Type", value: contentType ?? audioMediaType),
            HeaderField(
                checkedName: "Accept",
                value: "application/x-ndjson, application/json;q=0.9, text/plain;q=0.8, */*;q=0.1"),
        ]
        if let credential {
            own.append(HeaderField(checkedName: "Authorization", value: credential.headerValue))
        }
        own.removeAll { ours in headers.contains { $0.isNamed(ours.name) } }
        return own + headers
    }
}
