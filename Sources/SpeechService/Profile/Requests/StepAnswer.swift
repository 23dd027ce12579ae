// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

package struct StepAnswer: Sendable {
    /// Names in lower case.
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    private let json: JSONValue?
    private let fault: AnswerError?

    package init(headers: [(name: String, value: String)], body: [UInt8]) {
        self.headers = headers
        let body = Charset.utf8(body, of: AnswerHead(headers: headers).mediaType)
        self.body = body
        do throws(AnswerError) {
            (json, fault) = (try JSONParser.parse(body), nil)
        } catch {
            (json, fault) = (nil, error)
        }
    }

    func value(at place: ValueCondition.Place) -> JSONValue? { values(at: place).first }

    /// In order.
    func values(at place: ValueCondition.Place) -> [JSONValue] {
        switch place {
        case .path(let path): return json.map { path.values(in: $0) } ?? []
        case .header(let name):
            let name = name.lowercased()
            return headers.filter { $0.name == name }.map { .string($0.value) }
        case .element(let name):
            // A document that was cut off says nothing for sure.
            guard XMLElement.isWhole(body) else { return [] }
            return XMLElement.texts(of: name, in: body).map { .string($0) }
        case .event: return []
        }
    }

    func fulfils(_ condition: ValueCondition) -> Bool {
        condition.holds(of: value(at: condition.place).map { [$0] } ?? [])
    }

    /// The reason to distrust it: a page of something in between, or an error in another form.
    var strangeness: AnswerError? {
        let text = String(decoding: body.prefix(4_096), as: UTF8.self)
        let start = text.drop { $0.isWhitespace }.prefix(256).lowercased()
        // Some stores give that type to XML, and to nothing.
        let isCalledPage = AnswerHead(headers: headers).isWebPage && !body.isEmpty
        let isPage = (isCalledPage || WebPage.isWebPage(start)) && !start.hasPrefix("<?xml")
        if isPage || start.contains("<html") || start.contains("<!doctype html") {
            return .webPage(title: WebPage.firstLine(of: text))
        }
        let isError = json?["error"]?.isSet == true || value(at: .element("Code")) != nil
        return isError
            ? .serviceReported(message: ServiceMessage.extract(from: body) ?? "an error") : nil
    }

    /// Why it says nothing of a job: it is a page, or no JSON that can be read; an empty one may mean
    /// that the job goes on.
    package func oddity(for step: JobStep) -> AnswerError? {
        guard case .path? = step.until?.place, let fault, fault != .empty else { return nil }
        return strangeness ?? fault
    }

    func fault(at place: ValueCondition.Place) -> AnswerError {
        if case .path = place, let fault { return fault }
        return .missingText(
            path: place.text,
            excerpt: TerminalText.shown(String(decoding: body.prefix(200), as: UTF8.self)))
    }
}

extension ValueCondition.Place {
    fileprivate var text: String {
        switch self {
        case .path(let path): path.description
        case .header(let name): "header \(name)"
        case .element(let name): "element \(name)"
        case .event: "event"
        }
    }
}

package enum StepVerdict: Sendable, Equatable {
    case next([String: String])
    case answer
    /// Names the state of a job where that is none that services usually have.
    case again(String?)
    case failed(message: String)
    case unusable(AnswerError)
}

extension JobStep {
    /// In bytes: a URL with a signature in it may be long.
    private static let valueLimit = 8 << 10

    /// States of a job that goes on, in letters alone.
    private static let usualStates: Set<String> = [
        "", "accepted", "created", "inprogress", "inqueue", "new", "notstarted", "pending",
        "preparing", "processing", "queued", "queueing", "received", "running", "scheduled",
        "started", "starting", "submitted", "transcribing", "uploaded", "uploading", "waiting",
    ]

    /// A captured value that is the name of the take is its mark again.
    package func verdict(
        on answer: StepAnswer, isLast: Bool, marking take: String? = nil
    ) -> StepVerdict {
        if let failed, answer.fulfils(failed) {
            let said = message.lazy.compactMap { path in
                answer.value(at: .path(path))?.label.map(TerminalText.shown)
            }.first { !$0.isEmpty }
            return .failed(
                message: said ?? ServiceMessage.extract(from: answer.body)
                    ?? "it does not say which")
        }
        if take != nil, let strangeness = answer.strangeness { return .unusable(strangeness) }
        if let answers, answer.fulfils(answers) { return .answer }
        if let until, !answer.fulfils(until) {
            let state = answer.value(at: until.place)?.string.map(TerminalText.shown)
            let isUsual = Self.usualStates.contains(state?.lowercased().filter(\.isLetter) ?? "")
            return .again(isUsual ? nil : state)
        }
        if isLast { return .answer }
        var values: [String: String] = [:]
        for capture in captures {
            guard let value = answer.value(at: capture.place).flatMap(Self.text) else {
                if capture.isOptional { continue }
                return .unusable(answer.fault(at: capture.place))
            }
            values[capture.name] = value == take ? TakeMark.text : value
        }
        return .next(values)
    }

    /// Reads an answer about several things: a value of each capture for each of them.
    package func rows(of answer: StepAnswer) -> [[String: String]] {
        let columns = captures.map { capture in
            answer.values(at: capture.place).map { (capture.name, Self.text($0)) }
        }
        return (0..<(columns.map(\.count).min() ?? 0)).map { index in
            Dictionary(
                uniqueKeysWithValues: columns.compactMap { column in
                    column[index].1.map { (column[index].0, $0) }
                })
        }
    }

    /// The value as text; nil when it cannot stand in a URL or a field.
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
