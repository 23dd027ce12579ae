// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import CassetteRecording
@testable import Cassettes
@testable import SpeechService
@testable import Utter

/// Requests and their answers as files, and what must not be in them.
@Suite struct CassetteRecorderTests {
    private let tape: TemporaryFolder
    private let bench: Bench

    init() throws {
        tape = try TemporaryFolder()
        bench = try Bench()
    }

    /// Sends a recording, and reads what was written.
    private func record(
        _ server: RecordingServer, path: String = "/asr", keepsBodies: Bool = false,
        retry: RetryPolicy = .never, change: (inout TakePlan) throws -> Void = { _ in }
    ) async throws -> [Cassette] {
        let take = try bench.replay(
            Array(repeating: 7, count: 16_000), to: server.url(path), retry: retry
        ) { plan in
            plan.delivery.observing = try CassetteFolder(
                path: tape.path, keepsBodies: keepsBodies
            ).observing
            plan.isCompleteSoon = true
            try change(&plan)
        }
        _ = try await take.end()
        #expect(await bench.flush())
        return try Cassette.load(tape.path)
    }

    @Test func aRequestAndItsAnswerAreWritten() async throws {
        let server = try RecordingServer(
            otherwise: .answer(
                headers: [
                    TestSupport.HeaderField("Content-Type", "application/json"),
                    TestSupport.HeaderField("X-Id", "7"),
                ], text: #"{"text":"grüß dich"}"#))
        let cassettes = try await record(server, path: "/asr?lang=de")
        let cassette = try #require(cassettes.first)
        #expect(cassettes.count == 1)
        #expect(cassette.request.method == "POST")
        #expect(cassette.request.url == server.url("/asr?lang=de"))
        #expect(
            cassette.request.headers.value(of: "Content-Type") == "audio/pcm;rate=16000;channels=1")
        #expect(cassette.request.headers.value(of: "Transfer-Encoding") == nil)
        let body = try #require(cassette.request.body)
        let sent = try #require(server.requests.first)
        #expect(body.bytes == sent.body.count)
        #expect(body.sent?.last?.last == Double(sent.body.count))
        #expect(body.sha256?.count == 64)
        #expect(body.file == nil)
        let response = try #require(cassette.response)
        #expect(response.status == 200)
        #expect(response.headers.value(of: "x-id") == "7")
        #expect(response.headers.value(of: "content-length") == nil)
        #expect(response.bytes == Array(#"{"text":"grüß dich"}"#.utf8))
        #expect(response.after == nil)
        #expect(response.ms.map { $0 >= 0 } == true)
        #expect(cassette.ending == nil)
        #expect(cassette.recorded?.hasSuffix("Z") == true)
    }

    @Test func aPartialSaysHowMuchTheServiceHad() async throws {
        let more = Gate()
        let server = try RecordingServer(scripts: [
            [
                .readHead, .readBody(bytes: 320), .beginResponse(status: 200),
                .sendBodyChunk(text: "{\"text\":\"go\"}\n"), .open(more), .readBodyToEnd,
                .sendBodyChunk(text: "{\"text\":\"go forward\"}\n"), .endResponse,
            ]
        ])
        let (speaker, take, log) = try bench.speak(to: server.url()) { plan in
            plan.delivery.observing = try CassetteFolder(path: tape.path).observing
            plan.delivery.service.answer = try AnswerRule("sequence")
        }
        speaker.say(Array(repeating: 7, count: 320))
        #expect(await more.wait())
        #expect(await log.wait { $0.isHeard })
        speaker.say(Array(repeating: 7, count: 3_200))
        speaker.fallSilent()
        _ = try await take.end()
        #expect(await bench.flush())
        let response = try #require(try Cassette.load(tape.path).first?.response)
        #expect(response.body.count == 2)
        #expect(response.body.first?.after == 640)
        #expect(response.body.last?.after == nil)
    }

    @Test func eachAttemptHasItsFile() async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .readBodyToEnd, .close]], otherwise: .answer(text: "heard"))
        var policy = RetryPolicy.standard
        policy.pausesAfterRelease = [.zero]
        let cassettes = try await record(server, retry: policy)
        #expect(cassettes.count == 2)
        #expect(cassettes.first?.ending == "connection-lost")
        #expect(cassettes.first?.response == nil)
        #expect(cassettes.last?.response?.status == 200)
        let names = try tape.names(in: ".").filter { $0.hasSuffix(".json") }.sorted()
        #expect(names.map { $0.hasSuffix("-001.json") } == [true, false])
    }

    @Test func bodiesAreWrittenWhenAskedFor() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let cassettes = try await record(server, keepsBodies: true) { plan in
            plan.delivery.format = .wav
            plan.delivery.service.body = .form(
                try AudioForm(
                    fields: [AudioForm.Field(name: "note", value: "a sesame-key b")],
                    fileField: "file", fileName: nil))
            plan.delivery.service.add(try Credential(secret: "sesame-key"))
        }
        let name = try #require(cassettes.first?.request.body?.file)
        let body = try readFile(tape.path(name))
        let text = String(decoding: body, as: UTF8.self)
        #expect(text.contains("a … b"))
        #expect(!text.contains("sesame-key"))
        // The recording itself is as it was sent.
        let sent = try #require(server.requests.first?.body)
        let saved = "sesame-key".utf8.count - "…".utf8.count
        #expect(body.count == sent.count - saved)
    }

    // MARK: - Secrets

    enum Place: String, CaseIterable {
        case bearer, scheme, header, basic, query
    }

    private static let secret = "s3same/K+ey=99"

    private func credential(at place: Place) throws -> Credential {
        switch place {
        case .bearer: try Credential(secret: Self.secret)
        case .scheme: try Credential(scheme: "Token", secret: Self.secret)
        case .header: try Credential(place: .header("xi-api-key"), secret: Self.secret)
        case .basic:
            try Credential(
                place: .header("Authorization"), form: SecretForm("Basic {base64}"),
                secret: "user:\(Self.secret)")
        case .query:
            try Credential(place: .query("key"), form: .percentEncoded, secret: Self.secret)
        }
    }

    /// Everything that would give the secret away.
    private static var traces: [String] {
        let base64 = Data(secret.utf8).base64EncodedString()
        let basic = Data("user:\(secret)".utf8).base64EncodedString()
        return [
            secret, "s3same%2FK%2Bey%3D99", "s3same%2fK%2bey%3d99", base64, basic,
            #"s3same\/K+ey=99"#, secret.utf8.map { String($0, radix: 16) }.joined(),
            // What is left when a piece ends in its middle.
            "s3same", "K+ey=99",
        ]
    }

    @Test(arguments: Place.allCases)
    func noSecretIsInAFileHoweverItIsRepeated(_ place: Place) async throws {
        // The answer repeats the secret in every spelling, cut in the middle of each.
        let echo = Self.traces.dropLast(2).map { "[\($0)]" }.joined()
        let half = echo.utf8.count / 2
        let echoBytes = Array(echo.utf8)
        let server = try RecordingServer(
            scripts: [
                [
                    .readHead, .readBodyToEnd,
                    .beginResponse(
                        status: 200,
                        headers: [
                            TestSupport.HeaderField("Set-Cookie", "sid=c00kie-value; Path=/"),
                            TestSupport.HeaderField("X-Echo", "you sent \(Self.secret)"),
                            TestSupport.HeaderField(
                                "X-Next", "https://h/p?access_token=fresh-token-1&a=1"),
                        ]),
                    .sendBodyChunk(Array(echoBytes[..<7])),
                    .sendBodyChunk(Array(echoBytes[7..<half])),
                    .sendBodyChunk(Array(echoBytes[half...])),
                    .sendBodyChunk(
                        text: #"{"access_token":"eyJhbGciOiJIUzI1NiJ9.x","token":"go forward"}"#),
                    .sendBodyChunk(text: "c00kie-value"), .endResponse,
                ]
            ])
        let path = place == .query ? "/asr?key=" : "/asr"
        let cassettes = try await record(server, path: path) { plan in
            plan.delivery.service.add(try credential(at: place))
            plan.delivery.service.answer = AnswerRule(framing: .text)
        }
        let request = try #require(server.requests.first)
        // It was sent.
        #expect(
            request.requestLine.contains("key=") || request["Authorization"] != nil
                || request["xi-api-key"] == Self.secret)
        let name = try #require(try tape.names(in: ".").first { $0.hasSuffix(".json") })
        let text = String(decoding: try readFile(tape.path(name)), as: UTF8.self)
        for trace in Self.traces + ["c00kie-value", "fresh-token-1", "eyJhbGci"] {
            #expect(!text.contains(trace), "\(trace) is in \(text)")
        }
        let cassette = try #require(cassettes.first)
        let answer = String(decoding: cassette.response?.bytes ?? [], as: UTF8.self)
        // What is no secret is as it was.
        #expect(answer.contains(#""token":"go forward""#))
        #expect(answer.contains(#""access_token":"redacted""#))
        #expect(cassette.response?.headers.value(of: "x-next") == "https://h/p?access_token=…&a=1")
        switch place {
        case .bearer: #expect(cassette.request.headers.value(of: "authorization") == "Bearer …")
        case .scheme: #expect(cassette.request.headers.value(of: "authorization") == "Token …")
        case .basic: #expect(cassette.request.headers.value(of: "authorization") == "Basic …")
        case .header: #expect(cassette.request.headers.value(of: "xi-api-key") == "…")
        case .query: #expect(cassette.request.url == server.url("/asr?key=…"))
        }
    }

    @Test func fieldsWithNamesOfSecretsAreLeftOutThatNothingElseKnows() throws {
        let head = """
            POST /v1?sig=abcd1234&x=1 HTTP/1.1\r\nHost: h\r\nX-NLS-Token: t0ken-unknown\r
            Hound-Client-Authentication: me;123;deadbeef\r\nCookie: a=b; c=delight\r\n\r\n
            """
        let service = try RecognitionService(url: ServiceURL("https://h/v1"))
        let scrubber = CassetteScrubber(
            service, head: head, [], url: "https://h/v1?sig=abcd1234&x=1")
        let fields = scrubber.clean(requestHead: head)
        #expect(
            fields == [
                CassetteField("X-NLS-Token", "…"),
                CassetteField("Hound-Client-Authentication", "…"), CassetteField("Cookie", "…"),
            ])
        #expect(scrubber.clean(url: "https://h/v1?sig=abcd1234&x=1") == "https://h/v1?sig=…&x=1")
        let pieces = scrubber.clean([CassettePiece(Array("t0ken-unknown delight".utf8))])
        #expect(pieces.flatMap(\.bytes) == Array("… …".utf8))
    }

    @Test func everyCutOfAnAnswerHidesTheSecret() throws {
        let service = try RecognitionService(
            url: ServiceURL("https://h/"), credential: Credential(secret: Self.secret))
        let scrubber = CassetteScrubber(service, head: "", [], url: "https://h/")
        let bytes = Array("a \(Self.secret) b".utf8)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let pieces = [bytes[..<first], bytes[first..<second], bytes[second...]]
                    .map { CassettePiece(Array($0)) }
                let clean = scrubber.clean(pieces)
                #expect(clean.flatMap(\.bytes) == Array("a … b".utf8))
                #expect(clean.count == 3)
            }
        }
    }
}
