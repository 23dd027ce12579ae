// SPDX-License-Identifier: Apache-2.0

internal import Settings

package enum EmptyAnswer: String, Sendable, CaseIterable {
    case failure
    case noSpeech = "no-speech"
    /// The service keeps the recording, and recognises nothing.
    case stored
}

extension AnswerRule {
    /// Reads the table `answer` of a service's description.
    ///
    /// Without `select` values are told apart as those of the usual services; with it, as it says,
    /// and failures as usual unless `success` says what is not one.
    init(_ reader: inout SettingsReader) throws(SettingsError) {
        text = AnswerText(lines: TOMLText.lines(of: reader.table, in: "answer").map(\.text))
        headers = try reader.headerTranscripts("header")
        let framing = try reader.word("framing", as: AnswerFraming.self)
        self.framing = framing ?? (headers.isEmpty ? .automatic : .header)
        guard self.framing != .header || !headers.isEmpty else {
            throw SettingsError(
                "'\(reader.path("header"))' is missing: it names the field of the transcript",
                at: reader.place("framing"))
        }
        success = try reader.condition("success")
        noSpeech = try reader.condition("no-speech")
        silence = Set((try reader.strings("silence") ?? []).map { Self.silenceKey($0) })
        silence.remove("")
        empty = try reader.word("empty", as: EmptyAnswer.self) ?? .failure
        errors = try reader.table("errors", as: ErrorPlaces.init(_:)) ?? errors
        values = try ValueRule(
            &reader, isDocument: self.framing == .json, hasSuccess: success != nil)
        if case .table? = reader.node("no-speech-probability")?.value {
            _ = try reader.table("no-speech-probability") { table throws(SettingsError) in
                silencePlaces = try table.paths("path") ?? []
                leastSilence = try table.number("least") ?? leastSilence
            }
        } else {
            silencePlaces = try reader.paths("no-speech-probability") ?? []
        }
    }
}

extension ValueRule {
    fileprivate init(
        _ reader: inout SettingsReader, isDocument: Bool, hasSuccess: Bool
    ) throws(SettingsError) {
        let usual = ValueRule.standard
        let failures = hasSuccess ? [] : usual.failures
        self = ValueRule(
            textPaths: try reader.paths("text") ?? usual.textPaths,
            selectors: isDocument ? failures : usual.selectors,
            unmatched: try reader.word("otherwise"), merge: try reader.word("merge"))
        if hasSuccess { selectors.removeAll { $0.kind == .failure } }
        if let selects = try reader.tables("select") {
            selectors = try selects.map { select throws(SettingsError) in
                var select = select
                let selector = try ValueSelector(&select)
                try select.finish()
                return selector
            }
            selectors += failures
        }
        words = try reader.timedText("words", words)
        segments = try reader.timedText("segments", segments)
        language = try reader.paths("language") ?? language
        confidence = try reader.paths("confidence") ?? confidence
        if case .table? = reader.node("duration")?.value {
            _ = try reader.table("duration") { table throws(SettingsError) in
                duration = try table.paths("path") ?? duration
                durationUnit = try table.number("unit") ?? 1
            }
        } else {
            duration = try reader.paths("duration") ?? duration
        }
        stop = try reader.string("stop", as: JSONPath.init(_:))
        skipped = Set(try reader.strings("skip") ?? [])
    }
}

extension ErrorPlaces {
    fileprivate init(_ reader: inout SettingsReader) throws(SettingsError) {
        let mark = "header:"
        self.init(codes: try reader.paths("code") ?? [])
        _ = try reader.strings("message") { text throws(ServiceError) in
            if text.hasPrefix(mark) {
                messageHeaders.append(text.dropFirst(mark.count).lowercased())
            } else {
                messages.append(try JSONPath(text))
            }
        }
    }
}

extension ValueSelector {
    fileprivate init(_ reader: inout SettingsReader) throws(SettingsError) {
        condition = try ValueCondition(&reader)
        guard let kind = try reader.word("is", as: ValueKind.self) else {
            throw reader.error("is", " is missing: it says what the value is")
        }
        self.kind = kind
        textPaths = try reader.paths("text")
        merge = try reader.word("merge")
        if kind == .final || kind == .last, merge == .append {
            throw reader.error("merge", " of a final is accumulate or replace")
        }
    }
}

extension ValueCondition {
    /// Where to look: `path`, `event`, `header` or `element`; what must be there: `equals` and `one-of`, which
    /// take a value or a list, `prefix`, `set`, `exists`; by default anything.
    init(_ reader: inout SettingsReader) throws(SettingsError) {
        let event = try reader.string("event")
        let path = try reader.string("path", as: JSONPath.init(_:))
        let header = try reader.string("header")
        let element = try reader.string("element")
        var test: Test?
        func only(_ key: String, _ new: Test) throws(SettingsError) {
            guard test == nil else {
                throw reader.error(key, " stands beside another test")
            }
            test = new
        }
        for key in ["equals", "one-of"] {
            guard let node = reader.node(key) else { continue }
            var nodes = [node]
            if case .array(let elements) = node.value { nodes = elements }
            let name = reader.path(key)
            let values = try nodes.map { node throws(SettingsError) in
                try JSONValue(node, at: name)
            }
            try only(key, .oneOf(values))
        }
        if let prefix = try reader.string("prefix") { try only("prefix", .begins(prefix)) }
        if let isSet = try reader.flag("set"), isSet { try only("set", .isSet) }
        if let exists = try reader.flag("exists") {
            try only("exists", exists ? .exists : .isAbsent)
        }
        switch (path, header, event, element) {
        case (let path?, nil, nil, nil): self.init(.path(path), test ?? .exists)
        case (nil, let header?, nil, nil): self.init(.header(header), test ?? .exists)
        case (nil, nil, let event?, nil): self.init(.event, test ?? .equals(.string(event)))
        case (nil, nil, nil, let element?): self.init(.element(element), test ?? .exists)
        default:
            let name = reader.path("path")
            throw SettingsError("'\(name)' is missing, or stands beside another place")
        }
    }
}

extension JSONValue {
    fileprivate init(_ node: SettingsNode, at name: String) throws(SettingsError) {
        switch node.value {
        case .string(let text): self = .string(text)
        case .integer(let number): self = .number(Double(number))
        case .number(let number): self = .number(number)
        case .flag(let flag): self = .bool(flag)
        case .array, .table, .date:
            throw SettingsError(
                "'\(name)' must be a string, a number, true or false, not \(node.value.kind)",
                at: node.place)
        }
    }
}

extension SettingsReader {
    mutating func paths(_ key: String) throws(SettingsError) -> [JSONPath]? {
        try strings(key, as: JSONPath.init(_:))
    }

    mutating func labels(_ key: String) throws(SettingsError) -> [String]? {
        guard let node = node(key) else { return nil }
        let name = path(key)
        guard case .array(let elements) = node.value else {
            throw SettingsError("'\(name)' must be a list, not \(node.value.kind)", at: node.place)
        }
        return try elements.map { element throws(SettingsError) in
            guard let label = try JSONValue(element, at: name).label else {
                throw SettingsError("'\(name)' holds strings and whole numbers", at: element.place)
            }
            return label
        }
    }

    mutating func condition(_ key: String) throws(SettingsError) -> ValueCondition? {
        try table(key, as: ValueCondition.init(_:))
    }

    fileprivate mutating func timedText(
        _ key: String, _ usual: TimedTextRule
    ) throws(SettingsError) -> TimedTextRule {
        var rule = usual
        guard case .table? = node(key)?.value, var table = try table(key) else {
            rule.paths = try paths(key) ?? usual.paths
            return rule
        }
        rule.paths = try table.paths("path") ?? usual.paths
        rule.text = try table.paths("text") ?? usual.text
        rule.start = try table.paths("start") ?? usual.start
        rule.end = try table.paths("end") ?? usual.end
        rule.confidence = try table.paths("confidence") ?? usual.confidence
        rule.speaker = try table.paths("speaker") ?? usual.speaker
        rule.unit = try table.number("unit") ?? usual.unit
        rule.isFinal = try table.paths("final") ?? usual.isFinal
        try table.finish()
        return rule
    }

    fileprivate mutating func headerTranscripts(
        _ key: String
    ) throws(SettingsError) -> [HeaderTranscript] {
        let place = place(key)
        guard case .array? = node(key)?.value else {
            guard var table = try table(key) else { return [] }
            return [try Self.headerTranscript(&table, at: place)]
        }
        return try (tables(key) ?? []).map { table throws(SettingsError) in
            var table = table
            return try Self.headerTranscript(&table, at: place)
        }
    }

    private static func headerTranscript(
        _ table: inout SettingsReader, at tablePlace: SettingsPosition?
    ) throws(SettingsError) -> HeaderTranscript {
        guard let name = try table.string("name") else {
            throw SettingsError("'\(table.path("name"))' is missing", at: tablePlace)
        }
        let coding = try (table.strings("coding") ?? []).map { word throws(SettingsError) in
            guard let coding = HeaderTranscript.Coding(rawValue: word) else {
                let known = HeaderTranscript.Coding.allCases.map(\.rawValue)
                throw table.error(
                    "coding", " must be \(known.joined(separator: " or ")), not '\(word)'")
            }
            return coding
        }
        try table.finish()
        return HeaderTranscript(name: name, coding: coding)
    }
}
