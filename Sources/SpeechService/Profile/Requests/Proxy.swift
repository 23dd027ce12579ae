// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The proxy between this machine and a service.
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
        .invalidConnection(what: "the proxy '\(TerminalText.shown(text))'", reason: reason)
    }
}
