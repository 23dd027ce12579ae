// SPDX-License-Identifier: Apache-2.0

internal import Cassettes
internal import SpeechService

/// Takes the secrets of one exchange out of its cassette.
///
/// Secrets are those of the service's profile, and what stands in a field, parameter, cookie or
/// JSON member with the name of a secret, such as fetched tokens.
struct CassetteScrubber {
    private static let framing: Set<String> = [
        "connection", "content-encoding", "content-length", "expect", "host", "keep-alive",
        "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
        "sec-websocket-accept", "sec-websocket-key", "sec-websocket-version",
        "transfer-encoding", "upgrade",
    ]

    /// A shorter value is probably a word of the answer.
    private static let shortest = 4
    /// A JSON string that is shorter, or has a space, is not a token, whatever its name.
    private static let shortestMember = 16
    /// ASCII, as a client may need.
    private static let member = "redacted"

    /// They stand before a token and are no part of it.
    private static let schemes: Set<String> = ["api-key", "basic", "bearer", "token"]

    private let redaction: Redaction
    /// Secrets of the service's profile only.
    private let known: Redaction

    init(
        _ service: RecognitionService, head: String,
        _ answer: [(name: String, value: String)], url: String
    ) {
        var found: [String] = []
        let fields = Self.fields(of: head).map { (name: $0.name, value: $0.value) } + answer
        for field in fields where SecretName.isSecret(field.name) {
            // A cookie has a secret in each value; any other field behind the scheme.
            let parts = field.value.split { $0 == ";" || $0 == "," }.map { part in
                part.drop { $0 != "=" }.dropFirst()
            }
            let isCookie = field.name.lowercased().hasSuffix("cookie")
            found += isCookie ? parts.map(String.init) : [String(Self.token(of: field.value))]
        }
        for range in Self.secretParameters(in: url) {
            found.append(String(url[range]))
            found.append(Self.decoded(url[range]))
        }
        known = service.redaction
        redaction = Redaction(
            service.credentials.flatMap(\.secrets)
                + found.filter { $0.utf8.count >= Self.shortest })
    }

    func clean(url: String) -> String {
        var rest = ""
        var end = url.startIndex
        for range in Self.secretParameters(in: url) {
            rest += url[end..<range.lowerBound] + Cassette.secret
            end = range.upperBound
        }
        return redaction.redacted(rest + url[end...])
    }

    func clean(requestHead head: String) -> [CassetteField] {
        Self.fields(of: head).filter { !Self.framing.contains($0.name.lowercased()) }.map(clean)
    }

    func clean(responseHeaders fields: [(name: String, value: String)]) -> [CassetteField] {
        fields.map { CassetteField($0.name, $0.value) }
            .filter { !Self.framing.contains($0.name.lowercased()) }.map(clean)
    }

    private func clean(_ field: CassetteField) -> CassetteField {
        guard SecretName.isSecret(field.name) else {
            return CassetteField(field.name, clean(url: field.value))
        }
        guard !field.name.lowercased().hasSuffix("cookie") else {
            return CassetteField(field.name, Cassette.secret)
        }
        // A known secret leaves the way in which it is written, such as `Token …`.
        let value = known.redacted(field.value)
        if value != field.value { return CassetteField(field.name, redaction.redacted(value)) }
        let words = field.value.split(separator: " ")
        let scheme = words.count == 2 && Self.schemes.contains(words[0].lowercased())
        return CassetteField(
            field.name, scheme ? "\(words[0]) \(Cassette.secret)" : Cassette.secret)
    }

    /// A piece that ends inside a secret holds nothing of it.
    func clean(_ pieces: [CassettePiece], member: String = Self.member) -> [CassettePiece] {
        let bytes = pieces.flatMap(\.bytes)
        var cuts = redaction.ranges(in: bytes).map { (range: $0, text: Redaction.mark) }
        for range in Self.secretMembers(in: bytes)
        where !cuts.contains(where: { $0.range.overlaps(range) }) {
            cuts.append((range, member))
        }
        cuts.sort { $0.range.lowerBound < $1.range.lowerBound }
        var start = 0
        return pieces.map { piece in
            let extent = start..<start + piece.bytes.count
            start = extent.upperBound
            var clean = piece
            clean.bytes = []
            var position = extent.lowerBound
            for cut in cuts where cut.range.overlaps(extent) {
                clean.bytes += bytes[position..<max(position, cut.range.lowerBound)]
                if extent.contains(cut.range.lowerBound) { clean.bytes += Array(cut.text.utf8) }
                position = min(cut.range.upperBound, extent.upperBound)
            }
            clean.bytes += bytes[position..<extent.upperBound]
            return clean
        }
    }

    /// In a replay the mark of a secret matches any text.
    func clean(_ messages: [String]) -> [String] {
        clean(messages.map { CassettePiece(Array($0.utf8)) }, member: Cassette.secret).map {
            String(decoding: $0.bytes, as: UTF8.self)
        }
    }

    // MARK: - Finding

    private static func token(of value: String) -> Substring {
        value.lastIndex(of: " ").map { value[$0...].dropFirst() } ?? value[...]
    }

    private static func fields(of head: String) -> [CassetteField] {
        head.split(whereSeparator: \.isNewline).dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return CassetteField(String(line[..<colon]), String(value))
        }
    }

    private static func secretParameters(in url: String) -> [Range<String.Index>] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        let query = url[url.index(after: mark)...].prefix { $0 != "#" }
        return query.split(separator: "&").compactMap { parameter in
            guard let sign = parameter.firstIndex(of: "="),
                SecretName.isSecret(decoded(parameter[..<sign]))
            else { return nil }
            let range = parameter.index(after: sign)..<parameter.endIndex
            return range.isEmpty ? nil : range
        }
    }

    /// RFC 3986 §2.1.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count > 1,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Tokens in JSON, by their members' names and their looks.
    private static func secretMembers(in bytes: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var strings: [Range<Int>] = []
        var index = 0
        while let quote = bytes[index...].firstIndex(of: UInt8(ascii: "\"")) {
            var end = quote + 1
            while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
                end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
            }
            end = min(end, bytes.count)
            let inside = quote + 1..<end
            if let name = strings.last, inside.count >= shortestMember,
                isColon(bytes[(name.upperBound + 1)..<quote]), !bytes[inside].contains(0x20),
                SecretName.isSecret(String(decoding: bytes[name], as: UTF8.self))
            {
                ranges.append(inside)
            }
            strings = [inside]
            index = min(end + 1, bytes.count)
        }
        return ranges
    }

    private static func isColon(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.filter { $0 > 0x20 } == [UInt8(ascii: ":")]
    }
}
