// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// A header field of the request, checked so that it cannot carry another one (RFC 9110 §5).
public struct HeaderField: Sendable, Hashable {
    /// As written; compared without regard to case.
    package let name: String
    /// Without outer white space; may be a secret, see `description`.
    package let value: String

    /// Fields of framing and connection, which libcurl or our own code sets.
    private static let reserved: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade",
    ]

    /// All other values may hold a token and are not shown.
    private static let harmless: Set<String> = [
        "accept", "accept-encoding", "accept-language", "content-language", "content-type",
        "user-agent", "x-speech-content",
    ]

    /// Creates a field.
    ///
    /// - Throws: `ServiceError.invalidHeader` when the name is not a token (RFC 9110 §5.1) or one
    ///   of the sender's own fields, or when the value holds CR, LF, NUL or another control.
    public init(name: String, value: String) throws(ServiceError) {
        guard Self.isToken(name) else {
            throw Self.invalid(name, "a name is made of letters, digits and !#$%&'*+-.^_`|~")
        }
        guard !Self.reserved.contains(name.lowercased()) else {
            throw Self.invalid(name, "utter sets it itself")
        }
        guard let value = Self.fieldValue(value) else {
            throw Self.invalid(name, "its value holds a control character")
        }
        self.name = name
        self.value = value
    }

    /// Reads a line such as `X-Language: en`.
    ///
    /// - Throws: `ServiceError.invalidHeader`, which never repeats the value.
    package init(line: String) throws(ServiceError) {
        guard let colon = line.firstIndex(of: ":") else {
            throw Self.invalid(Self.beginning(of: line), "there is no ':' between name and value")
        }
        try self.init(
            name: String(line[..<colon]), value: String(line[line.index(after: colon)...]))
    }

    /// Reads one field a line; lines without text and those that begin with `#` are left out.
    static func fields(in text: String) throws(ServiceError) -> [HeaderField] {
        try text.split(whereSeparator: \.isNewline)
            .filter { !$0.allSatisfy(\.isWhitespace) && !$0.hasPrefix("#") }
            .map { line throws(ServiceError) in try HeaderField(line: String(line)) }
    }

    /// For fields of our own, which need no check.
    init(checkedName: String, value: String) {
        name = checkedName
        self.value = value
    }

    package func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }

    /// A token of RFC 9110 §5.6.2.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    /// Without outer spaces and tabs; nil when it contains a control (RFC 9110 §5.5).
    static func fieldValue(_ text: String) -> String? {
        let bytes = Array(text.utf8).trimmed { $0 == 0x20 || $0 == 0x09 }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The first word, or the beginning of the only one, which may be a secret.
    private static func beginning(of line: String) -> String {
        let word = line.prefix { $0 != " " && $0 != "\t" && $0 != "=" }
        let shown = word.count < line.count ? word : word.prefix(4)
        return shown.count < line.count ? "\(shown)…" : String(shown)
    }

    private static func invalid(_ name: String, _ reason: String) -> ServiceError {
        .invalidHeader(name: TerminalText.shown(name), reason: reason)
    }
}

extension HeaderField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The field as it is written, with its value redacted unless it is known to be harmless.
    public var description: String {
        Self.harmless.contains(name.lowercased()) ? "\(name): \(value)" : "\(name): redacted"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The same for `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["field": description]) }
}

extension [UInt8] {
    func trimmed(_ isBlank: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        var rest = drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }
}
