// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// An absolute `http`, `https`, `ws` or `wss` URL (RFC 3986, RFC 9110 §4.2, RFC 6455 §3) without user
/// information and fragment; `unix:PATH`, a WebSocket over a Unix socket; or `tcp://HOST`, Wyoming's own
/// protocol.
public struct ServiceURL: Sendable, Hashable {
    package let origin: Origin

    /// The path, with its leading slash, and the query; "/" for a Unix socket, of which a profile says it.
    package let target: String

    /// A WebSocket is spoken there; its origin is that of HTTP at the same host and port.
    package let isSocket: Bool

    /// Reads a URL.
    ///
    /// A host with other letters than those of ASCII gets its `xn--` form, and such letters in the
    /// path and the query are percent-encoded. A fragment is dropped. The path of a Unix socket is
    /// taken as it is, and its links are resolved; a program fills it in where there is none.
    ///
    /// - Throws: `ServiceError.invalidURL`; `.userInfoInURL` for `https://name:password@host/`.
    public init(_ text: String) throws(ServiceError) {
        guard text.lowercased().hasPrefix(Self.localScheme) else {
            try self.init(text, from: nil)
            return
        }
        let path = try Self.socketPath(String(text.dropFirst(Self.localScheme.count)))
        self.init(origin: Origin(socketAt: path), target: "/", isSocket: true)
    }

    private init(_ text: String, from base: ServiceURL?) throws(ServiceError) {
        do throws(URLParser.Failure) {
            let parser = try URLParser()
            if let base {
                try parser.read(base.httpText)
            } else if text.prefix(while: { $0 != "/" }).contains(" ") {
                throw .invalid("it must begin with http:// or https://, without spaces")
            } else if Self.hasDotSegment(text) {
                throw .invalid(
                    "its path has a '.' or '..' between slashes, and would lead elsewhere")
            }
            let isNamed = Self.namesSocket(text)
            let isWyoming = text.prefix("tcp://".count).lowercased() == "tcp://"
            let length = isWyoming ? "tcp".count : "ws".count
            try parser.read(isNamed ? "http" + text.dropFirst(length) : text)
            // A redirect may name the scheme of the handshake, which is that of HTTP.
            isSocket = isNamed || base?.isSocket == true
            let scheme = try parser.scheme()
            guard scheme == "http" || scheme == "https" else {
                throw .invalid("it must begin with http:// or https://")
            }
            origin =
                isWyoming
                ? Origin(
                    scheme: "tcp", host: try parser.host(), port: try parser.port(orElse: 10_300))
                : Origin(scheme: scheme, host: try parser.host(), port: try parser.port())
            target = try parser.target()
        } catch {
            switch error {
            case .userInfo: throw .userInfoInURL(text: Self.shown(text))
            case .invalid(let reason): throw Self.invalid(text, reason)
            }
        }
    }

    /// Whether a text is the URL of a WebSocket by its scheme, whatever follows.
    package static func namesSocket(_ text: String) -> Bool {
        let start = text.prefix("wss://".count).lowercased()
        return start.hasPrefix("ws://") || start == "wss://" || start == "tcp://"
            || start.hasPrefix(localScheme)
    }

    package static let localScheme = "unix:"

    private static func socketPath(_ path: String) throws(ServiceError) -> String {
        // The program fills in the path of its usual socket. The transfer refuses a request without one.
        if path.isEmpty { return path }
        guard path.hasPrefix("/") else {
            throw invalid(localScheme + path, "the path of a socket begins with '/'")
        }
        guard path.utf8.count <= LocalSocket.longestPath else {
            throw invalid(
                localScheme + path,
                "the path of a socket has at most \(LocalSocket.longestPath) bytes")
        }
        // A service may make its socket later, in a folder that exists already.
        return path.resolvedPath
            ?? Folder.parent(of: path).resolvedPath.map {
                $0 + "/" + path.split(separator: "/").suffix(1).joined()
            } ?? path
    }

    init(origin: Origin, target: String, isSocket: Bool = false) {
        (self.origin, self.target, self.isSocket) = (origin, target, isSocket)
    }

    private func with(target: String) -> ServiceURL {
        ServiceURL(origin: origin, target: target, isSocket: isSocket)
    }

    /// Whether the parser or a server would take segments out of the path (RFC 3986 §5.2.4): what is
    /// stored would lie in another place than the one that was named.
    package static func hasDotSegment(_ text: String) -> Bool {
        let path = text.prefix { $0 != "?" && $0 != "#" }.lowercased()
        return path.replacing("%2e", with: ".").replacing("%2f", with: "/").split(separator: "/")
            .contains { $0 == "." || $0 == ".." }
    }

    /// May hold secrets in its query; messages use `description`.
    package var text: String { origin.socketPath == nil ? "\(shownOrigin)\(target)" : place }

    /// The same with the scheme of HTTP, in which a WebSocket begins.
    package var httpText: String {
        origin.scheme == "tcp"
            ? "http://\(origin.host):\(origin.port)\(target)" : "\(origin)\(target)"
    }

    /// The origin with the scheme that was written, for messages: `wss:` is a part of the URL, not of it.
    package var shownOrigin: String {
        isSocket && origin.scheme.hasPrefix("http")
            ? "ws" + origin.description.dropFirst("http".count) : origin.description
    }

    /// Resolves a `Location` field (RFC 3986 §5, RFC 9110 §10.2.2).
    package func resolving(location: String) throws(ServiceError) -> ServiceURL {
        // A reference to the same document; libcurl takes it for one to the folder.
        if location.isEmpty || location.hasPrefix("#") { return self }
        return try ServiceURL(location, from: self)
    }

    /// Keeps this path if `other` is only an origin, and this query if `other` has none.
    package func moved(to other: ServiceURL) -> ServiceURL {
        if other.origin.socketPath != nil { return other }
        if other.target == "/" {
            return ServiceURL(origin: other.origin, target: target, isSocket: other.isSocket)
        }
        guard !other.target.contains("?") else { return other }
        let query = target.drop { $0 != "?" }
        return other.with(target: other.target + query)
    }

    /// Repeats neither user information nor query.
    static func invalid(_ text: String, _ reason: String) -> ServiceError {
        .invalidURL(text: shown(text), reason: reason)
    }

    static func shown(_ text: String) -> String {
        var visible = text.prefix { $0 != "?" && $0 != "#" }
        if let sign = visible.lastIndex(of: "@") {
            // A name may stand before another colon.
            let scheme =
                ["https://", "http://", "wss://", "ws://"].first { visible.hasPrefix($0) } ?? ""
            visible = scheme + "…" + visible[sign...]
        }
        return TerminalText.shown(String(visible))
    }
}

extension ServiceURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL without its query, in which some services want their token.
    public var description: String { place == text ? text : place + "?…" }

    /// The URL without its query.
    package var place: String {
        origin.socketPath.map { Self.localScheme + $0 }
            ?? "\(shownOrigin)\(target.prefix { $0 != "?" })"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The same for `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}

/// The parameters of a URL's query, as `name=value` between `&` (WHATWG URL §5.1).
extension ServiceURL {
    /// - Returns: the URL with the names of its secret parameters, and their values as written.
    package func withoutSecrets() -> (url: ServiceURL, secrets: [(name: String, value: String)]) {
        var secrets: [(name: String, value: String)] = []
        let url = mappingParameters { name, value in
            guard !value.isEmpty, SecretName.isSecret(name) else { return nil }
            secrets.append((name: name, value: value))
            return ""
        }
        return (url, secrets)
    }

    /// The value is already percent-encoded.
    func settingParameter(_ name: String, to value: String) -> ServiceURL {
        mappingParameters { found, _ in found == name ? value : nil }
    }

    /// With a parameter of this name, which gets no value.
    func naming(_ name: String) -> ServiceURL {
        guard parameter(name) == nil else { return self }
        let sign = !target.contains("?") ? "?" : target.hasSuffix("?") ? "" : "&"
        return with(target: "\(target)\(sign)\(name)=")
    }

    /// As written; of the first parameter of this name.
    package func parameter(_ name: String) -> String? {
        var first: String?
        _ = mappingParameters { found, value in
            if found == name, first == nil { first = value }
            return nil
        }
        return first
    }

    func dropping(suffix: String) -> ServiceURL? {
        guard target.hasSuffix(suffix) else { return nil }
        return with(target: String(target.dropLast(suffix.count)))
    }

    package func appending(_ text: String) -> ServiceURL {
        with(target: target + text)
    }

    /// The URL with the parameters of these names alone, and the query of the others.
    func dividingQuery(keeping names: Set<String>) -> (url: ServiceURL, query: String) {
        guard let mark = target.firstIndex(of: "?") else { return (self, "") }
        let parameters = target[target.index(after: mark)...].split(separator: "&")
        let kept = parameters.filter { names.contains(String($0.prefix { $0 != "=" })) }
        let others = parameters.filter { !names.contains(String($0.prefix { $0 != "=" })) }
        let query = kept.isEmpty ? "" : "?" + kept.joined(separator: "&")
        return (
            with(target: target[..<mark] + query),
            others.joined(separator: "&")
        )
    }

    /// Encodes every byte that is not unreserved (RFC 3986 §2.3).
    package static func percentEncoded(_ text: String, keeping others: String = "") -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let kept = "-._~\(others)".utf8
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte.isLetterOrDigit || kept.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `change` returns nil for values that stay; parameters without `=` have none.
    private func mappingParameters(
        _ change: (_ name: String, _ value: String) -> String?
    ) -> ServiceURL {
        guard let mark = target.firstIndex(of: "?") else { return self }
        let query = target[target.index(after: mark)...]
        let parameters = query.split(separator: "&", omittingEmptySubsequences: false).map {
            parameter -> String in
            guard let sign = parameter.firstIndex(of: "=") else { return String(parameter) }
            let value = parameter[parameter.index(after: sign)...]
            guard let new = change(String(parameter[..<sign]), String(value)) else {
                return String(parameter)
            }
            return parameter[...sign] + new
        }
        return with(target: target[...mark] + parameters.joined(separator: "&"))
    }
}

/// A scheme, host and port: who gets to hear the recording and the token (RFC 6454 §4); or a Unix socket.
public struct Origin: Sendable, Hashable {
    package let scheme: String
    /// In lower case; an IPv6 address in its canonical form and in brackets.
    package let host: String
    /// From 1 to 65535; 0 for a Unix socket.
    let port: Int
    /// The place of a Unix socket; nil: the host is asked over TCP.
    package let socketPath: String?

    /// Reads an origin such as `https://speech.example:8443`; a slash at the end is allowed.
    ///
    /// - Throws: `ServiceError.invalidURL` or `.userInfoInURL`.
    public init(_ text: String) throws(ServiceError) {
        let url = try ServiceURL(text)
        guard url.target == "/" else {
            throw ServiceURL.invalid(text, "an origin is a scheme, a host and a port alone")
        }
        self = url.origin
    }

    init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
        socketPath = nil
    }

    /// The path has no links.
    init(socketAt path: String) {
        (scheme, host, port, socketPath) = ("unix", "localhost", 0, path)
    }

    static func defaultPort(of scheme: String) -> Int {
        switch scheme {
        case "https": 443
        case "tcp": 10_300
        default: 80
        }
    }

    /// Whether others on the network can hear the recording and read a secret.
    package var isInClear: Bool { ["http", "tcp"].contains(scheme) && !isLoopback }

    /// Whether the host is this machine by its name or address: `localhost`, 127.0.0.0/8, `::1`.
    package var isLoopback: Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.first == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

extension Origin: CustomStringConvertible {
    /// The host, and the port unless it is the usual one.
    package var name: String {
        socketPath == nil ? String(description.dropFirst(scheme.count + 3)) : description
    }

    /// The origin as it is written; a default port is left out.
    public var description: String {
        if let socketPath { return ServiceURL.localScheme + socketPath }
        let suffix = port == Self.defaultPort(of: scheme) ? "" : ":\(port)"
        return "\(scheme)://\(host)\(suffix)"
    }
}
