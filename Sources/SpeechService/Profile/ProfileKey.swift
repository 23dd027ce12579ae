// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// A field of a profile by its dotted path, and what may stand there.
package struct ProfileKey: Sendable {
    package enum Form: Sendable, Equatable {
        case text
        case path
        case words([String])
        case number
        case seconds
        case flag
        case list
        case table
    }

    /// Such as `transfer.framing`; one that ends in `.NAME` stands for any name.
    package let path: String
    package let form: Form
    package let about: String

    private init(_ path: String, _ form: Form, _ about: String) {
        (self.path, self.form, self.about) = (path, form, about)
    }

    private init(_ path: String, _ about: String) { self.init(path, .text, about) }

    package static func named(_ path: String) -> ProfileKey? {
        all.first { key in
            guard let family = key.family else { return key.path == path }
            return path.hasPrefix(family) && path.count > family.count
        }
    }

    /// The field that a path comes near to, or all whose name is right in a wrong table, or in none.
    package static func nearest(to path: String, or others: [String] = []) -> [String] {
        let paths = all.map(\.path) + others
        let last = path.split(separator: ".").last.map(String.init) ?? path
        return EditDistance.nearest(to: path, among: paths).map { [$0] }
            ?? Array(paths.filter { $0.hasSuffix(".\(last)") }.prefix(3))
    }

    /// The question which field was meant, to stand behind a message about an unknown one; or nothing.
    package static func question(about path: String, or others: [String] = []) -> String {
        let near = nearest(to: path, or: others).map { "'\($0)'" }
        return near.isEmpty ? "" : "; did you mean \(near.joined(separator: " or "))?"
    }

    /// The line of TOML that gives a field a value, which stays one whatever is in it.
    ///
    /// A text is taken as it is. So is what cannot be the number, flag, list or table that belongs
    /// there, so that the reader of profiles says what is wrong with it.
    package func line(for path: String, value: String) -> String {
        line(for: path, literal: literal(of: value))
    }

    /// The line that gives a field a value which is written in TOML.
    package func line(for path: String, literal: String) -> String {
        let name =
            family.map { $0 + JSONText.quoted(String(path.dropFirst($0.count))) } ?? path
        return "\(name) = \(literal)"
    }

    /// A value of the command line in TOML.
    package func literal(of value: String) -> String {
        isPlain(value) ? value : JSONText.quoted(value)
    }

    private func isPlain(_ value: String) -> Bool {
        guard !value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { return false }
        return switch form {
        case .text, .path, .words: false
        case .number, .seconds:
            Double(value)?.isFinite == true && value.drop { $0 == "-" }.first?.isNumber == true
        case .flag: ["true", "false"].contains(value)
        case .list: Self.isList(value)
        case .table:
            value.hasPrefix("{") && value.contains("=") || Self.isList(value) || value == "false"
        }
    }

    /// Unlike a text such as `[BLANK_AUDIO]`.
    private static func isList(_ value: String) -> Bool {
        guard value.hasPrefix("["), let next = value.dropFirst().first(where: { $0 != " " })
        else { return false }
        return "\"'{[]".contains(next) || next.isNumber
    }

    /// Such as `headers.`; nil for one field.
    private var family: String? {
        path.hasSuffix(".NAME") ? String(path.dropLast("NAME".count)) : nil
    }
}

extension ProfileKey {
    private static func words<Word: RawRepresentable<String> & CaseIterable>(
        of type: Word.Type
    ) -> Form { .words(Word.allCases.map(\.rawValue)) }

    /// In the order of docs/profiles.md.
    package static let all: [ProfileKey] = [
        ProfileKey("url", "where the recording is sent"),
        ProfileKey(
            "way", words(of: ServiceProfile.Way.self),
            "how a recording of the microphone goes: as the table 'live' says, or not"),
        ProfileKey("method", words(of: RequestMethod.self), "the method of the request"),
        ProfileKey("query.NAME", .table, "a parameter of the URL"),
        ProfileKey("headers.NAME", .table, "a header field; a secret one stands in a file"),
        ProfileKey("words.NAME", .table, "what counts for a word unless another is said"),
        ProfileKey("auth", .table, "false: the service wants no token"),
        ProfileKey("auth.kind", words(of: AuthenticationPlan.Kind.self), "how the token is sent"),
        ProfileKey("auth.scheme", "the scheme before the token, such as Token"),
        ProfileKey("auth.header", "the header field of the token, such as xi-api-key"),
        ProfileKey("auth.form", "how it is written there, such as Key {}"),
        ProfileKey("auth.parameter", "the parameter of the URL that holds the token"),
        ProfileKey("auth.user", .table, "the name before the token, as its password"),
        ProfileKey("auth.region", "the region, for aws-sigv4"),
        ProfileKey("auth.service", "the service, for aws-sigv4"),
        ProfileKey("auth.file", .path, "the token is the first line of this file"),
        ProfileKey("auth.command", "the token is what this shell command prints"),
        ProfileKey("auth.variable", "the token is in this variable"),
        ProfileKey("auth.credential", "the token is this credential of systemd"),
        ProfileKey("auth.optional", .flag, "whether the service may be open to all"),
        ProfileKey("body.kind", words(of: BodyPlan.Kind.self), "what stands around the audio"),
        ProfileKey("body.content-type", "the type of the audio, or of the JSON"),
        ProfileKey("body.fields.NAME", .table, "a field of the form, before the audio"),
        ProfileKey("body.file-field", "the form's field of the audio"),
        ProfileKey("body.file-name", "the audio's file name in the form"),
        ProfileKey("body.template", "JSON, in which {audio} stands for the audio in base64"),
        ProfileKey("body.key-file", .path, "the key with which the body is encrypted"),
        ProfileKey("formats", .table, "the forms of audio that the service reads, the best first"),
        ProfileKey("socket.open", .list, "the first messages over a WebSocket"),
        ProfileKey("socket.greeting", .table, "the service's message that audio may come"),
        ProfileKey("socket.audio", "JSON, in which {audio} stands for a piece in base64"),
        ProfileKey("socket.finish", .list, "the messages behind the last piece of audio"),
        ProfileKey("socket.keep-alive", "the message that keeps a silent session awake"),
        ProfileKey("socket.keep-alive-seconds", .seconds, "how often that is sent"),
        ProfileKey("socket.path", "the path that is asked for over a Unix socket"),
        ProfileKey("socket.host", "the Host that is said there"),
        ProfileKey("limits", .table, "false: none"),
        ProfileKey("limits.seconds", .seconds, "the longest recording"),
        ProfileKey("limits.shortest-seconds", .seconds, "the shortest recording"),
        ProfileKey("limits.requests-per-minute", .number, "of a recording in several requests"),
        ProfileKey(
            "stretches.enabled", .flag,
            "whether a recording that is too long is sent in several requests"),
        ProfileKey(
            "stretches.skip-silence", .seconds, "silence of this length is not sent of a file"),
        ProfileKey(
            "transfer.framing", words(of: BodyFraming.self),
            "how the service learns the end of the recording"),
        ProfileKey("transfer.endpointing", .flag, "whether its answer ends the recording"),
        ProfileKey("transfer.expect-continue", .flag, "whether the body waits for a consent"),
        ProfileKey("transfer.id-header", "the header field of the take's id"),
        ProfileKey("transfer.redirect-to", .list, "origins to which a 307 or 308 may lead"),
        ProfileKey("transfer.connect-seconds", .seconds, "the longest wait for a connection"),
        ProfileKey("transfer.stall-seconds", .seconds, "how long sending may stand still"),
        ProfileKey(
            "transfer.answer-seconds", .seconds,
            "the longest wait for the answer, or for more of its text"),
        ProfileKey(
            "transfer.refusal-seconds", .seconds, "the longest wait for the rest of a refusal"),
        ProfileKey(
            "transfer.whole-seconds", .seconds,
            "the longest time from the end of the recording to the end of the answer"),
        ProfileKey(
            "transfer.catch-up", "how fast to catch up after an outage: 4x, or 64k a second"),
        ProfileKey(
            "transfer.insecure-token", .flag, "whether the token may travel without TLS"),
        ProfileKey("connection.http", words(of: HTTPVersion.self), "the newest HTTP to speak"),
        ProfileKey("connection.proxy", "the proxy's URL, or none"),
        ProfileKey("connection.proxy-login-file", .path, "a file with NAME:PASSWORD for it"),
        ProfileKey("connection.no-proxy", .list, "hosts that are reached without it"),
        ProfileKey("connection.ca-file", .path, "the certificates to trust, in PEM"),
        ProfileKey("connection.client-certificate", .path, "the certificate to show, in PEM"),
        ProfileKey("connection.client-key", .path, "its private key, where that stands apart"),
        ProfileKey(
            "connection.minimum-tls", words(of: TLSVersion.self), "the oldest TLS to speak"),
        ProfileKey("connection.pinned-key", .list, "the public keys of which it must have one"),
        ProfileKey("connection.ip", words(of: AddressKind.self), "the kind of address"),
        ProfileKey("connection.resolve", .list, "HOST:PORT:ADDRESS, instead of asking for it"),
        ProfileKey("answer.framing", words(of: AnswerFraming.self), "how the answer is cut"),
        ProfileKey("answer.text", .list, "the path of the text, such as results[].text"),
        ProfileKey("answer.words", .table, "the path of the words, and of their times"),
        ProfileKey("answer.segments", .table, "the path of the sentences, and of their times"),
        ProfileKey("answer.language", .list, "the path of the language that was heard"),
        ProfileKey("answer.confidence", .list, "the path of how sure the service is"),
        ProfileKey("answer.duration", .table, "the path of the seconds that were heard"),
        ProfileKey("answer.success", .table, "what must be true of a good answer"),
        ProfileKey("answer.no-speech", .table, "what is true when nothing was heard"),
        ProfileKey("answer.silence", .list, "texts that say that nothing was heard"),
        ProfileKey(
            "answer.no-speech-probability", .table,
            "the path of how probable silence is, without which no such text counts"),
        ProfileKey("answer.empty", words(of: EmptyAnswer.self), "what no byte at all means"),
        ProfileKey("answer.errors.message", .list, "the path of the service's own words"),
        ProfileKey("answer.errors.code", .list, "the path of its code of an error"),
        ProfileKey("answer.header", .table, "the header field of the text"),
        ProfileKey("answer.select", .table, "what a value of a sequence is"),
        ProfileKey("answer.otherwise", words(of: ValueKind.self), "what every other value is"),
        ProfileKey("answer.merge", words(of: TextMerge.self), "how a text joins those before"),
        ProfileKey("answer.stop", "the path of what is true when the service has heard the end"),
        ProfileKey("answer.skip", .list, "events with these texts say nothing"),
        ProfileKey("retry.never", .flag, "whether a take is kept at its first failure"),
        ProfileKey(
            "retry.unknown", words(of: UnknownOutcome.self),
            "what to do when all was sent and no answer came"),
        ProfileKey(
            "retry.pauses-while-speaking", .list,
            "seconds before each further attempt; the last repeats"),
        ProfileKey(
            "retry.pauses-after-release", .list,
            "seconds before each further attempt once the recording has ended"),
        ProfileKey(
            "retry.longest-retry-after-seconds", .seconds,
            "the longest Retry-After that is waited for then"),
        ProfileKey("retry.statuses", .list, "the statuses that are tried again"),
        ProfileKey("retry.token-refused", .list, "the statuses that refuse the token"),
        ProfileKey(
            "retry.close-codes", .list, "the close codes of a WebSocket that are tried again"),
        ProfileKey("retry.codes", .list, "the codes of errors that are tried again"),
        ProfileKey("retry.token-codes", .list, "the codes that refuse the token"),
        ProfileKey("retry.retry-after", .flag, "whether Retry-After is heeded"),
        ProfileKey(
            "exchange.kind", words(of: ExchangePlan.Kind.self),
            "one request, a job, an upload that goes on where it was, or parts"),
        ProfileKey("exchange.seconds", .seconds, "how long the service may take for a job"),
        ProfileKey(
            "exchange.parallel", .number, "the most parts or stretches at once, from 1 to 4"),
        ProfileKey("exchange.smallest", .number, "bytes that only the last part may be below"),
        ProfileKey(
            "exchange.largest", .number, "the most bytes of a part, or of a request of an upload"),
        ProfileKey("exchange.count", .number, "the most parts of a recording"),
        ProfileKey(
            "exchange.origins", .list, "where URLs in its answers may lead, without secrets"),
    ]
}
