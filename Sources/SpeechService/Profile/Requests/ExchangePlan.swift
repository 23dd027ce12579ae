// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Settings

package enum ExchangePlan: Sendable, Hashable {
    /// With so many requests at once, where there is more than one.
    case post(parallel: Int = 2)
    case job(JobPlan)
    /// `largest` is in bytes of one request.
    case upload(UploadProtocol, largest: Int? = nil)
    case parts(PartsPlan)

    package enum Kind: String, CaseIterable { case post, job, resumable, tus, parts }

    init(_ reader: inout SettingsReader) throws(SettingsError) {
        switch try reader.word("kind", as: Kind.self) ?? .post {
        case .post: self = .post(parallel: try PartsPlan.parallel(&reader) ?? 2)
        case .job: self = .job(try JobPlan(&reader))
        case .resumable: self = .upload(.resumable, largest: try PartsPlan.largest(&reader))
        case .tus: self = .upload(.tus, largest: try PartsPlan.largest(&reader))
        case .parts: self = .parts(try PartsPlan(&reader))
        }
    }

    var words: [String] {
        switch self {
        case .post, .upload: []
        case .job(let plan): plan.words
        case .parts(let plan): plan.words
        }
    }

    var urls: [String] {
        switch self {
        case .post, .upload: []
        case .job(let plan): plan.steps.compactMap(\.url)
        case .parts(let plan): plan.steps.compactMap(\.url)
        }
    }
}

/// How a recording goes on where it was, after its connection broke.
package enum UploadProtocol: String, Sendable, Hashable {
    /// Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload, interop version 8).
    case resumable
    /// tus 1.0 with creation and, while the speaker speaks, creation-defer-length.
    case tus
}

extension JobPlan {
    init(_ reader: inout SettingsReader) throws(SettingsError) {
        if let time = try reader.seconds("seconds", upTo: 86_400, allowsZero: true) { limit = time }
        origins = try reader.strings("origins", as: Origin.init(_:)) ?? []
        steps = []
        for var step in try reader.tables("steps") ?? [] {
            steps.append(try JobStep(&step, number: steps.count + 1))
            try step.finish()
        }
        guard !steps.isEmpty else {
            throw SettingsError("'\(reader.path("steps"))': a job has at least one step")
        }
        let count = steps.count { $0.content == .recording }
        guard count == 1 else {
            throw reader.error("steps", ": one step has the body 'recording', not \(count)")
        }
        guard Set(steps.map(\.name)).count == steps.count else {
            throw reader.error("steps", ": two steps have the same name")
        }
    }
}

extension JobStep {
    private enum Body: String, CaseIterable { case none, recording }

    init(
        _ reader: inout SettingsReader, number: Int, method usual: StepMethod? = nil
    ) throws(SettingsError) {
        name = try reader.string("name") ?? "\(number)"
        url = try reader.string("url")
        headers = try (reader.texts("headers") ?? []).map { HeaderTemplate($0) }
        if try reader.word("body", as: Body.self) == .recording { content = .recording }
        if let text = try reader.string("json") {
            guard content == .none else {
                throw reader.error("json", ": this step sends the recording")
            }
            try WordJSON.check(text, path: reader.path("json"), at: reader.place("json"))
            content = .json(text)
        }
        if let text = try reader.string("text") {
            guard content == .none else {
                throw reader.error("text", ": this step sends something else")
            }
            content = .text(text)
        }
        let isAsking = content == .none
        method = try reader.word("method") ?? usual ?? (isAsking ? .get : .post)
        for capture in try reader.texts("capture") ?? [] {
            captures.append(try Capture(capture, reader.path("capture")))
        }
        pendingStatuses = try reader.integers("pending-statuses") ?? []
        until = try reader.condition("until")
        failed = try reader.condition("failed")
        answers = try reader.condition("answers")
        message = try reader.paths("message") ?? []
        let isPoll = until != nil || !pendingStatuses.isEmpty
        pause =
            try reader.seconds("seconds", upTo: 3_600, allowsZero: true)
            ?? .seconds(isPoll ? 1 : 0)
        longestPause =
            try reader.seconds("longest-seconds", upTo: 3_600, allowsZero: true) ?? .seconds(10)
        if ownOrigin == nil, let originText {
            throw reader.error("url", ": '\(TerminalText.shown(originText))' is not an origin")
        }
    }
}

extension JobStep.Capture {
    private static let headerMark = "header:"
    private static let elementMark = "xml:"
    private static let optionalMark = "?"

    fileprivate init(
        _ member: (name: String, value: String, place: SettingsPosition), _ table: String
    ) throws(SettingsError) {
        name = member.name
        guard WordTemplate.isName(name) else {
            throw SettingsError("'\(table).\(name)' is not a word", at: member.place)
        }
        isOptional = member.value.hasSuffix(Self.optionalMark)
        let text = isOptional ? String(member.value.dropLast()) : member.value
        if text.hasPrefix(Self.headerMark) {
            place = .header(text.dropFirst(Self.headerMark.count).lowercased())
            return
        }
        if text.hasPrefix(Self.elementMark) {
            place = .element(String(text.dropFirst(Self.elementMark.count)))
            return
        }
        do throws(ServiceError) {
            place = .path(try JSONPath(text))
        } catch {
            throw SettingsError("'\(table).\(name)': \(error.description)", at: member.place)
        }
    }
}
