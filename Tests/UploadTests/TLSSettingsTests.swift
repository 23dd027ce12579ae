// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

/// What a connection demands of TLS, against OpenSSL's own server.
@Suite struct TLSSettingsTests {
    private func upload(
        to server: TLSServer, _ change: (inout ConnectionSettings) throws -> Void = { _ in }
    ) throws -> Upload {
        var settings = ConnectionSettings()
        settings.certificateFile = server.certificateFile
        try change(&settings)
        return try Upload(to: server.url, Array("the voice".utf8), isSealed: true) {
            $0.connection = settings
        }
    }

    /// The digest of a certificate's public key, as OpenSSL computes it.
    private func pin(of certificate: String) async throws -> PinnedKey {
        let made = try await CommandRun.run(
            "sh",
            [
                "-c",
                "openssl x509 -in '\(certificate)' -pubkey -noout | openssl pkey -pubin -outform der"
                    + " | openssl dgst -sha256 -binary | base64",
            ])
        return try PinnedKey("sha256//" + made.outputText.filter { $0 != "\n" })
    }

    @Test func theRightKeyIsTakenAndTheCipherIsKnown() async throws {
        let server = try await TLSServer(options: ["-tls1_3"])
        let key = try await pin(of: server.certificateFile)
        let other = try PinnedKey("sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        let upload = try upload(to: server) { $0.pinnedKeys = [other, key] }
        #expect(await server.answer("heard"))
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(result.route.tls == "TLSv1.3")
        #expect(result.route.cipher?.hasPrefix("TLS_") == true)
    }

    @Test func anotherKeyIsRefusedBeforeAnyByte() async throws {
        let server = try await TLSServer()
        let upload = try upload(to: server) {
            $0.pinnedKeys = [
                try PinnedKey("sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
            ]
        }
        let result = try #require(await upload.result())
        let reason = try result.reason { .insecure($0) }
        #expect(reason.contains("pinned"))
        #expect(result.sentByteCount == 0)
        #expect(!server.text.contains("the voice"))
    }

    @Test func anOldVersionIsRefusedWhereANewOneIsDemanded() async throws {
        let server = try await TLSServer(options: ["-tls1_2"])
        let upload = try upload(to: server) { $0.minimumTLS = .three }
        let result = try #require(await upload.result())
        let reason = try result.reason { .notTLS($0) }
        #expect(reason.contains("protocol version"), "\(reason)")
        #expect(result.sentByteCount == 0)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func aCertificateIsShownWhereOneIsWanted(_ version: String) async throws {
        let folder = try TemporaryFolder()
        let own = try await TestCertificate(for: "DNS:client.example", in: folder)
        let server = try await TLSServer(options: [version, "-Verify", "1"])
        let upload = try upload(to: server) {
            $0.clientCertificate = own.path
            $0.clientKey = own.keyPath
        }
        #expect(await server.answer("heard"))
        #expect(try #require(await upload.result()).ending == .answered)
    }

    @Test func withoutOneThatIsSaid() async throws {
        let server = try await TLSServer(options: ["-tls1_3", "-Verify", "1"])
        let upload = try upload(to: server)
        let result = try #require(await upload.result())
        #expect(result.ending == .insecure("the service wants a certificate of the client's"))
    }

    @Test func aKeyWithAPassphraseIsNotAskedFor() async throws {
        let folder = try TemporaryFolder()
        let own = try await TestCertificate(for: "DNS:client.example", in: folder)
        let locked = folder.path("locked.pem")
        let made = try await CommandRun.run(
            "openssl",
            ["pkey", "-aes128", "-passout", "pass:x", "-in", own.keyPath, "-out", locked])
        try #require(made.status == .exited(0), "\(made.errorText)")
        let server = try await TLSServer(options: ["-Verify", "1"])
        let upload = try upload(to: server) {
            $0.clientCertificate = own.path
            $0.clientKey = locked
        }
        let reason = try #require(await upload.result()).reason { .insecure($0) }
        #expect(reason.contains("locked.pem"), "\(reason)")
    }

    @Test func anExpiredCertificateIsRefused() async throws {
        let server = try await TLSServer(isExpired: true)
        let result = try #require(await upload(to: server).result())
        let reason = try result.reason { .insecure($0) }
        #expect(reason.contains("expired"), "\(reason)")
        #expect(result.sentByteCount == 0)
    }
}
