// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload

/// TLS, against OpenSSL's own server.
@Suite struct TransferTLSTests {
    private static let body = Array("the voice".utf8)

    @Test func anUnknownAuthorityIsRefusedBeforeAnyByte() async throws {
        let server = try await TLSServer()
        let upload = try Upload(to: server.url, Self.body, isSealed: true)
        let result = try #require(await upload.result())
        let reason = try result.reason { .insecure($0) }
        #expect(reason.contains("certificate"))
        #expect(result.sentByteCount == 0)
        #expect(upload.recorder.record.look { $0.connects } == 0)
        #expect(!server.text.contains("POST"))
        #expect(!server.text.contains("the voice"))
    }

    @Test func anotherHostsCertificateIsRefused() async throws {
        let server = try await TLSServer(certificateFor: "DNS:speech.example")
        let upload = try Upload(to: server.url, Self.body, isSealed: true) {
            $0.connection.certificateFile = server.certificateFile
        }
        let result = try #require(await upload.result())
        _ = try result.reason { .insecure($0) }
        #expect(result.sentByteCount == 0)
        #expect(!server.text.contains("the voice"))
    }

    @Test func aMissingCertificateFileIsSaid() async throws {
        let server = try await TLSServer()
        let upload = try Upload(to: server.url, Self.body, isSealed: true) {
            $0.connection.certificateFile = "/nowhere/authority.pem"
        }
        let reason = try #require(await upload.result()).reason { .insecure($0) }
        #expect(reason.contains("/nowhere/authority.pem"))
    }

    @Test(arguments: ["-tls1", "-tls1_1"])
    func anOldProtocolIsRefused(_ option: String) async throws {
        let server = try await TLSServer(options: [option, "-cipher", "ALL:@SECLEVEL=0"])
        let upload = try Upload(to: server.url, Self.body, isSealed: true) {
            $0.connection.certificateFile = server.certificateFile
        }
        let result = try #require(await upload.result())
        #expect(result.ending != .answered)
        #expect(result.sentByteCount == 0)
    }

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
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(upload.recorder.text == "heard")
        #expect(result.timings.secured != nil)
    }

    @Test(arguments: [true, false])
    func anAnswerThatEndsWithTheConnectionIsNoSuccess(isOrderly: Bool) async throws {
        let server = try await TLSServer()
        let upload = try Upload(to: server.url, Self.body, isSealed: true) {
            $0.connection.certificateFile = server.certificateFile
        }
        #expect(await server.hasReceived("\r\n0\r\n\r\n"))
        server.send("HTTP/1.1 200 OK\r\n\r\n{\"text\":\"pay")
        #expect(await upload.recorder.wait { $0.body.count == 12 })
        isOrderly ? server.closeOrderly() : server.cut()
        let result = try #require(await upload.result())
        switch result.ending {
        case .badResponse, .connectionLost: break
        default: Issue.record("\(result.ending)")
        }
    }

    @Test func anAnswerShorterThanItSaysIsNoSuccess() async throws {
        let server = try await TLSServer()
        let upload = try Upload(to: server.url, Self.body, isSealed: true) {
            $0.connection.certificateFile = server.certificateFile
        }
        #expect(await server.hasReceived("\r\n0\r\n\r\n"))
        server.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"text\":\"pay")
        #expect(await upload.recorder.wait { $0.body.count == 12 })
        server.cut()
        _ = try #require(await upload.result()).reason { .connectionLost($0) }
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
}
