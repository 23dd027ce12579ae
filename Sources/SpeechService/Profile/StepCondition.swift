// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// What must be true of an answer.
package struct StepCondition: Sendable, Hashable {
    /// Where in an answer something stands.
    package enum Place: Sendable, Hashable {
        /// In its JSON.
        case path(JSONPath)
        /// In a field of its head, with this name in lower case.
        case header(String)
    }

    /// What must be true of what stands there.
    package enum Test: Sendable, Hashable {
        /// It is there, and not null.
        case exists
        /// It is one of these.
        case equals([JSONValue])
        /// It begins so.
        case begins(String)
    }

    /// Where to look.
    package var place: Place
    /// What must be true there.
    package var test = Test.exists

    /// Reads a table with `path` or `header`, and `equals` or `begins`.
    ///
    /// - Throws: `SettingsError` where it is wrong.
    init(_ reader: inout SettingsReader) throws(SettingsError) {
        let path = try reader.jsonPath("path")
        let header = try reader.string("header")
        switch (path, header) {
        case (let path?, nil): place = .path(path)
        case (nil, let name?): place = .header(name.lowercased())
        default: throw SettingsError("'\(reader.path("path"))' or a 'header' must be there")
        }
        let start = try reader.string("begins")
        if let node = reader.node("equals") {
            let nodes: [SettingsNode]
            if case .array(let elements) = node.value { nodes = elements } else { nodes = [node] }
            test = .equals(
                try nodes.map { node throws(SettingsError) in
                    switch node.value {
                    case .string(let text): .string(text)
                    case .integer(let number): .number(Double(number))
                    case .number(let number): .number(number)
                    case .flag(let flag): .bool(flag)
                    case .array, .table, .date:
                        throw SettingsError(
                            "'\(reader.path("equals"))' cannot be \(node.value.kind)",
                            at: node.place)
                    }
                })
        } else if let start {
            test = .begins(start)
        }
        try reader.finish()
    }

    /// Whether it holds of an answer.
    func holds(of answer: StepAnswer) -> Bool {
        guard let found = answer.value(at: place), found != .null else { return false }
        switch test {
        case .exists: return true
        case .equals(let wanted): return wanted.contains(found)
        case .begins(let start): return found.string?.hasPrefix(start) ?? false
        }
    }
}

/// The answer to a step, with a good status.
package struct StepAnswer: Sendable {
    /// The fields of its head, names in lower case.
    package var headers: [(name: String, value: String)]
    /// Its body.
    package var body: [UInt8]
    /// Its JSON; nil when it is none.
    private let json: JSONValue?
    /// Why it is none.
    private let fault: AnswerError?

    /// Takes an answer in.
    package init(headers: [(name: String, value: String)], body: [UInt8]) {
        self.headers = headers
        self.body = body
        do throws(AnswerError) {
            (json, fault) = (try JSONParser.parse(body), nil)
        } catch {
            (json, fault) = (nil, error)
        }
    }

    /// What stands at a place; nil when nothing does.
    func value(at place: StepCondition.Place) -> JSONValue? {
        switch place {
        case .path(let path): json.flatMap { path.values(in: $0).first }
        case .header(let name): headers.first { $0.name == name }.map { .string($0.value) }
        }
    }

    /// Why there is nothing at a place.
    func fault(at place: StepCondition.Place) -> AnswerError {
        if case .path = place, let fault { return fault }
        return .missingText(
            path: place.description,
            excerpt: TerminalText.shown(String(decoding: body.prefix(200), as: UTF8.self)))
    }
}

extension StepCondition.Place: CustomStringConvertible {
    /// The path, or the name of the field.
    package var description: String {
        switch self {
        case .path(let path): path.description
        case .header(let name): "header \(name)"
        }
    }
}

/// What follows the answer to a step.
package enum StepVerdict: Sendable, Equatable {
    /// The next step, with what was captured.
    case next([String: String])
    /// The answer is the transcript.
    case answer
    /// The same step once more.
    case again
    /// The service says that the job has failed.
    case failed(message: String)
    /// The answer lacks what it must have.
    case unusable(AnswerError)
}

extension JobStep {
    /// The most bytes of a value: a URL with a signature in it may be long.
    private static let valueLimit = 8 << 10

    /// Judges an answer with a good status.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - isLast: whether no step follows this one.
    /// - Returns: what follows.
    package func verdict(on answer: StepAnswer, isLast: Bool) -> StepVerdict {
        if let failed, failed.holds(of: answer) {
            let said = message.lazy.compactMap { path in
                answer.value(at: .path(path))?.string.map(TerminalText.shown)
            }.first { !$0.isEmpty }
            return .failed(
                message: said ?? ServiceMessage.extract(from: answer.body)
                    ?? "it does not say which")
        }
        if let answers, answers.holds(of: answer) { return .answer }
        if let until, !until.holds(of: answer) { return .again }
        if isLast { return .answer }
        var values: [String: String] = [:]
        for capture in captures {
            guard let value = answer.value(at: capture.place).flatMap(Self.text) else {
                return .unusable(answer.fault(at: capture.place))
            }
            values[capture.name] = value
        }
        return .next(values)
    }

    /// A value that can stand in a URL or a field; nil for others.
    private static func text(_ value: JSONValue) -> String? {
        let text: String
        switch value {
        case .string(let string): text = string
        case .number(let number):
            text = Int(exactly: number).map(String.init) ?? String(number)
        case .null, .bool, .array, .object: return nil
        }
        let isFit =
            !text.isEmpty && text.utf8.count <= valueLimit && text != "." && text != ".."
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        return isFit ? text : nil
    }
}
