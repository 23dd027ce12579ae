// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings
@testable import SpeechService

/// The table `connection` of a service's description, and its parts.
@Suite struct ConnectionSettingsTests {
    private static let pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    private func read(_ text: String) throws(SettingsError) -> ConnectionSettings {
        var reader = SettingsReader(try SettingsDocument.parse(text), name: "connection")
        let settings = try ConnectionSettings(&reader)
        try reader.finish()
        return settings
    }

    @Test func allMembersAreReadAndNoneIsTheUsual() throws {
        let settings = try read(
            """
            http = "2"
            proxy = "http://proxy.example:3128"
            no-proxy = ["localhost", "example.org"]
            ca-file = "/etc/ca.pem"
            client-certificate = "/c.pem"
            client-key = "/k.pem"
            minimum-tls = "1.3"
            pinned-key = "\(Self.pin)"
            ip = "6"
            resolve = ["speech.example:443:192.0.2.7,[2001:db8::1]"]
            """)
        #expect(settings.http == .two)
        #expect(settings.proxy == .url("http://proxy.example:3128"))
        #expect(settings.proxyExceptions == ["localhost", "example.org"])
        #expect(settings.certificateFile == "/etc/ca.pem")
        #expect(settings.clientCertificate == "/c.pem")
        #expect(settings.clientKey == "/k.pem")
        #expect(settings.minimumTLS == .three)
        #expect(settings.pinnedKeys.map(\.description) == [Self.pin])
        #expect(settings.addresses == .six)
        #expect(
            settings.resolutions.map(\.description)
                == ["speech.example:443:192.0.2.7,[2001:db8::1]"])
        #expect(try read("") == ConnectionSettings())
        #expect(try read("proxy = 'none'").proxy == Proxy.none)
    }

    @Test(arguments: [
        ("http = '3'", "'connection.http' must be 1.1 or 2, not '3'"),
        ("minimum-tls = '1.1'", "'connection.minimum-tls' cannot be '1.1'"),
        ("ip = '5'", "must be 4 or 6, not '5'"),
        ("proxy = 'ftp://p:1'", "its scheme is not one of http, https"),
        ("proxy = 'http://name:secret@proxy:1'", "carries a user name or password"),
        ("proxy = 'http://proxy'", "it has no port"),
        ("proxy = 'http://proxy:1/path'", "a scheme, a host and a port alone"),
        ("pinned-key = 'sha256//abc'", "it is sha256// and a SHA-256 in base64"),
        ("pinned-key = 'md5//47DEQpj8'", "it is sha256// and a SHA-256 in base64"),
        ("resolve = 'host:443'", "it is a host, a port and an address"),
        ("resolve = 'host:0:192.0.2.7'", "no usable host and port"),
        ("resolve = 'host:443:name'", "'name' is not an internet address"),
        ("client-key = '/k.pem'", "is of no use without 'connection.client-certificate'"),
        ("proxi = 'none'", "did you mean 'connection.proxy'?"),
    ])
    func whatIsWrongIsSaid(_ text: String, _ reason: String) throws {
        let error = try #require(throws: SettingsError.self) { try read(text) }
        #expect(error.reason.contains(reason), "\(error.reason)")
        #expect(!error.reason.contains("secret"))
        #expect(error.place?.line == 1)
    }

    @Test(arguments: [
        ("proxy.example:3128", "http://proxy.example:3128"),
        ("socks5h://[::1]:1080", "socks5h://[::1]:1080"), ("none", "none"),
        ("HTTP://Proxy:80", "http://proxy:80"),
    ])
    func aProxyIsReadAgain(_ text: String, _ written: String) throws {
        #expect(try Proxy(text).description == written)
        #expect(try Proxy(written) == Proxy(text))
    }

    @Test func aLoginShowsNothing() throws {
        let login = try Credential(place: .proxy, secret: "name:se:cr et\n")
        #expect(login.percentEncodedLogin == "name:se%3Acr%20et")
        #expect(login.secrets.contains("se:cr et"))
        for text in ["\(login)", String(reflecting: login)] {
            #expect(text == "login of the proxy: redacted")
        }
        var shown = ""
        dump(login, to: &shown)
        #expect(!shown.contains("cr et"))
        for text in ["name", ""] {
            #expect(throws: ServiceError.self) { try Credential(place: .proxy, secret: text) }
            let asked = Credential(askedOf: .file("/login"), place: .proxy, form: .plain)
            #expect(throws: ServiceError.self) { try asked.answered(text) }
        }
    }
}
