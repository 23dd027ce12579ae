// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import Settings
@testable import SpeechService
@testable import Utter

/// Signatures of requests, by values that others have computed.
@Suite struct AmazonSignatureTests {
    struct Amazon: Sendable {
        var method = "POST"
        var url: String
        var headers: [(name: String, value: String)] = []
        var session: String?
        var region: String
        var service = "lex"
        var digest: String?
        var signedHeaders: String
        var signature: String
    }

    /// By botocore 1.43.11 with `payload_signing_enabled` false.
    @Test(arguments: [
        Amazon(
            url: "https://runtime.lex.us-east-1.amazonaws.com/bot/Order%20Pizza/alias/%24LATEST/"
                + "user/me/content",
            headers: [("Content-Type", "audio/l16; rate=16000; channels=1")], region: "us-east-1",
            signedHeaders: "content-type;host;x-amz-content-sha256;x-amz-date",
            signature: "99378dd60a0123b0879be584a75ee21e5bddf0de54d47f4214b39294017d3a5c"),
        Amazon(
            url: "https://runtime-v2-lex.eu-west-1.amazonaws.com/bots/B1/botAliases/A1/botLocales/"
                + "en_US/sessions/s%3A1/utterance?b=2&a=1&a=%C3%A4&c",
            headers: [
                ("Content-Type", "audio/x-l16; sample-rate=16000;   channel-count=1"),
                ("User-Agent", "not signed"), ("X-Amz-Lex-Session-State", "abc  def"),
            ], session: "SESSION/TOKEN==", region: "eu-west-1",
            signedHeaders: "content-type;host;x-amz-content-sha256;x-amz-date;"
                + "x-amz-lex-session-state;x-amz-security-token",
            signature: "60c22dc0169b99c04ad5a0d83abf07d63986d0823decdaca07d4b2f216924fef"),
        Amazon(
            method: "PUT", url: "https://example.amazonaws.com:8443/", region: "us-east-1",
            service: "service", signedHeaders: "host;x-amz-content-sha256;x-amz-date",
            signature: "2f8a840618c0b6d098bcd38620cd370728ac7f008e9cbd66908d7ebbb2f46722"),
        // S3 encodes a path once; by botocore 1.44.8.
        Amazon(
            method: "PUT",
            url: "https://voices.s3.eu-west-1.amazonaws.com/a%20b/%C3%BC%2B1%402.wav"
                + "?partNumber=7&uploadId=a%2Bb%3D",
            headers: [("Content-Type", "audio/wav")], region: "eu-west-1", service: "s3",
            digest: String(repeating: "ab", count: 32),
            signedHeaders: "content-type;host;x-amz-content-sha256;x-amz-date",
            signature: "70f8480b9ec970ce0005bb0060dfee73cbae0b87dd334b44a13a0db4dbf340f3"),
        Amazon(
            url: "https://store.example:9000/voices/a%20b.wav?uploads",
            headers: [("Content-Type", "audio/wav"), ("X-Amz-Meta-Take", "20261125-023539")],
            session: "SESSION/TOKEN==", region: "eu-west-1", service: "s3",
            signedHeaders: "content-type;host;x-amz-content-sha256;x-amz-date;x-amz-meta-take;"
                + "x-amz-security-token",
            signature: "70e13dbf732d18e2767711aef9e63be980903cb0c42ea0c9b00ba23e7ee1d878"),
    ])
    func aHeadIsSignedAsAmazonDoes(_ request: Amazon) throws {
        let settings =
            "kind = 'aws-sigv4'\nregion = '\(request.region)'\nservice = '\(request.service)'"
        var reader = SettingsReader(try SettingsDocument.parse(settings), name: "auth")
        var service = try RecognitionService(url: ServiceURL("https://speech.example/"))
        service.authentication = try AuthenticationPlan(&reader)
        let parts: [(String, String?)] = [
            ("key", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), ("user", "AKIDEXAMPLE"),
            ("session", request.session),
        ]
        for (name, value) in parts {
            guard let value else { continue }
            service.add(try Credential(place: .part(name), secret: value))
        }
        let time = try Date("2015-08-30T12:36:00Z", strategy: .iso8601)
        let signed = service.signed(
            request.headers, method: request.method, url: try ServiceURL(request.url),
            digest: request.digest, at: time)
        func value(_ name: String) -> String? { signed.first { $0.name == name }?.value }
        #expect(value("X-Amz-Date") == "20150830T123600Z")
        #expect(value("X-Amz-Content-SHA256") == request.digest ?? "UNSIGNED-PAYLOAD")
        #expect(value("X-Amz-Security-Token") == request.session)
        #expect(
            value("Authorization")
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/\(request.region)/"
                + "\(request.service)/aws4_request, SignedHeaders=\(request.signedHeaders), "
                + "Signature=\(request.signature)")
        #expect(!signed.contains { $0.value.contains("wJalr") })
    }

    @Test func aClockThatIsOffIsSetOnceByTheServices() throws {
        var exchange = PostOnce(
            url: try ServiceURL("https://speech.example/"), allowed: [], policy: .never)
        _ = exchange.begin(isComplete: true)
        var reply = Reply(result: .test(.answered, status: 403))
        reply.result.headers = [("date", "Thu, 01 Jan 1970 01:00:00 GMT")]
        reply.code = "RequestTimeTooSkewed"
        func next() -> ExchangeStep {
            exchange.next(after: reply, isSpeaking: false, at: Moment(clock: 600))
        }
        #expect(next() == .request(after: Pause()))
        #expect(exchange.request.clockOffset == 3_000)
        #expect(exchange.request.number == 2)
        if case .failed = next() {} else { Issue.record("signed a third time") }
    }

    @Test func aServiceWithoutSignaturesIsLeftAsItIs() throws {
        let service = try RecognitionService(url: ServiceURL("https://speech.example/"))
        let signed = service.signed([("A", "b")], method: "POST", url: service.url)
        #expect(signed.map(\.name) == ["A"])
    }
}
