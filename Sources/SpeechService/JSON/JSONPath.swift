// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// A place in a JSON value: names joined by dots, `[n]` for one element, `[]` for all of them.
///
/// `results[].alternatives[0].transcript` is the transcript of the first alternative of each
/// result, joined by a space. A dot at the start is allowed; a dot alone is the value itself.
package struct JSONPath: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        case name(String)
        case element(Int)
        case all
    }

    let steps: [Step]

    /// For paths of our own: names, and the numbers of elements, with dots between them.
    init(dotted text: String) {
        steps = text.split(separator: ".").map { part in
            Int(part).map(Step.element) ?? .name(String(part))
        }
    }

    init(_ text: String) throws(ServiceError) {
        var reader = JSONPathReader(text)
        steps = try reader.steps()
    }

    /// In order; only `[]` yields several.
    func values(in value: JSONValue) -> [JSONValue] {
        var values = [value]
        for step in steps {
            switch step {
            case .name(let name): values = values.compactMap { $0[name] }
            case .element(let index): values = values.compactMap { $0[index] }
            case .all: values = values.flatMap { $0.elements ?? [] }
            }
        }
        return values
    }

    /// The strings at this place, each without outer white space, joined by a space.
    ///
    /// - Returns: nil when there is no string; the empty text when `[]` stands for an array without
    ///   elements, which is how services say that there was no speech.
    func text(in value: JSONValue) -> String? {
        let texts = values(in: value).compactMap(\.string)
        if texts.isEmpty { return namesEmptyArray(in: value) ? "" : nil }
        if texts.count == 1 { return texts[0] }
        // Some services end each piece with a space of its own.
        return texts.map(TerminalText.singleLine).filter { !$0.isEmpty }.joined(separator: " ")
    }

    func member(_ name: String) -> JSONPath { JSONPath(steps: steps + [.name(name)]) }

    func element(_ index: Int) -> JSONPath { JSONPath(steps: steps + [.element(index)]) }

    private func namesEmptyArray(in value: JSONValue) -> Bool {
        guard let position = steps.firstIndex(of: .all) else { return false }
        return JSONPath(steps: Array(steps[..<position])).values(in: value).contains(.array([]))
    }

    init(steps: [Step]) {
        self.steps = steps
    }
}

extension JSONPath: CustomStringConvertible {
    package var description: String {
        var text = ""
        for step in steps {
            switch step {
            case .name(let name): text += text.isEmpty ? name : ".\(name)"
            case .element(let index): text += "[\(index)]"
            case .all: text += "[]"
            }
        }
        return text.isEmpty ? "." : text
    }
}

private struct JSONPathReader {
    private let text: String
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
    }

    mutating func steps() throws(ServiceError) -> [JSONPath.Step] {
        guard bytes != [UInt8(ascii: ".")] else { return [] }
        guard !bytes.isEmpty else { throw error("it is empty") }
        var steps: [JSONPath.Step] = []
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "["): steps.append(try element())
            case UInt8(ascii: "."):
                index += 1
                steps.append(try name())
            default:
                guard steps.isEmpty else { throw error("a dot or '[' must follow") }
                steps.append(try name())
            }
        }
        return steps
    }

    private mutating func name() throws(ServiceError) -> JSONPath.Step {
        let start = index
        while index < bytes.count, bytes[index] != UInt8(ascii: "."),
            bytes[index] != UInt8(ascii: "[")
        {
            guard bytes[index] != UInt8(ascii: "]") else { throw error("']' without '['") }
            index += 1
        }
        guard index > start else { throw error("a name is missing") }
        return .name(String(decoding: bytes[start..<index], as: UTF8.self))
    }

    private mutating func element() throws(ServiceError) -> JSONPath.Step {
        index += 1
        let start = index
        while index < bytes.count, bytes[index] != UInt8(ascii: "]") {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) else {
                throw error("only digits may stand in brackets")
            }
            index += 1
        }
        guard index < bytes.count else { throw error("']' is missing") }
        let digits = String(decoding: bytes[start..<index], as: UTF8.self)
        index += 1
        if digits.isEmpty { return .all }
        guard let number = Int(digits) else {
            index = start
            throw error("the number is too large")
        }
        return .element(number)
    }

    private func error(_ reason: String) -> ServiceError {
        let shown = TerminalText.cut(TerminalText.sanitized(text))
        return .invalidPath(text: shown, offset: index, reason: reason)
    }
}

extension JSONPath {
    /// Names of members with a transcript, in known services.
    private static let usualNames: Set<String> = [
        "text", "transcript", "transcription", "display", "displaytext", "utterance", "result",
        "sentence", "lexical", "content",
    ]
    /// Arrays of several readings of the same words.
    private static let alternatives: Set<String> = [
        "alternatives", "alternative", "hypotheses", "nbest", "n_best", "candidates",
    ]
    private static let valueLimit = 10_000
    private static let placeLimit = 100

    /// The places in a value at which there is text that may be a transcript, the likeliest first.
    ///
    /// Text has words, or stands in a member whose name says so. Where several elements of an array
    /// have text at the same place, and are not readings of the same words, the path names them
    /// all.
    static func placesOfText(in value: JSONValue) -> [JSONPath] {
        var found: [(path: JSONPath, rank: Int)] = []
        var left = valueLimit
        search(value, at: JSONPath(steps: []), isUsual: false, &left, &found)
        return found.enumerated().sorted { one, two in
            one.element.rank == two.element.rank
                ? one.offset < two.offset : one.element.rank > two.element.rank
        }.prefix(placeLimit).map(\.element.path)
    }

    private static func search(
        _ value: JSONValue, at path: JSONPath, isUsual: Bool, _ left: inout Int,
        _ found: inout [(path: JSONPath, rank: Int)]
    ) {
        guard left > 0 else { return }
        left -= 1
        switch value {
        case .string(let text):
            let words = text.split(whereSeparator: \.isWhitespace).count
            if isUsual, !text.isEmpty {
                found.append((path, 2))
            } else if words > 1 {
                found.append((path, 1))
            }
        case .array(let elements):
            guard let first = elements.first else { return }
            let known = found.count
            search(first, at: path.element(0), isUsual: isUsual, &left, &found)
            if case .name(let name)? = path.steps.last, alternatives.contains(name.lowercased()) {
                return
            }
            for index in found[known...].indices {
                let rest = JSONPath(
                    steps: Array(found[index].path.steps[(path.steps.count + 1)...]))
                let isElsewhere = elements.dropFirst().contains {
                    rest.values(in: $0).contains { $0.string?.isEmpty == false }
                }
                guard isElsewhere else { continue }
                found[index].path = JSONPath(steps: path.steps + [.all] + rest.steps)
            }
        case .object(let members):
            for member in members {
                search(
                    member.value, at: path.member(member.name),
                    isUsual: usualNames.contains(member.name.lowercased()), &left, &found)
            }
        case .null, .bool, .number: return
        }
    }
}
