// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import LinuxPlatform

enum Demand: Sendable {
    struct Asked: Sendable {
        var mediaType: AudioMediaType
        var format: AnswerFormat
        var plan: FaultPlan
        var claim: BodyClaim
        var hints: SpeechHints
    }

    case health
    /// All that there are, or the one with this name.
    case models(String?)
    case recognition(Asked)
    /// With the ticket that a page shows.
    case realtime(ticket: String?)
    case page(PageFile)
    /// A page wants to open a session.
    case ticket
    /// The operator wants to see the last requests of all clients.
    case served
    case options
    case newUpload(UploadHead, UploadManifest, FaultPlan)
    case upload(name: String, UploadHead, FaultPlan)

    init(
        _ head: HTTPRequest, configuration: RecognitionEndpointConfiguration,
        isLocal: Bool = false
    ) throws(Refusal) {
        let path = (head.path ?? "").prefix { $0 != "?" }
        try Self.checkFraming(head)
        if let origin = head.headerFields[.origin] {
            guard !isLocal, Self.isOwn(origin, head, configuration) else {
                throw Refusal(403, "requests of web pages are not served")
            }
        }
        try Self.checkHost(head.authority ?? "", configuration)
        if configuration.uploadFolder != nil {
            if head.method == .options {
                self = .options
                return
            }
            if path.hasPrefix(UploadHead.root) {
                try Self.checkToken(head.headerFields, configuration)
                self = .upload(
                    name: String(path.dropFirst(UploadHead.root.count)),
                    try UploadHead(head.headerFields),
                    try Self.plan(head.headerFields, configuration))
                return
            }
        }
        if configuration.page != nil, let file = PageFile(rawValue: String(path)) {
            try Self.checkIsRead(head)
            self = .page(file)
            return
        }
        switch path {
        case "/healthz":
            try Self.checkIsRead(head)
            self = .health
        case "/page/ticket" where configuration.page != nil:
            guard head.method == .post else {
                throw Refusal(405, "use POST", fields: [.allow: "POST"])
            }
            try Self.checkToken(head.headerFields, configuration)
            self = .ticket
        case "/page/requests" where configuration.page != nil:
            try Self.checkIsRead(head)
            guard configuration.isOperator(head.headerFields) else {
                throw Refusal(
                    403, "the requests of others are for the operator, who has another token")
            }
            self = .served
        case "/v1/models",
            _ where path.hasPrefix(Self.modelRoot):
            guard head.method == .get else {
                throw Refusal(405, "use GET", fields: [.allow: "GET"])
            }
            try Self.checkToken(head.headerFields, configuration)
            self = .models(
                path.hasPrefix(Self.modelRoot)
                    ? SpeechHints.decoded(path.dropFirst(Self.modelRoot.count)) : nil)
        case "/recognize", "/v1/recognize":
            guard head.method == .post || head.method == .put else {
                throw Refusal(405, "use POST", fields: [.allow: "POST, PUT"])
            }
            self = try Self.recognition(head, configuration)
        case "/v1/audio/transcriptions":
            guard head.method == .post else {
                throw Refusal(405, "use POST", fields: [.allow: "POST"])
            }
            // Its clients want one object, whatever else they accept.
            self = try Self.recognition(head, configuration, lines: .object)
        // The recognisers of a desktop have several paths.
        case _ where path == "/v1/realtime" || isLocal && head.headerFields[.upgrade] != nil:
            guard head.method == .get else {
                throw Refusal(405, "use GET", fields: [.allow: "GET"])
            }
            let ticket = Self.ticket(head.headerFields)
            if head.headerFields[.origin] != nil, ticket == nil {
                throw Refusal(401, "a page opens a session with a ticket")
            }
            if !isLocal, ticket == nil {
                try Self.checkToken(head.headerFields, configuration)
            }
            guard configuration.bodyKey == nil || configuration.takesPlainBodies else {
                throw Refusal(
                    415,
                    "a session's audio is not encrypted, and this endpoint takes encrypted audio alone"
                )
            }
            self = .realtime(ticket: ticket)
        default:
            throw Refusal(404, "there is nothing here; audio goes to /recognize")
        }
    }

    private static let modelRoot = "/v1/models/"

    /// Whether a page is the endpoint's own; a person may happen to visit any other one.
    private static func isOwn(
        _ origin: String, _ head: HTTPRequest, _ configuration: RecognitionEndpointConfiguration
    ) -> Bool {
        // A proxy may speak TLS in front of the endpoint.
        let own = ["http", "https"].map { "\($0)://\(head.authority ?? "")".lowercased() }
        return configuration.page != nil && own.contains(origin.lowercased())
    }

    /// The ticket among the subprotocols that a client offers.
    private static func ticket(_ fields: HTTPFields) -> String? {
        fields[.secWebSocketProtocol]?.split(whereSeparator: { $0 == "," || $0.isWhitespace })
            .first { $0.hasPrefix(EndpointPage.ticketName) }
            .map { String($0.dropFirst(EndpointPage.ticketName.count)) }
    }

    private static func checkIsRead(_ head: HTTPRequest) throws(Refusal) {
        guard head.method == .get || head.method == .head else {
            throw Refusal(405, "use GET", fields: [.allow: "GET, HEAD"])
        }
    }

    /// Refuses a name of the internet, by which a page of another site may reach this machine: with
    /// a token there is no need to.
    private static func checkHost(
        _ authority: String, _ configuration: RecognitionEndpointConfiguration
    ) throws(Refusal) {
        let host = authority.prefix { $0 != ":" }.lowercased()
        let isAddress = host.hasPrefix("[") || host.allSatisfy { $0.isNumber || $0 == "." }
        let isOwn =
            !host.contains(".") || host == configuration.host.lowercased()
            || [".localhost", ".local", ".lan", ".internal", ".home.arpa"]
                .contains { host.hasSuffix($0) }
        guard configuration.bearerToken != nil || isAddress || isOwn else {
            throw Refusal(421, "under that name the endpoint serves with a token alone")
        }
    }

    /// Refuses what another server on the way might read differently.
    private static func checkFraming(_ head: HTTPRequest) throws(Refusal) {
        // The first Host is the authority, the others stay (RFC 9112 §3.2).
        guard let host = head.authority, head.headerFields[named: "Host"] == nil else {
            throw Refusal(400, "a request has one Host field")
        }
        guard host.utf8.allSatisfy(isHostByte) else {
            throw Refusal(400, "the Host is not the name of a host")
        }
        // RFC 9112 §6.1; the body has been read as if it were in chunks only.
        if let coding = head.headerFields[.transferEncoding], coding.lowercased() != "chunked" {
            throw Refusal(501, "the transfer coding '\(coding)' is not supported; send chunked")
        }
    }

    /// Whether RFC 3986 §3.2 allows the byte in a host and its port.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "-._~!$&'()*+,;=:[]%".utf8.contains(byte)
    }

    private static func recognition(
        _ head: HTTPRequest, _ configuration: RecognitionEndpointConfiguration,
        lines: AnswerFormat = .lines
    ) throws(Refusal) -> Demand {
        let fields = head.headerFields
        try checkToken(fields, configuration)
        guard var format = AnswerFormat(accept: fields[.accept]) else {
            throw Refusal(
                406, "answers are application/x-ndjson, application/json or text/plain")
        }
        let encoding = fields[.contentEncoding] ?? "identity"
        guard encoding.lowercased() == "identity" else {
            throw Refusal(415, "the content encoding '\(encoding)' is not supported")
        }
        let upload = configuration.uploadFolder == nil ? nil : try UploadHead(fields)
        let contentType =
            upload?.creates == true ? UploadHead.mediaType(fields) : fields[.contentType]
        let mediaType: AudioMediaType
        do {
            mediaType = try AudioMediaType(parsing: contentType)
        } catch {
            throw Refusal(415, "\(error); send \(AudioMediaType.names)")
        }
        guard mediaType != .encrypted || configuration.bodyKey != nil else {
            throw Refusal(415, "the body is encrypted, and this endpoint has no key")
        }
        guard
            mediaType == .encrypted || configuration.bodyKey == nil
                || configuration.takesPlainBodies
        else { throw Refusal(415, "the body is plain, and this endpoint takes encrypted ones") }
        if let length = fields[.contentLength].flatMap(Int.init),
            length > configuration.maximumBodyByteCount
        {
            throw Refusal(BodyFailure.tooLarge(limit: configuration.maximumBodyByteCount))
        }
        let (plan, claim) = (try plan(fields, configuration), try BodyClaim(fields))
        let hints = SpeechHints(query: head.path ?? "")
        if format == .lines { format = lines }
        guard let upload, upload.creates else {
            return .recognition(
                Asked(
                    mediaType: mediaType, format: format, plan: plan, claim: claim, hints: hints))
        }
        let manifest = UploadManifest(
            mediaType: contentType ?? "", format: format, key: claim.key, digest: claim.digest,
            hints: hints)
        return .newUpload(upload, manifest, plan)
    }

    private static func checkToken(
        _ fields: HTTPFields, _ configuration: RecognitionEndpointConfiguration
    ) throws(Refusal) {
        guard configuration.bearerToken != nil || fields[.origin] != nil,
            !configuration.isOperator(fields), !showsPage(fields, configuration)
        else { return }
        throw Refusal(
            401, "the bearer token is missing or wrong", fields: [.wwwAuthenticate: "Bearer"])
    }

    private static func showsPage(
        _ fields: HTTPFields, _ configuration: RecognitionEndpointConfiguration
    ) -> Bool {
        configuration.page?.token?.isShown(by: fields[.authorization]) == true
    }

    private static func plan(
        _ fields: HTTPFields, _ configuration: RecognitionEndpointConfiguration
    ) throws(Refusal) -> FaultPlan {
        guard configuration.allowsFaults, let text = fields[named: "X-Misbehave"] else {
            return FaultPlan()
        }
        // The page's token is for people who want to speak.
        let isGuest =
            configuration.bearerToken != nil || fields[.origin] != nil
            || showsPage(fields, configuration)
        guard !isGuest || configuration.isOperator(fields) else {
            throw Refusal(403, "X-Misbehave is for the operator")
        }
        return try FaultPlan(parsing: text)
    }
}
