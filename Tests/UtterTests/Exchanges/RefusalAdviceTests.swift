// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService
@testable import Upload
@testable import Utter

@Suite struct RefusalAdviceTests {
    private func advice(
        _ status: Int, _ message: String? = nil, path: String = "/x",
        sendsAudioAlone: Bool = true, sendsSecret: Bool = true, saysLength: Bool = false,
        fields: (String, String)...
    ) throws -> RefusalAdvice? {
        var result = TransferResult.test(.answered, status: status)
        result.headers = fields.map { (name: $0.0, value: $0.1) }
        return RefusalAdvice(
            result, message: message, url: try ServiceURL("https://h\(path)"),
            sendsAudioAlone: sendsAudioAlone, sendsSecret: sendsSecret, saysLength: saysLength)
    }

    @Test func headersSayWhatMustChange() throws {
        #expect(
            try advice(302, "302 Found", fields: ("location", "https://b/x\u{1b}"))
                == .elsewhere(location: "https://b/x"))
        #expect(
            try advice(302, fields: ("location", "/in")) == .elsewhere(location: "https://h/in"))
        #expect(
            try advice(405, fields: ("allow", "GET, HEAD")) == .otherMethod(allowed: "GET, HEAD"))
        let basic = ("www-authenticate", "Basic realm=\"x\"")
        #expect(try advice(401, fields: basic) == .schemes("Basic"))
        let digest = ("www-authenticate", "Digest a=b")
        #expect(try advice(401, fields: digest, ("www-authenticate", "Bearer")) == nil)
        #expect(try advice(411) == .length)
        #expect(try advice(411, saysLength: true) == .lengthSent)
        #expect(try advice(401, sendsSecret: false) == .tokenMissing)
        #expect(try advice(401) == nil)
        #expect(try advice(403, "Your plan does not include this") == .forbidden)
        #expect(try advice(404, "Model 'x' not found") == .model)
        #expect(try advice(400, "The plain HTTP request was sent to HTTPS port") == .wantsTLS)
        #expect(try advice(413) == nil)
    }

    @Test func wordsAndPathsSayWhatIsWanted() throws {
        #expect(try advice(422, "Field required: body.file") == .form)
        #expect(try advice(400, "Invalid multipart data.") == .form)
        #expect(try advice(400, "model?", path: "/v1/audio/transcriptions?x") == .form)
        #expect(try advice(400, "Invalid request", path: "/inference") == .form)
        #expect(
            try advice(
                400, "Invalid file format", path: "/v1/audio/transcriptions",
                sendsAudioAlone: false) == nil)
        #expect(try advice(404, "Invalid API key") == .token)
        #expect(try advice(404, "Not Found") == nil)
        #expect(try advice(422, "no such language") == nil)
    }
}
