// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// An absolute `http` or `https` URL (RFC 3986, RFC 9110 §4.2) without user information and
/// fragment.
public struct ServiceURL: Sendable, Hashable {
    package let origin: Origin

    /// The path, which begins with a slash, and the query if there is one.
    package let target: String

    /// Reads a URL.
    ///
    /// A host with other letters than those of ASCII gets its `xn--` form, and such letters in the
    /// path and the query are percent-encoded. A fragment is dropped.
    ///
    /// - Throws: `ServiceError.invalidURL`; `.userInfoInURL` for `https://name:password@host/`.
    public init(_ text: String) throws(ServiceError) {
        try self.init(text, from: nil)
    }

    private init(_ text: String, from base: ServiceURL?) throws(ServiceError) {
        do throws(URLParser.Failure) {
            let parser = try URLParser()
            if let base { try parser.read(base.text) }
            try parser.read(text)
            let scheme = try parser.scheme()
            guard scheme != "ws", scheme != "wss" else {
                throw .invalid("utter speaks HTTP, not WebSocket")
            }
            guard scheme == "http" || scheme == "https" else {
                throw .invalid("it must begin with http:// or https://")
            }
            origin = Origin(scheme: scheme, host: try parser.host(), port: try parser.port())
            target = try parser.target()
        } catch {
            switch error {
            case .userInfo: throw .userInfoInURL(text: Self.shown(text))
            case .invalid(let reason): throw Self.invalid(text, reason)
            }
        }
    }

    init(origin: Origin, target: String) {
        self.origin = origin
        self.target = target
    }

    /// The whole URL, as it is sent to the transfer.
    ///
    /// It may hold secrets in its query; messages use `description`.
    package var text: String { "\(origin)\(target)" }

    package var isLoopback: Bool { origin.isLoopback }

    /// The URL that a `Location` field means in an answer from here.
    ///
    /// As RFC 3986 §5 and RFC 9110 §10.2.2 say.
    package func resolving(location: String) throws(ServiceError) -> ServiceURL {
        // A reference to the same document; libcurl takes it for one to the folder.
        if location.isEmpty || location.hasPrefix("#") { return self }
        return try ServiceURL(location, from: self)
    }

    /// The URL at another place: where `other` names an origin alone the path stays, and where it has no
    /// query, the query stays.
    package func moved(to other: ServiceURL) -> ServiceURL {
        if other.target == "/" { return ServiceURL(origin: other.origin, target: target) }
        guard !other.target.contains("?") else { return other }
        let query = target.drop { $0 != "?" }
        return ServiceURL(origin: other.origin, target: other.target + query)
    }

    /// The error for a text, of which neither user information nor query is repeated.
    static func invalid(_ text: String, _ reason: String) -> ServiceError {
        .invalidURL(text: shown(text), reason: reason)
    }

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
