// SPDX-License-Identifier: Apache-2.0

internal import Settings

/// How connections to a service are made, where that differs from the usual.
public struct ConnectionSettings: Sendable, Hashable {
    /// The newest version of HTTP to speak.
    public var http = HTTPVersion.one
    /// The proxy on the way; nil: that of the environment.
    public var proxy: Proxy?
    /// Hosts that are reached without the proxy, each with all names below it; nil: those that
    /// the environment says.
    public var proxyExceptions: [String]?
    /// The proxy's name and password, at the place `.proxy`; not a part of a service's description.
    public var proxyLogin: Credential?
    /// A file of PEM certificates to trust instead of the system's, or nil.
    public var certificateFile: String?
    /// A file with the certificate that shows who we are (PEM), or nil.
    public var clientCertificate: String?
    /// The file with its private key; nil where the key stands in the same file.
    public var clientKey: String?
    /// The oldest version of TLS to speak.
    public var minimumTLS = TLSVersion.two
    /// The public keys of which the service must have one; empty is any.
    public var pinnedKeys: [PinnedKey] = []
    /// The kind of address to connect to; nil: any.
    public var addresses: AddressKind?
    /// Addresses of hosts that are not asked for.
    public var resolutions: [HostResolution] = []

    /// The usual.
    public init() {}

    init(_ reader: inout SettingsReader) throws(SettingsError) {
        http = try reader.word("http") ?? .one
        proxy = try reader.string("proxy", as: Proxy.init(_:))
        // A login belongs to one proxy, and stands in the same file.
        let (login, place) = (reader.place("proxy-login-file"), reader.place("proxy"))
        if let path = try reader.string("proxy-login-file"), login?.file == place?.file {
            proxyLogin = Credential(askedOf: .file(path), place: .proxy, form: .plain)
        }
        proxyExceptions = try reader.strings("no-proxy")
        certificateFile = try reader.string("ca-file")
        clientCertificate = try reader.string("client-certificate")
        clientKey = try reader.string("client-key")
        minimumTLS = try reader.word("minimum-tls") ?? .two
        pinnedKeys = try reader.strings("pinned-key", as: PinnedKey.init(_:)) ?? []
        addresses = try reader.word("ip")
        resolutions = try reader.strings("resolve", as: HostResolution.init(_:)) ?? []
        if clientKey != nil, clientCertificate == nil {
            let certificate = reader.path("client-certificate")
            throw reader.error("client-key", " is of no use without '\(certificate)'")
        }
    }
}

extension ConnectionSettings {
    /// Without the environment's proxy, which cannot reach this machine's own services.
    package func reaching(_ url: ServiceURL) -> ConnectionSettings {
        var connection = self
        if proxy == nil, url.origin.isLoopback { connection.proxy = Proxy.none }
        return connection
    }
}

/// A version of TLS.
public enum TLSVersion: String, Sendable, CaseIterable {
    /// TLS 1.2 (RFC 5246).
    case two = "1.2"
    /// TLS 1.3 (RFC 8446).
    case three = "1.3"
}

/// A kind of internet address.
public enum AddressKind: String, Sendable, CaseIterable {
    /// IPv4.
    case four = "4"
    /// IPv6.
    case six = "6"
}

/// The newest version of HTTP that a request may speak.
public enum HTTPVersion: String, Sendable, CaseIterable {
    /// HTTP/1.1 (RFC 9112).
    case one = "1.1"
    /// HTTP/2 (RFC 9113) where TLS is spoken and the service offers it, otherwise HTTP/1.1.
    case two = "2"
}
