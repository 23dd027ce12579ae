// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

/// TLS, and what a connection demands of it.
@Suite struct TransferTLSTests {
    private static let body = Array("the voice".utf8)
    private let server: RecordingServer

    init() throws {
        server = try RecordingServer(otherwise: .answer(text: "heard"))
    }

    private func upload(
        to front: TLSFront, isComplete: Bool = true,
        _ change: (inout ConnectionSettings) throws -> Void = { _ in }
    ) throws -> Upload {
        var settings = ConnectionSettings()
        settings.certificateFile = front.certificateFile
        try change(&settings)
        return try Upload(
            to: front.url(), isComplete ? Self.body : [], isSealed: isComplete
        ) { $0.connection = settings }
    }

    // MARK: - Refused before any byte

    private func expectRefusal(
        by front: TLSFront, for reason: String, isNotTLS: Bool = false,
        _ change: (inout ConnectionSettings) throws -> Void = { _ in }
    ) async throws {
        let upload = try upload(to: front, change)
        let result = try #require(await upload.result())
        let text = try result.reason { isNotTLS ? .notTLS($0) : .insecure($0) }
        #expect(text.contains(reason), "\(text)")
        #expect(result.sentByteCount == 0)
        #expect(upload.recorder.record.look { $0.connects } == 0)
        #expect(server.connectionCount == 0)
    }

    @Test func anotherAuthorityOrKeyIsRefusedBeforeAnyByteAndTheRightOneTaken() async throws {
        let front = try await TLSFront(to: server.port)
        let other = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        let nowhere = "/nowhere/authority.pem"
        try await expectRefusal(by: front, for: "certificate") { $0.certificateFile = nil }
        try await expectRefusal(by: front, for: nowhere) { $0.certificateFile = nowhere }
        try await expectRefusal(by: front, for: "pinned") {
            $0.pinnedKeys = [try PinnedKey(other)]
        }
        // The digest of the public key, as OpenSSL computes it.
        let made = try await CommandRun.run(
            "sh",
            [
                "-c",
                "openssl x509 -in '\(front.certificateFile)' -pubkey -noout"
                    + " | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64",
            ])
        let pins = [other, "sha256//" + made.outputText.filter { $0 != "\n" }]
        let upload = try upload(to: front) { $0.pinnedKeys = try pins.map { try PinnedKey($0) } }
        let result = try await upload.expectAnswer(200, "heard")
        #expect(result.route.tls == "TLSv1.3")
        #expect(result.route.cipher?.hasPrefix("TLS_") == true)
    }

    @Test func anotherHostExpiryAndAnOldVersionAreRefusedBeforeAnyByte() async throws {
        let another = try await TLSFront(to: server.port, for: "DNS:speech.example")
        try await expectRefusal(by: another, for: "subject")
        let expired = try await TLSFront(to: server.port, isExpired: true)
        try await expectRefusal(by: expired, for: "expired")
        let old = try await TLSFront(to: server.port, "ssl_protocols TLSv1.2;")
        try await expectRefusal(by: old, for: "protocol version", isNotTLS: true) {
            $0.minimumTLS = .three
        }
    }

    @Test func anOldProtocolIsRefused() async throws {
        let front = try await TLSFront(
            to: server.port, "ssl_protocols TLSv1 TLSv1.1; ssl_ciphers ALL:@SECLEVEL=0;")
        try await expectRefusal(by: front, for: "protocol version", isNotTLS: true)
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
        #expect(try result.reason { .badResponse($0) }.contains("Protocol"))
        #expect(upload.recorder.record.look { $0.body.isEmpty })
        #expect(result.sentByteCount == 0)
    }

    // MARK: - Secure

    @Test(arguments: ["TLSv1.2", "TLSv1.3"])
    func aNamedAuthorityIsTrustedAndTheBodyIsSentWhileItGrows(_ version: String) async throws {
        let server = try RecordingServer(otherwise: [
            .readHead, .readBody(bytes: 18), .beginResponse(status: 200),
            .sendBodyChunk(text: "heard"), .readBodyToEnd, .endResponse,
        ])
        let front = try await TLSFront(to: server.port, "ssl_protocols \(version);")
        let upload = try Upload(to: front.url()) {
            $0.connection.certificateFile = front.certificateFile
        }
        for length in [6, 12, 18] {
            try upload.append(bytes(6))
            #expect(await server.wait(untilBytes: length) != nil)
        }
        #expect(await upload.recorder.wait { $0.body.count == 5 })
        upload.seal()
        let result = try await upload.expectAnswer(200, "heard")
        #expect(result.timings.secured != nil)
        #expect(result.route.tls == version)
    }

    @Test func aCertificateIsShownWhereOneIsWanted() async throws {
        let folder = try TemporaryFolder()
        let own = try await TestCertificate(for: "DNS:client.example", in: folder)
        let locked = folder.path("locked.pem")
        try ForeignTool("openssl").run(
            ["pkey", "-aes128", "-passout", "pass:x", "-in", own.keyPath, "-out", locked])
        for version in ["TLSv1.2", "TLSv1.3"] {
            // It shakes hands only with a client that shows this certificate.
            let front = try await TLSFront(
                to: server.port,
                """
                ssl_conf_command VerifyMode Require;
                ssl_conf_command VerifyCAFile \(own.path); ssl_protocols \(version);
                """)
            defer { front.stop() }
            let shown = try upload(to: front) {
                ($0.clientCertificate, $0.clientKey) = (own.path, own.keyPath)
            }
            try await shown.expectAnswer(200, "heard")
            // A key with a passphrase is not asked for.
            let asking = try upload(to: front) {
                ($0.clientCertificate, $0.clientKey) = (own.path, locked)
            }
            let reason = try #require(await asking.result()).reason { .insecure($0) }
            #expect(reason.contains("locked.pem"), "\(reason)")
            guard version == "TLSv1.3" else { continue }
            // It refuses after the handshake. A body that is sent before the alert is read would
            // find the connection lost, so this one waits for its speaker.
            let without = try #require(await upload(to: front, isComplete: false).result())
            #expect(without.ending == .insecure("the service wants a certificate of the client's"))
        }
    }

    // MARK: - Answers that are cut

    /// With and without close_notify, and shorter than it says.
    @Test(arguments: [("", [true, false]), ("Content-Length: 100\r\n", [false])])
    func anAnswerThatIsCutIsNoSuccess(_ length: String, _ ends: [Bool]) async throws {
        let gate = Gate()
        let text = "HTTP/1.1 200 OK\r\n\(length)\r\n{\"text\":\"pay"
        let cut: [ServerStep] = [.readHead, .readBodyToEnd, .sendRaw(Array(text.utf8))]
        let server = try RecordingServer(
            scripts: ends.map { cut + [.stallUntil($0 ? gate : Gate()), .close] })
        let front = try await TLSFront(to: server.port, "chunked_transfer_encoding off;")
        for isOrderly in ends {
            let upload = try upload(to: front)
            #expect(await upload.recorder.wait { $0.body.count == 12 })
            isOrderly ? gate.open() : front.stop()
            let ending = try #require(await upload.result()).ending
            switch ending {
            case .connectionLost: break
            case .badResponse where length.isEmpty: break
            default: Issue.record("\(ending)")
            }
        }
    }
}
