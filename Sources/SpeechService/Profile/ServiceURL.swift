// SPDX-License-Identifier: Apache-2.0

/// An absolute `http` or `https` URL (RFC 3986, RFC 9110 §4.2) without user information and
/// fragment.
public struct ServiceURL: Sendable, Hashable {
    /// Who is addressed.
    public let origin: Origin

    /// The path, which begins with a slash, and the query if there is one.
    public let target: String

    /// Reads a URL.
    ///
    /// Only the characters of RFC 3986 are taken: what is not ASCII must be percent-encoded, a
    /// host with other letters written in its `xn--` form. A fragment is dropped.
    ///
    /// - Throws: `ServiceError.invalidURL`; `.userInfoInURL` for `https://name:password@host/`.
    public init(_ text: String) throws(ServiceError) {
        self = try URLReader(text).url()
    }

    init(origin: Origin, target: String) {
        self.origin = origin
        self.target = target
    }

    /// The whole URL, as it is sent to the transfer.
    ///
    /// It may hold secrets in its query; messages use `description`.
    public var text: String { "\(origin)\(target)" }

    /// Whether the host is this machine.
    public var isLoopback: Bool { origin.isLoopback }

    /// The URL that a `Location` field means in an answer from here.
    ///
    /// As RFC 3986 §5 and RFC 9110 §10.2.2 say.
    ///
    /// - Throws: `ServiceError` when it is no URL that can be posted to.
    public func resolving(location: String) throws(ServiceError) -> ServiceURL {
        let reference = location.prefix { $0 != "#" }
        if Self.scheme(of: reference) != nil { return try ServiceURL(String(reference)) }
        if reference.hasPrefix("//") { return try ServiceURL("\(origin.scheme):\(reference)") }
        try URLReader(String(reference)).checkCharacters()
        guard !reference.isEmpty else { return self }
        let basePath = target.prefix { $0 != "?" }
        if reference.hasPrefix("?") {
            return ServiceURL(origin: origin, target: "\(basePath)\(reference)")
        }
        let path = reference.prefix { $0 != "?" }
        let query = reference[path.endIndex...]
        var folder = ""
        if !path.hasPrefix("/"), let slash = basePath.lastIndex(of: "/") {
            folder = String(basePath[...slash])
        }
        return ServiceURL(origin: origin, target: Self.withoutDots(folder + path) + query)
    }

    /// The scheme that the reference begins with (RFC 3986 §3.1), or nil.
    static func scheme(of reference: Substring) -> Substring? {
        let scheme = reference.prefix { $0 != ":" && $0 != "/" && $0 != "?" }
        guard scheme.endIndex < reference.endIndex, reference[scheme.endIndex] == ":",
            scheme.first?.isLetter == true,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return nil }
        return scheme
    }

    /// The path without `.` and `..` (RFC 3986 §5.2.4).
    static func withoutDots(_ path: some StringProtocol) -> String {
        var kept: [Substring] = []
        let segments = Substring(path).split(separator: "/", omittingEmptySubsequences: false)
        for (position, segment) in segments.enumerated().dropFirst() {
            let isLast = position == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return kept.isEmpty ? "/" : kept.reduce(into: "") { $0 += "/\($1)" }
    }

    /// The error for a text, of which neither user information nor query is repeated.
    static func invalid(_ text: String, _ reason: String) -> ServiceError {
        .invalidURL(text: shown(text), reason: reason)
    }

    /// The text fit for a message.
    static func shown(_ text: String) -> String {
        var visible = text.prefix { $0 != "?" && $0 != "#" }
        if let sign = visible.lastIndex(of: "@") {
            // What stands before another colon may be a name.
            let scheme = ["https://", "http://"].first { visible.hasPrefix($0) } ?? ""
            visible = scheme + "…" + visible[sign...]
        }
        return TerminalText.cut(TerminalText.singleLine(TerminalText.sanitized(String(visible))))
    }
}

extension ServiceURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL without its query, in which some services want their token.
    public var description: String {
        let path = target.prefix { $0 != "?" }
        return path.endIndex == target.endIndex ? text : "\(origin)\(path)?…"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The same for `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}
