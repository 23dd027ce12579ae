// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// What stands between this machine and a service.
public enum Proxy: Sendable, Hashable, CustomStringConvertible {
    /// Nothing, whatever the environment says.
    case none
    /// The proxy with this URL, without a name and a password.
    case url(String)

    private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// Reads `none`, or a URL such as `http://proxy.example:3128`; without a scheme it is `http`.
    ///
    /// - Throws: `ServiceError.invalidConnection`; `.userInfoInURL` for `http://name:password@host`.
    public init(_ text: String) throws(ServiceError) {
        guard text != "none" else {
            self = .none
            return
        }
        let mark = text.firstRange(of: "://")
        let scheme = mark.map { text[..<$0.lowerBound].lowercased() } ?? "http"
        let rest = mark.map { text[$0.upperBound...] } ?? text[...]
        guard Self.schemes.contains(scheme) else {
            throw Self.invalid(
                text, "its scheme is not one of \(Self.schemes.joined(separator: ", "))")
        }
        // libcurl knows the host and the port of any of them as it knows those of a web page.
        let url: ServiceURL
        do throws(ServiceError) {
            url = try ServiceURL("http://\(rest)")
        } catch {
            guard case .invalidURL(_, let reason) = error else { throw error }
            throw Self.invalid(text, reason)
        }
        guard url.target == "/" else {
            throw Self.invalid(text, "a proxy is a scheme, a host and a port alone")
        }
        let hasPort = rest.drop { $0 != "]" }.contains(":") || rest.count { $0 == ":" } == 1
        guard hasPort else { throw Self.invalid(text, "it has no port") }
        self = .url("\(scheme)://\(url.origin.host):\(url.origin.port)")
    }

    /// The text from which it can be read again.
    public var description: String {
        switch self {
        case .none: "none"
        case .url(let url): url
        }
    }

    private static func invalid(_ text: String, _ reason: String) -> ServiceError {
        let shown = TerminalText.cut(TerminalText.singleLine(TerminalText.sanitized(text)))
        return .invalidConnection(what: "the proxy '\(shown)'", reason: reason)
    }
}

/// The name and the password for a proxy.
///
/// They are out of reach of descriptions, `dump` and string interpolation.
public struct ProxyLogin: Sendable, Hashable {
    /// Where it comes from.
    public let source: SecretSource
    private let secret: String

    /// Reads `name:password`; white space around it goes.
    ///
    /// - Throws: `ServiceError.invalidCredential` when it is empty, or holds anything but visible
    ///   ASCII and inner spaces, or no colon.
    public init(_ text: String, source: SecretSource = .given) throws(ServiceError) {
        // The same rule as for any secret in a field.
        secret = try Credential.checked(text)
        guard secret.contains(":") else {
            throw .invalidCredential(reason: "a proxy's is a name, a colon and a password")
        }
        self.source = source
    }

    /// The name and the password, each percent-encoded, with a colon between them; secret.
    package var percentEncoded: String {
        let parts = secret.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.map { ServiceURL.percentEncoded(String($0)) }.joined(separator: ":")
    }

    /// What must not be written anywhere; secret.
    package var secrets: [String] {
        [secret, String(secret.drop { $0 != ":" }.dropFirst())]
    }
}

extension ProxyLogin: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The word "redacted".
    public var description: String { "redacted" }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The same for `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["login": description]) }
}
