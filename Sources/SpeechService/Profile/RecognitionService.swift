// SPDX-License-Identifier: Apache-2.0

/// How one service is addressed and how its answer is read.
///
/// It is data: the description of a service as a file will become one of these. Secrets are apart
/// from everything else: `url` and `headers` can be written down, `credentials` only by where they
/// come from.
public struct RecognitionService: Sendable, Hashable {
    /// A parameter of the query that a profile names.
    struct Parameter: Sendable, Hashable {
        /// As the profile has it.
        var field: String
        /// As the URL has it.
        var name: String
        /// With its value, as the URL has them.
        var text: String
    }

    /// Where the recording is sent to; of query parameters that hold a secret, the names alone.
    ///
    /// With another origin the credentials go: they belong to the one before.
    public var url: ServiceURL {
        didSet { if url.origin != oldValue.origin { credentials = [] } }
    }
    /// How the recording is sent there.
    public var method = RequestMethod.post
    /// Fields of the request beside our own, without secrets; one of the same name replaces ours.
    public var headers: [HeaderField]
    /// They belong to the origin of `url`.
    package var credentials: [Credential]
    /// The key with which each body that holds the recording is encrypted; nil for none.
    ///
    /// The query of the URL and the type of the body are in it. The key is a random one, and goes
    /// nowhere.
    public var bodyKey: Credential?
    /// The type of the recording instead of its format's own, or nil; of a JSON body, the type of
    /// the body.
    public var contentType: String?
    /// The parts around the recording in the body.
    public var body: BodyShape {
        get { bodyBox }
        set { bodyBox = newValue }
    }
    @Boxed private var bodyBox = BodyShape.raw
    /// How the answer is read.
    public var answer: AnswerRule {
        get { answerBox }
        set { answerBox = newValue }
    }
    @Boxed private var answerBox: AnswerRule
    @Boxed package var retry = RetryRule()
    /// Whether the service decides itself when the speaker has finished: its answer then ends the
    /// recording.
    public var detectsEnd = false
    /// Whether the service is asked for its consent before the body is sent (RFC 9110 §10.1.1);
    /// without an answer the body follows after a second.
    package internal(set) var expectsContinue = false
    @Boxed package internal(set) var socket: SocketMessages? = nil
    package internal(set) var limits = ServiceLimits()
    package internal(set) var stretches = StretchRules()
    /// How connections to it are made.
    public var connection: ConnectionSettings {
        get { connectionBox }
        set { connectionBox = newValue }
    }
    @Boxed private var connectionBox = ConnectionSettings()
    @Boxed package var exchange = ExchangePlan.post()
    /// The value of each word of the profile, for later requests.
    package internal(set) var words = ProfileWord.fixed
    /// The profile that it was made by, and what was said with it; nil without one.
    @Boxed package internal(set) var use: ProfileUse? = nil
    /// The parameters of the query that the profile names, in order.
    @Boxed var ownQuery: [Parameter] = []
    /// The secrets themselves are `credentials`.
    @Boxed package var authentication = AuthenticationPlan.bearer

    /// Creates a description.
    ///
    /// Values of `url` and `headers` whose names are those of secrets (`SecretName`) become
    /// credentials.
    ///
    /// - Throws: `ServiceError.invalidHeader` when `contentType` cannot be a field's value,
    ///   `.invalidCredential` when a secret among `headers` cannot be sent.
    public init(
        url: ServiceURL, headers: [HeaderField] = [], credential: Credential? = nil,
        contentType: String? = nil, answer: AnswerRule = .automatic
    ) throws(ServiceError) {
        let (clean, parameters) = url.withoutSecrets()
        self.url = clean
        self.headers = headers.filter { !SecretName.isSecret($0.name) }
        credentials = credential.map { [$0] } ?? []
        if let contentType {
            self.contentType = try HeaderField(name: "Content-Type", value: contentType).value
        }
        answerBox = answer
        for field in headers where SecretName.isSecret(field.name) {
            add(try Credential(place: .header(field.name), secret: field.value))
        }
        for parameter in parameters {
            add(try Credential(place: .query(parameter.name), secret: parameter.value))
        }
    }

    /// A profile holds no secret, whatever its names are.
    init(
        ofProfile url: ServiceURL, headers: [HeaderField], contentType: String?, answer: AnswerRule
    ) throws(ServiceError) {
        try self.init(url: url, contentType: contentType, answer: answer)
        self.url = url
        self.headers = headers
        credentials = []
    }

    /// Adds a credential; one at the same place goes.
    public mutating func add(_ credential: Credential) {
        switch credential.place {
        case .proxy: return connection.proxyLogin = credential
        case .body: return bodyKey = credential
        case .header, .query, .part, .fields: break
        }
        credentials.removeAll { $0.place.isSame(as: credential.place) }
        if let name = credential.place.parameter { url = url.naming(name) }
        credentials.append(credential)
    }

    package var lacksSecrets: Bool { !unknownSecrets.isEmpty }

    /// With the login of the proxy, and the key of the body.
    package var unknownSecrets: [Credential] {
        (credentials + [connection.proxyLogin, bodyKey].compactMap(\.self)).filter { !$0.isKnown }
    }

    package func opened(with secrets: [Credential]) -> RecognitionService {
        var service = self
        if !secrets.isEmpty { service.credentials.removeAll { $0.place == .fields } }
        for secret in secrets { service.add(secret) }
        return service
    }

    /// Adds the secrets for which the query has a name without a value, which may go there; secret.
    package func opening(_ url: ServiceURL) -> ServiceURL {
        credentials.reduce(url) { url, credential in
            guard let name = credential.place.parameter, url.parameter(name) == "",
                let value = credential.value
            else { return url }
            return url.settingParameter(name, to: value)
        }
    }

    /// With the names, not the values, of the secrets in its query.
    package func naming(_ url: ServiceURL) -> ServiceURL {
        credentials.compactMap(\.place.parameter).reduce(url) { $0.naming($1) }
    }

    /// Where all objects of a store lie, and the word `key`, which names this one; nil without it.
    package var storeRoot: (url: ServiceURL, key: String)? {
        guard let key = words["key"] else { return nil }
        // Its marks may stand for a take already: none of them has a slash.
        let names = key.split(separator: "/", omittingEmptySubsequences: false)
        let named = zip(names, url.target.split(separator: "/").suffix(names.count))
            .map { $0.contains("{") ? $1 : $0 }.joined(separator: "/")
        return [key, named].lazy.compactMap { key in
            url.dropping(suffix: ServiceURL.percentEncoded(key, keeping: "/@:")).map { ($0, key) }
        }.first
    }

    package mutating func moveObject(to key: String, below root: ServiceURL) {
        url = root.appending(ServiceURL.percentEncoded(key, keeping: "/@:"))
    }

    /// Where an encrypted body is sent to, and the query that is in it: all but what holds a secret.
    package var addressOfSealed: (url: ServiceURL, query: String) {
        url.dividingQuery(keeping: Set(credentials.compactMap(\.place.parameter)))
    }

    var secretHeaders: [HeaderField] {
        credentials.compactMap { credential in
            guard case .header(let name) = credential.place, let value = credential.value
            else { return nil }
            return HeaderField(checkedName: name, value: value)
        }
    }

    /// The fields to send: our own, those that hold a secret, then `headers`.
    ///
    /// `Accept` asks for JSON before text. A field that `headers` names replaces ours; names in
    /// `headers` may repeat.
    package func requestHeaders(contentType: String) -> [HeaderField] {
        var own = [
            HeaderField(checkedName: "Content-Type", value: contentType),
            HeaderField(
                checkedName: "Accept",
                value: "application/x-ndjson, application/json;q=0.9, text/plain;q=0.8, */*;q=0.1"),
        ]
        own.removeAll { ours in headers.contains { $0.isNamed(ours.name) } }
        return own + secretHeaders + headers
    }
}

extension Credential.Place {
    var parameter: String? { if case .query(let name) = self { name } else { nil } }

    func isSame(as other: Credential.Place) -> Bool {
        switch (self, other) {
        case (.header(let one), .header(let two)): one.lowercased() == two.lowercased()
        case (.query(let one), .query(let two)): one == two
        case (.part(let one), .part(let two)): one == two
        case (.proxy, .proxy), (.body, .body): true
        default: false
        }
    }
}
