// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Cassettes

@Suite struct CassetteTests {
    @Test func whatIsWrittenIsRead() throws {
        var request = Cassette.Request(method: "PUT", url: "https://speech.example/v1?key=…")
        request.headers = [
            CassetteField("Content-Type", "audio/wav"), CassetteField("X-Note", "a: b"),
        ]
        var body = Cassette.Body(bytes: 6_400)
        body.sha256 = String(repeating: "a", count: 64)
        body.sent = [[0, 3_200], [100.5, 6_400]]
        request.body = body
        var response = Cassette.Response(status: 200)
        response.headers = [CassetteField("content-type", "application/json")]
        (response.ms, response.after) = (99.5, 3_200)
        response.body = [
            CassettePiece(Array("{\"text\":\"grüß\"}\r\n".utf8), ms: 100, after: 3_200),
            CassettePiece([0xFF, 0x00, 0xC3]),
        ]
        var cassette = Cassette(request, response)
        (cassette.title, cassette.ending) = ("a test", "connection-lost")
        let json = cassette.json
        #expect(try Cassette(json) == cassette)
        let text = String(decoding: json, as: UTF8.self)
        #expect(text.contains("\"X-Note: a: b\""))
        #expect(text.contains("grüß"))
        #expect(text.contains("\"base64\" : \"/wDD\""))
    }

    @Test func aShortOneByHandIsEnough() throws {
        let text = """
            {"version": 1, "request": {"url": "http://localhost/asr"},
             "response": {"status": 200, "body": [{"text": "hello"}]}}
            """
        let cassette = try Cassette(Array(text.utf8))
        #expect(cassette.request.method == "POST")
        #expect(cassette.request.target == "/asr")
        #expect(cassette.request.origin == "http://localhost")
        #expect(cassette.response?.bytes == Array("hello".utf8))
        #expect(cassette.response?.after == nil)
    }

    @Test(arguments: [
        ("http://host:1", "/"), ("http://host:1?a=/b", "/?a=/b"), ("http://host:1/", "/"),
    ])
    func aURLWithoutAPathHasATarget(_ url: String, _ target: String) {
        let request = Cassette.Request(url: url)
        #expect(request.target == target)
        #expect(request.origin == "http://host:1")
    }

    @Test(arguments: [
        ("", "it is not JSON"), ("[]", "it is not"), ("{}", "'version' is missing"),
        (#"{"version": 2}"#, "its version is 2"),
        (#"{"version": 1}"#, "'request' is missing"),
        (#"{"version": 1, "request": {"url": "u", "headers": ["bad"]}}"#, "no ':'"),
        (#"{"version": 1, "request": {"url": "u"}, "response": {"status": 99}}"#, "'status'"),
        (
            #"{"version": 1, "request": {"url": "u"}, "response": {"status": 200, "body": [{}]}}"#,
            "'base64' is missing"
        ),
    ])
    func whatIsWrongIsSaid(_ text: String, _ reason: String) {
        let error = #expect(throws: CassetteError.self) { try Cassette(Array(text.utf8)) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test func aFolderIsReadInTheOrderOfItsNames() throws {
        let folder = try TemporaryFolder()
        for name in ["2-poll.json", "1-create.json"] {
            let cassette = Cassette(Cassette.Request(url: "http://localhost/\(name)"))
            try folder.write(cassette.json, to: name)
        }
        try folder.write(Array("a note".utf8), to: "notes.txt")
        let all = try Cassette.load(folder.path)
        #expect(all.map(\.request.target) == ["/1-create.json", "/2-poll.json"])
        #expect(try Cassette.load(folder.path("2-poll.json")).count == 1)
        let other = try folder.write(Array("no cassette".utf8), to: "other.txt")
        #expect(throws: CassetteError.self) { try Cassette.load(other) }
        #expect(throws: CassetteError.self) { try Cassette.load(folder.path("missing")) }
    }

    @Test func aRequestIsComparedInWhatMatters() {
        var expected = Cassette.Request(url: "https://speech.example/v1/listen?model=a&key=…")
        expected.headers = [
            CassetteField("Content-Type", "multipart/form-data; boundary=x"),
            CassetteField("Authorization", "Token …"), CassetteField("User-Agent", "other"),
        ]
        let headers = [
            CassetteField("content-type", "Multipart/Form-Data;boundary=y"),
            CassetteField("authorization", "Token sesame"),
        ]
        func differences(
            _ method: String, _ target: String, _ headers: [CassetteField]
        ) -> [String] {
            expected.differences(method: method, target: target, headers: headers)
        }
        #expect(differences("POST", "/v1/listen?key=sesame&model=a", headers) == [])
        #expect(
            differences("PUT", "/v2?model=b&x=1&key=", []) == [
                "the method is PUT, not POST", "the path is /v2, not /v1/listen",
                "the query's key is '', not '…'", "the query's model is 'b', not 'a'",
                "the query has x", "the Content-Type is missing, not multipart/form-data",
                "the field Authorization is missing",
            ])
        #expect(
            differences(
                "POST", "/v1/listen?key=s&model=a",
                [headers[0], CassetteField("Authorization", "Bearer sesame")])
                == ["the field Authorization is not written as 'Token …'"])
    }
}
