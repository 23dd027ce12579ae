// SPDX-License-Identifier: Apache-2.0

public import AudioCodecs
package import Settings

/// The description of a service as data: how a request to it is made, and how its answer is read.
///
/// It is read from the text of a file, and those of the profiles that it extends. What it says is
/// complete but for the words, which a person says, and the secret.
public struct ServiceProfile: Sendable, Hashable {
    /// The ways in which a recording gets to a service.
    package enum Way: String, Sendable, CaseIterable {
        case upload
        /// The table `live` says it over the rest, for a person who speaks.
        case live
    }

    /// The texts it was read from, its own first.
    package let texts: [ProfileText]
    package let table: SettingsTable

    /// The service's name for a person.
    public internal(set) var title: String
    package let docs: String?
    /// The proof that the profile works: when and against what it was tried, or that it was not.
    package let verified: String?
    package var url: WordTemplate
    /// The URL without what a person says over the profile; nil for a service without a profile.
    let home: WordTemplate?
    private let saysLiveWay: Bool
    /// How soon the text is there when a person stops, and who has measured it.
    package let latency: String?
    var method = RequestMethod.post
    var query: [ProfileField] = []
    var headers: [ProfileField] = []
    /// The words that a person may say to it.
    public package(set) var words: [ProfileWord] = []
    @Boxed var body = BodyPlan()
    /// The forms of audio that the service reads, the best first; without any, it reads all.
    var formats: [ProfileFormat] = []
    @Boxed package var transfer = TransferSettings()
    @Boxed package var authentication = AuthenticationPlan()
    /// The messages over a WebSocket; nil for a service over HTTP.
    @Boxed var socket: SocketMessages? = nil
    var limits = ServiceLimits()
    var stretches = StretchRules()
    @Boxed var connection = ConnectionSettings()
    @Boxed var exchange = ExchangePlan.post()
    @Boxed package var answer = AnswerRule.automatic
    @Boxed var retry = RetryRule()
    package private(set) var pauses = RetryPauses()

    /// The name of the profile; empty for a service that was described by its URL alone.
    public var name: String { ownText?.name ?? "" }

    /// The profile's own text, below what a person says over it.
    package var ownText: ProfileText? { texts.first { !$0.isOverriding } }

    /// The forms of audio that the service reads, the best first; none means all.
    public var codecs: [AudioCodec] { formats.map(\.codec) }

    /// Whether a recording is sent while it is made, or when it is complete.
    public var isLive: Bool { transfer.framing != .length }

    /// Whether the profile says another way for a person who speaks, and the service is where it says.
    package var hasLiveWay: Bool {
        saysLiveWay && (url == home || ServiceURL.namesSocket(url.text))
    }

    /// Whether a voice goes over a WebSocket.
    package var isRealtime: Bool {
        ServiceURL.namesSocket(url.text) || hasLiveWay && !says("way")
    }

    /// Whether a voice is sent while it speaks, in this way or the profile's other one.
    package var hearsVoices: Bool { isLive || isRealtime }

    /// Where the token comes from; nil for a service without, or where the profile leaves it open.
    public var tokenSource: SecretSource? { authentication.token?.source }

    /// Whether the service is known by its URL alone.
    package var isPlain: Bool { ownText == nil }

    /// The form of audio of a service that is known by its URL alone: raw, unless the audio has to tell
    /// its rate itself; nil where what is said has forms of its own.
    package var plainCodec: AudioCodec? {
        formats.isEmpty ? (body.kind == .raw ? .pcm : .wav) : nil
    }

    /// Words that were said, without those that nothing asks for any more.
    package func asked(_ said: [String: String]) -> [String: String] {
        said.filter { word in words.contains { $0.name == word.key } }
    }

    /// Whether it says a field, such as `body.key-file`; with `texts`, whether one of these does.
    package func says(_ path: String, in texts: [ProfileText]? = nil) -> Bool {
        let names = path.split(separator: ".").map(String.init)
        let table = names.count == 1 ? table : self.table[names[0]]?.value.table
        guard let member = table?.members.first(where: { $0.name == names.last }) else {
            return false
        }
        return texts?.contains { $0.place == member.place.file } ?? true
    }

    package init(texts: [ProfileText]) throws(SettingsError) {
        let merged = try MergedTexts(texts)
        home = merged.home.map(WordTemplate.init)
        (saysLiveWay, latency) = (merged.saysLiveWay, merged.latency)
        (self.texts, table) = (texts, merged.table)
        var reader = SettingsReader(table)
        _ = try reader.string("extends")
        _ = try reader.table("live")
        _ = try reader.string("latency")
        if try reader.word("way", as: Way.self) == .live, !saysLiveWay {
            throw reader.error("way", ": the service has one way alone")
        }
        title = try reader.string("title") ?? ""
        docs = try reader.string("docs")
        verified = try reader.string("verified")
        guard let url = try reader.string("url") else {
            throw SettingsError(
                "a profile needs a 'url'",
                at: SettingsPosition(line: 1, column: 1, file: texts.first?.place))
        }
        self.url = WordTemplate(url)
        if title.isEmpty { title = name }
        method = try reader.word("method") ?? .post
        query = try ProfileField.read("query", &reader)
        headers = try ProfileField.read("headers", &reader, allowsJSON: true)
        if var inside = try reader.table("words") {
            // `false` takes a word away that another profile has.
            for member in inside.table.members where member.node.value != .flag(false) {
                words.append(try ProfileWord(member.name, &inside))
            }
        }
        body = try Self.section("body", &reader, BodyPlan.init) ?? body
        let formatPlace = reader.place("formats")
        for var format in try reader.tables("formats") ?? [] {
            formats.append(try Self.placed(formatPlace, &format, ProfileFormat.init))
        }
        if merged.said["formats"] == nil {
            for index in formats.indices { formats[index].yield(to: merged.said) }
        }
        transfer = try Self.section("transfer", &reader, TransferSettings.init) ?? transfer
        authentication =
            try Self.section("auth", &reader, AuthenticationPlan.init) ?? authentication
        socket = try Self.section("socket", &reader, SocketMessages.init(_:))
        limits = try Self.section("limits", &reader, ServiceLimits.init) ?? limits
        stretches = try Self.section("stretches", &reader, StretchRules.init) ?? stretches
        connection = try Self.section("connection", &reader, ConnectionSettings.init) ?? connection
        exchange = try Self.section("exchange", &reader, ExchangePlan.init) ?? exchange
        answer = try Self.section("answer", &reader, AnswerRule.init(_:)) ?? answer
        if let (rule, pauses) = try Self.section("retry", &reader, RetryRule.withPauses) {
            (retry, self.pauses) = (rule, pauses)
        }
        try reader.finish()
        try checkWords()
        try checkMarks()
        try checkSecrets()
        try checkSpelling()
        try checkBody()
    }

    /// Checks that the exchange carries such a body.
    private func checkBody() throws(SettingsError) {
        let place = table["body"]?.place
        if case .job = exchange, body.keyFile != nil {
            throw SettingsError(
                "'body.key-file': the requests of a job travel unencrypted", at: place)
        }
        if case .parts = exchange, body.kind != .raw {
            throw SettingsError("'body.kind': parts are of the audio alone", at: place)
        }
        guard socket != nil else { return }
        guard body.kind == .raw, body.keyFile == nil else {
            throw SettingsError("'body': a WebSocket carries the audio alone", at: place)
        }
        guard case .post = exchange else {
            throw SettingsError(
                "'exchange.kind': a WebSocket is an exchange of its own",
                at: table["exchange"]?.place)
        }
    }

    private static func section<Part>(
        _ key: String, _ reader: inout SettingsReader,
        _ read: (inout SettingsReader) throws(SettingsError) -> Part
    ) throws(SettingsError) -> Part? {
        guard var inside = try reader.table(key) else { return nil }
        return try placed(reader.place(key), &inside, read)
    }

    /// Reads a table; what is not there is missed where the table begins.
    private static func placed<Part>(
        _ place: SettingsPosition?, _ reader: inout SettingsReader,
        _ read: (inout SettingsReader) throws(SettingsError) -> Part
    ) throws(SettingsError) -> Part {
        do throws(SettingsError) {
            let part = try read(&reader)
            try reader.finish()
            return part
        } catch {
            throw SettingsError(error.reason, at: error.place ?? place)
        }
    }

    /// Checks that templates use only words that exist, and adds the usual ones.
    private mutating func checkWords() throws(SettingsError) {
        let formatWords = Set(formats.flatMap(\.words.keys))
        for (template, place) in templates {
            // The prompt stands before the text that was heard.
            let names = template.words.map { $0 == ProfileWord.tail ? "prompt" : $0 }
            for name in names where !words.contains(where: { $0.name == name }) {
                if ProfileWord.fixed[name] != nil || formatWords.contains(name) { continue }
                guard ProfileWord.usual.contains(name) else {
                    let near = EditDistance.nearest(
                        to: name, among: words.map(\.name) + ProfileWord.usual)
                    throw SettingsError(
                        "'{\(name)}' is not a word of 'words'"
                            + (near.map { "; did you mean '{\($0)}'?" } ?? ""), at: place)
                }
                words.append(ProfileWord(name: name))
            }
        }
    }

    /// Checks that no URL holds what differs from take to take, as URLs are recorded and compared; and
    /// that no field of the head holds what was said.
    private func checkMarks() throws(SettingsError) {
        let fields = query + formats.flatMap(\.query)
        for name in ["take", ProfileWord.tail] {
            var places = fields.filter { $0.value.words.contains(name) }.map { Optional($0.place) }
            if url.words.contains(name) { places.append(urlPlace) }
            if exchange.urls.contains(where: { WordTemplate($0).words.contains(name) }) {
                places.append(table["exchange"]?.place)
            }
            guard let place = places.first else { continue }
            throw SettingsError("'{\(name)}' cannot stand in a URL", at: place)
        }
        let heads = headers + formats.flatMap(\.headers)
        if let field = heads.first(where: { $0.value.words.contains(ProfileWord.tail) }) {
            throw SettingsError("'{tail}' stands in the body alone", at: field.place)
        }
    }

    /// Checks that a field named like a secret holds only words that are not secret.
    private func checkSecrets() throws(SettingsError) {
        let publicWords = words.filter(\.isPublic).map(\.name)
        for field in allFields where SecretName.isSecret(field.name) {
            let names = field.value.words
            guard names.isEmpty || !names.allSatisfy(publicWords.contains) else { continue }
            throw SettingsError(
                "'\(field.name)' must not hold a secret; secrets belong in 'auth'", at: field.place)
        }
    }

    private var urlPlace: SettingsPosition? { table["url"]?.place }

    private var allFields: [ProfileField] {
        query + headers + body.fields + formats.flatMap { $0.query + $0.headers + $0.fields }
    }

    private var templates: [(template: WordTemplate, place: SettingsPosition?)] {
        var all: [(WordTemplate, SettingsPosition?)] = [(url, urlPlace)]
        all += allFields.map { ($0.value, $0.place) }
        let said = table["body"]?.value.table
        let bodyPlace = said?["template"]?.place ?? said?["content-type"]?.place
        let types = [body.contentType] + formats.map(\.contentType)
        all += types.compactMap(\.self).map { ($0, bodyPlace) }
        // The mark of the audio is not a word.
        let document = body.template.replacing(JSONTemplate.mark, with: "")
        all.append((WordTemplate(document), bodyPlace))
        all += (socket?.texts ?? []).map {
            (WordTemplate($0.replacing(JSONTemplate.mark, with: "")), table["socket"]?.place)
        }
        let others =
            exchange.words.map { ($0, "exchange") } + authentication.words.map { ($0, "auth") }
        return all + others.map { (WordTemplate("{\($0)}"), self.table[$1]?.place) }
    }
}

extension ServiceProfile {
    /// Demands that what has no words in it can be sent as it is: what has some is looked at when
    /// they are said.
    private func checkSpelling() throws(SettingsError) {
        if url.words.isEmpty {
            try placed("'url'", at: urlPlace) { () throws(ServiceError) in
                _ = try ServiceURL(url.text)
            }
        }
        let bodyPlace = table["body"]?.place
        for type in [body.contentType] + formats.map(\.contentType) {
            guard let type, type.words.isEmpty else { continue }
            try placed("'content-type'", at: bodyPlace) { () throws(ServiceError) in
                _ = try HeaderField(name: "Content-Type", value: type.text)
            }
        }
        if body.kind == .form {
            try placed("'body'", at: bodyPlace) { () throws(ServiceError) in
                _ = try AudioForm(
                    fields: body.fields.map { field throws(ServiceError) in
                        try AudioForm.Field(name: field.name, value: field.value.text)
                    }, fileField: body.fileField, fileName: body.fileName)
            }
        }
        for field in headers + formats.flatMap(\.headers) {
            let value = field.value.words.isEmpty && !field.isJSON ? field.value.text : "value"
            try placed("'headers'", at: field.place) { () throws(ServiceError) in
                _ = try HeaderField(name: field.name, value: value)
            }
        }
    }

    private func placed(
        _ name: String, at place: SettingsPosition?, _ read: () throws(ServiceError) -> Void
    ) throws(SettingsError) {
        do throws(ServiceError) {
            try read()
        } catch {
            throw SettingsError("\(name): \(error.description)", at: place)
        }
    }
}
