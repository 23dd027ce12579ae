// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

/// TLS, and what a connection demands of it, against OpenSSL's own server.
@Suite struct TransferTLSTests {
    private static let body = Array("the voice".utf8)

    private func upload(
        to server: TLSServer, _ change: (inout ConnectionSettings) throws -> Void = { _ in }
    ) throws -> Upload {
        var settings = ConnectionSettings()
        settings.certificateFile = server.certificateFile
        try change(&settings)
        return try Upload(to: server.url, Self.body, isSealed: true) { $0.connection = settings }
    }

    // MARK: - Refused before any byte

    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// What the server's certificate is for.
        var name = "IP:127.0.0.1"
        var isExpired = false
        var options: [String] = []
        /// Some word of the reason.
        let reason: String
        var isNotTLS = false
        var change: @Sendable (inout ConnectionSettings) throws -> Void = { _ in }
    }

    private static let otherPin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    static let refusals: [Refusal] = [
        Refusal(testDescription: "an unknown authority", reason: "certificate") {
            $0.certificateFile = nil
        },
        Refusal(
            testDescription: "another host's certificate", name: "DNS:speech.example", reason: ""),
        Refusal(testDescription: "an expired certificate", isExpired: true, reason: "expired"),
        Refusal(
            testDescription: "a file of authorities that is not there",
            reason: "/nowhere/authority.pem"
        ) { $0.certificateFile = "/nowhere/authority.pem" },
        Refusal(testDescription: "another key than the pinned one", reason: "pinned") {
            $0.pinnedKeys = [try PinnedKey(TransferTLSTests.otherPin)]
        },
        Refusal(
            testDescription: "an old version where a new one is demanded", options: ["-tls1_2"],
            reason: "protocol version", isNotTLS: true
        ) { $0.minimumTLS = .three },
    ]

    @Test(arguments: refusals)
    func whatIsNotSecureIsRefusedBeforeAnyByte(_ refusal: Refusal) async throws {
        let server = try await TLSServer(
            certificateFor: refusal.name, options: refusal.options, isExpired: refusal.isExpired)
        let upload = try upload(to: server, refusal.change)
        let result = try #require(await upload.result())
        let reason = try result.reason { refusal.isNotTLS ? .notTLS($0) : .insecure($0) }
        #expect(refusal.reason.isEmpty || reason.contains(refusal.reason), "\(reason)")
        #expect(result.sentByteCount == 0)
        #expect(upload.recorder.record.look { $0.connects } == 0)
        #expect(!server.text.contains("POST"))
        #expect(!server.text.contains("the voice"))
    }

    @Test(arguments: ["-tls1", "-tls1_1"])
    func anOldProtocolIsRefused(_ option: String) async throws {
        let server = try await TLSServer(options: [option, "-cipher", "ALL:@SECLEVEL=0"])
        let result = try #require(await upload(to: server).result())
        #expect(result.ending != .answered)
        #expect(result.sentByteCount == 0)
    }

    @Test func aServerThatDoesNotSpeakTLSIsNoService() async throws {
        let server = try RecordingServer(
            scripts: [[.sendRaw(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)), .readOn]])
        let url = server.url().replacing("http:", with: "https:")
        let upload = try Upload(to: url, Self.body, isSealed: true)
        let result = try #require(await upload.result())
        _ = try result.reason { .notTLS($0) }
        #expect(result.sentByteCount == 0)
    }

    @Test func aHandshakeThatHangsTimesOut() async throws {
        let server = try RecordingServer(scripts: [[.readOn]])
        let url = server.url().replacing("http:", with: "https:")
        let upload = try Upload(
            to: url, Self.body, deadlines: TransferDeadlines(connect: .milliseconds(700)))
        #expect(try #require(await upload.result()).ending == .timedOut(.connect))
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/"])
    func onlyHTTPIsSpoken(_ url: String) async throws {
        let upload = try Upload(to: url, Self.body, isSealed: true)
        let result = try #require(await upload.result())
        #expect(result.ending != .answered)
        #expect(upload.recorder.record.look { $0.body.isEmpty })
        #expect(result.sentByteCount == 0)
    }

    // MARK: - Secure

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func aNamedAuthorityIsTrustedAndTheBodyIsSentWhileItGrows(_ option: String) async throws {
        let server = try await TLSServer(options: [option])
        let upload = try Upload(to: server.url) {
            $0.connection.certificateFile = server.certificateFile
        }
        for word in ["first,", "second,", "third"] {
            try upload.append(Array(word.utf8))
            #expect(await server.hasReceived(word))
        }
        server.send(
            """
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nheard\r\n
            """)
        #expect(await upload.recorder.wait { $0.body.count == 5 })
        upload.seal()
        #expect(await server.hasReceived("\r\n0\r\n\r\n"))
        server.send("0\r\n\r\n")
        #expect(try await upload.expectAnswer(200, "heard").timings.secured != nil)
    }

    @Test func theRightKeyIsTakenAndTheCipherIsKnown() async throws {
        let server = try await TLSServer(options: ["-tls1_3"])
        // The digest of the public key, as OpenSSL computes it.
        let made = try await CommandRun.run(
            "sh",
            [
                "-c",
                "openssl x509 -in '\(server.certificateFile)' -pubkey -noout"
                    + " | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64",
            ])
        let pins = [Self.otherPin, "sha256//" + made.outputText.filter { $0 != "\n" }]
        let upload = try upload(to: server) { $0.pinnedKeys = try pins.map { try PinnedKey($0) } }
        #expect(await server.answer("heard"))
        let result = try await upload.expectAnswer()
        #expect(result.route.tls == "TLSv1.3")
        #expect(result.route.cipher?.hasPrefix("TLS_") == true)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func aCertificateIsShownWhereOneIsWanted(_ version: String) async throws {
        let folder = try TemporaryFolder()
        let own = try await TestCertificate(for: "DNS:client.example", in: folder)
        let server = try await TLSServer(options: [version, "-Verify", "1"])
        let upload = try upload(to: server) {
            ($0.clientCertificate, $0.clientKey) = (own.path, own.keyPath)
        }
        #expect(await server.answer("heard"))
        try await upload.expectAnswer()
    }

    @Test func withoutOneThatIsSaid() async throws {
        let server = try await TLSServer(options: ["-tls1_3", "-Verify", "1"])
        let result = try #require(await upload(to: server).result())
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
            ($0.clientCertificate, $0.clientKey) = (own.path, locked)
        }
        let reason = try #require(await upload.result()).reason { .insecure($0) }
        #expect(reason.contains("locked.pem"), "\(reason)")
    }

    // MARK: - Answers that are cut

    /// With and without close_notify, and shorter than it says.
    @Test(arguments: [("", true), ("", false), ("Content-Length: 100\r\n", false)])
    func anAnswerThatIsCutIsNoSuccess(_ length: String, isOrderly: Bool) async throws {
        let server = try await TLSServer()
        let upload = try upload(to: server)
        #expect(await server.hasReceived("\r\n0\r\n\r\n"))
        server.send("HTTP/1.1 200 OK\r\n\(length)\r\n{\"text\":\"pay")
        #expect(await upload.recorder.wait { $0.body.count == 12 })
        isOrderly ? server.closeOrderly() : server.cut()
        let ending = try #require(await upload.result()).ending
        switch ending {
        case .connectionLost: break
        case .badResponse where length.isEmpty: break
        default: Issue.record("\(ending)")
        }
    }
}
