// SPDX-License-Identifier: Apache-2.0

extension Cassette.Request {
    /// Lists how a request differs from this one, each difference as a line for a person.
    ///
    /// Compared are the method, the path, the query, the type of the body, and each field in which a
    /// secret stood: it must be there, written in the same way. Names of other fields, their values
    /// and the body's bytes are the client's own. The target is the path and the query.
    package func differences(
        method: String, target: String, headers: [CassetteField]
    ) -> [String] {
        var lines: [String] = []
        if method != self.method {
            lines.append("the method is \(method), not \(self.method)")
        }
        let (path, query) = Self.parts(of: target)
        let (expectedPath, expectedQuery) = Self.parts(of: self.target)
        if path != expectedPath { lines.append("the path is \(path), not \(expectedPath)") }
        for name in Set(query.keys).union(expectedQuery.keys).sorted() {
            switch (query[name], expectedQuery[name]) {
            case (let value?, let expected?) where Self.matches(value, expected): break
            case (let value?, let expected?):
                lines.append("the query's \(name) is '\(value)', not '\(expected)'")
            case (_?, nil): lines.append("the query has \(name)")
            default: lines.append("the query lacks \(name)")
            }
        }
        let type = Self.mediaType(headers.value(of: "content-type"))
        let expectedType = Self.mediaType(self.headers.value(of: "content-type"))
        if let expectedType, type != expectedType {
            lines.append("the Content-Type is \(type ?? "missing"), not \(expectedType)")
        }
        for field in self.headers where field.value.contains(Cassette.secret) {
            guard let value = headers.value(of: field.name) else {
                lines.append("the field \(field.name) is missing")
                continue
            }
            if !Self.matches(value, field.value) {
                lines.append("the field \(field.name) is not written as '\(field.value)'")
            }
        }
        return lines
    }

    package var target: String {
        let rest = url[targetStart...]
        return rest.hasPrefix("/") ? String(rest) : "/" + rest
    }

    /// Scheme, host and port.
    package var origin: String { String(url[..<targetStart]) }

    private var targetStart: String.Index {
        guard let scheme = url.firstRange(of: "://") else { return url.startIndex }
        return url[scheme.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
    }

    /// The path, and the values by parameter; several of one name are joined.
    private static func parts(of target: String) -> (String, [String: String]) {
        let pieces = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var query: [String: String] = [:]
        if pieces.count > 1 {
            for parameter in pieces[1].split(separator: "&") {
                let sides = parameter.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let (name, value) = (String(sides[0]), sides.count > 1 ? String(sides[1]) : "")
                query[name] = query[name].map { "\($0)&\(value)" } ?? value
            }
        }
        return (String(pieces[0]), query)
    }

    /// Without parameters, such as a form's boundary.
    private static func mediaType(_ value: String?) -> String? {
        value.map { String($0.prefix { $0 != ";" }).filter { $0 != " " }.lowercased() }
    }

    /// A mark in the pattern stands for any text of at least one character.
    package static func matches(_ text: String, _ pattern: String) -> Bool {
        var pieces = pattern.split(separator: Cassette.secret, omittingEmptySubsequences: false)
        guard pieces.count > 1 else { return text == pattern }
        let (first, last) = (pieces.removeFirst(), pieces.removeLast())
        guard text.hasPrefix(first), text.hasSuffix(last),
            text.count > first.count + last.count
        else { return false }
        var rest = text.dropFirst(first.count).dropLast(last.count)
        for piece in pieces {
            guard let range = rest.firstRange(of: piece) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}
