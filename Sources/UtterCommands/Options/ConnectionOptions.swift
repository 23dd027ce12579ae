// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
package import Utter

extension HTTPVersion: ExpressibleByArgument {}
extension TLSVersion: ExpressibleByArgument {}
extension AddressKind: ExpressibleByArgument {}

/// How connections to the service are made.
///
/// What is not given is nil: a kept take has its own.
struct ConnectionOptions: ParsableArguments {
    init() {}

    @Option(
        help: ArgumentHelp(
            "The newest HTTP to speak, 1.1 or 2; 2 is for https alone. (default: 1.1)",
            valueName: "version"))
    var http: HTTPVersion?

    @Option(
        help: ArgumentHelp(
            "The proxy, such as http://proxy.example:3128, or none. Otherwise https_proxy, "
                + "http_proxy and all_proxy.", valueName: "url"))
    var proxy: String?

    @Option(
        help: ArgumentHelp(
            "Hosts that need no proxy, with commas between them. Otherwise no_proxy.",
            valueName: "hosts"))
    var noProxy: String?

    @Option(
        help: ArgumentHelp(
            "A file with NAME:PASSWORD for the proxy, readable by you alone. Otherwise "
                + "UTTER_PROXY_LOGIN.", valueName: "file"), completion: .file())
    var proxyLoginFile: String?

    @Option(
        help: ArgumentHelp("PEM certificates to trust.", valueName: "file"), completion: .file())
    var cacert: String?

    @Option(
        help: ArgumentHelp("A PEM certificate to show the service.", valueName: "file"),
        completion: .file())
    var clientCert: String?

    @Option(
        help: ArgumentHelp(
            "Its private key, where that is in a file of its own.", valueName: "file"),
        completion: .file())
    var clientKey: String?

    @Option(
        help: ArgumentHelp(
            "The oldest TLS to speak, 1.2 or 1.3. (default: 1.2)", valueName: "version"))
    var minTls: TLSVersion?

    @Option(
        help: ArgumentHelp(
            "A public key that the service must have, as sha256//BASE64; of several, one.",
            valueName: "hash"))
    var pinnedKey: [String] = []

    @Option(help: ArgumentHelp("Use IPv4 (4) or IPv6 (6) alone.", valueName: "kind"))
    var ip: AddressKind?

    @Option(
        help: ArgumentHelp(
            "The address of a host at a port, instead of asking for it.",
            valueName: "host:port:address"))
    var resolve: [String] = []

    /// Where the proxy's login is, unless a file is named.
    static let loginVariable = "UTTER_PROXY_LOGIN"

    var isGiven: Bool {
        http != nil || proxy != nil || noProxy != nil || proxyLoginFile != nil || cacert != nil
            || clientCert != nil || clientKey != nil || minTls != nil || !pinnedKey.isEmpty
            || ip != nil || !resolve.isEmpty
    }

    mutating func validate() throws {
        if clientKey != nil, clientCert == nil {
            throw ValidationError("--client-key needs --client-cert.")
        }
        if proxyLoginFile != nil, proxy == "none" {
            throw ValidationError("--proxy none excludes --proxy-login-file.")
        }
    }

    /// Applies these options.
    func change(_ settings: inout ConnectionSettings) throws(CommandFailure) {
        if let http { settings.http = http }
        if let proxy {
            let new = try explained("--proxy", hint: Hints.proxy) { () throws(ServiceError) in
                try Proxy(proxy)
            }
            // A login belongs to one proxy.
            if settings.proxy != new { settings.proxyLogin = nil }
            settings.proxy = new
        }
        if let noProxy {
            settings.proxyExceptions = noProxy.split(separator: ",").map { host in
                String(host.filter { $0 != " " })
            }
        }
        if let cacert {
            try CertificateFile.check(cacert)
            settings.certificateFile = ServiceOptions.absolute(cacert)
        }
        if let clientCert {
            try CertificateFile.check(clientCert, option: "--client-cert")
            try CertificateFile.check(
                clientKey ?? clientCert,
                option: clientKey == nil ? "--client-cert" : "--client-key",
                holds: "private key", in: CertificateFile.privateKey)
            settings.clientCertificate = ServiceOptions.absolute(clientCert)
            settings.clientKey = clientKey.map { ServiceOptions.absolute($0) }
        }
        if let minTls { settings.minimumTLS = minTls }
        if !pinnedKey.isEmpty {
            settings.pinnedKeys = try explained("--pinned-key") { () throws(ServiceError) in
                try pinnedKey.map { text throws(ServiceError) in try PinnedKey(text) }
            }
        }
        if let ip { settings.addresses = ip }
        if !resolve.isEmpty {
            settings.resolutions = try explained("--resolve") { () throws(ServiceError) in
                try resolve.map { text throws(ServiceError) in try HostResolution(text) }
            }
        }
        try changeLogin(&settings)
    }

    private func changeLogin(_ settings: inout ConnectionSettings) throws(CommandFailure) {
        let variable = SecretSource.variable(Self.loginVariable)
        if let proxyLoginFile {
            settings.proxyLogin = Credential(
                askedOf: .file(ServiceOptions.absolute(proxyLoginFile)), place: .proxy,
                form: .plain)
        } else if settings.proxyLogin.map({ $0.source == variable }) ?? true,
            settings.proxy != Proxy.none, let text = Environment.secret(Self.loginVariable)
        {
            settings.proxyLogin = try explained(Self.loginVariable) { () throws(ServiceError) in
                try Credential(place: .proxy, secret: text, source: variable)
            }
        }
    }

    /// Demands that the login that a kept take remembers can be asked for, or is given anew.
    func checkLogin(_ settings: ConnectionSettings, take: String) throws(CommandFailure) {
        guard let login = settings.proxyLogin, !login.isKnown, login.source.isGone else { return }
        throw CommandFailure(
            "take \(take) is not sent without the login of its proxy, which was typed or piped",
            hint: "give it again: utter retry \(take) --proxy-login-file FILE",
            status: .configuration)
    }
}
