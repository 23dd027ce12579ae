// SPDX-License-Identifier: Apache-2.0

/// A scheme, host and port: who gets to hear the recording and the token (RFC 6454 §4).
public struct Origin: Sendable, Hashable {
    package let scheme: String
    /// In lower case; an IPv6 address in its canonical form and in brackets.
    package let host: String
    /// From 1 to 65535.
    package let port: Int

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
    }

    /// When the URL names none.
    static func defaultPort(of scheme: String) -> Int { scheme == "https" ? 443 : 80 }

    /// Whether others on the network can hear the recording and read a secret.
    package var isInClear: Bool { scheme == "http" && !isLoopback }

    /// Whether the host is this machine by its name or address: `localhost`, 127.0.0.0/8, `::1`.
    package var isLoopback: Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.first == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

extension Origin: CustomStringConvertible {
    /// The origin as it is written; a default port is left out.
    public var description: String {
        let suffix = port == Self.defaultPort(of: scheme) ? "" : ":\(port)"
        return "\(scheme)://\(host)\(suffix)"
    }
}
