// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings
@testable import SpeechService

@Suite struct RecognitionServiceTests {
    private func service(
        headers: [HeaderField] = [], contentType: String? = nil
    ) throws -> RecognitionService {
        try RecognitionService(
            url: ServiceURL("https://h/x?key=hush"), headers: headers,
            credential: Credential(secret: "hush-hush\n"), contentType: contentType)
    }

    @Test func ourFieldsComeFirst() throws {
        let fields = try service(headers: [HeaderField(line: "X-Language:  en ")])
            .requestHeaders(contentType: "audio/wav")
        #expect(fields.map(\.name) == ["Content-Type", "Accept", "Authorization", "X-Language"])
        #expect(fields.first?.value == "audio/wav")
        #expect(fields.first { $0.isNamed("authorization") }?.value == "Bearer hush-hush")
        #expect(fields.last?.value == "en")
    }

    @Test func aFieldThatIsNamedReplacesOurs() throws {
        let own = [
            try HeaderField(line: "authorization: Token abc"), try HeaderField(line: "ACCEPT: */*"),
        ]
        let service = try service(headers: own, contentType: "audio/l16; rate=16000")
        let frame = service.frame(mediaType: "audio/wav", fileName: "audio.wav", id: "7")
        let fields = service.requestHeaders(contentType: frame.contentType)
        #expect(fields.map(\.name) == ["Content-Type", "authorization", "ACCEPT"])
        #expect(fields.first?.value == "audio/l16; rate=16000")
    }

    @Test func noSecretIsPrinted() throws {
        let service = try service(headers: [HeaderField(name: "X-Api-Key", value: "hush")])
        var printed = "\(service) \(String(reflecting: service))"
        dump(service, to: &printed)
        let fields = service.requestHeaders(contentType: "audio/wav")
        printed += "\(fields)"
        dump(fields, to: &printed)
        #expect(!printed.contains("hush"))
        #expect(printed.contains("X-Api-Key: redacted"))
        #expect(printed.contains("Bearer redacted"))
        #expect(printed.contains("Content-Type: audio/wav"))
    }

    @Test(arguments: ["", " \n", "a\nb", "a\rb", "a\0b", "käse", "a\u{7F}"])
    func aSecretThatCannotBeSentIsRefused(secret: String) {
        #expect(throws: ServiceError.self) { try Credential(secret: secret) }
    }

    @Test func aSchemeIsAWord() throws {
        #expect(try Credential(scheme: "Token", secret: "x").value == "Token x")
        #expect(throws: ServiceError.invalidCredential(reason: "its scheme is not a word")) {
            try Credential(scheme: "Api Key", secret: "x")
        }
    }

    @Test(arguments: [
        "", "X Y: a", "X-Y", ": a", "X: a\r\nY: b", "X: a\nb", "X: a\0", "X: \u{1B}[m", "Ü: a",
        "Content-Length: 1", "transfer-encoding: chunked", "Host: evil", "Expect: 100-continue",
        "X\r\n: a", "X : a",
    ])
    func aFieldThatWouldInjectIsRefused(line: String) {
        #expect(throws: ServiceError.self) { try HeaderField(line: line) }
    }

    @Test func aValueMayHoldColonsAndOtherLetters() throws {
        let field = try HeaderField(line: "X-Name: a: ü\t")
        #expect(field.name == "X-Name")
        #expect(field.value == "a: ü")
    }

    @Test func aContentTypeIsChecked() {
        #expect(throws: ServiceError.self) { try service(contentType: "audio/wav\r\nX: y") }
    }
}

/// How a profile describes a store that takes parts, and what such a store answers.
@Suite struct PartsPlanTests {
    private func plan(_ text: String) throws -> PartsPlan {
        var reader = SettingsReader(try SettingsDocument.parse(text), name: "exchange")
        return try PartsPlan(&reader)
    }

    @Test(arguments: [
        ("", "parts need 'part' and 'complete', a whole 'whole'"),
        ("part = {}", "parts need"),
        ("create = {}\nwhole = {}", "parts need"),
        ("whole = {}\nparallel = 5", "'exchange.parallel' is not between 1 and 4"),
        ("whole = {}\nsmallest = 0", "'exchange.smallest' is not between"),
        ("whole = {}\nsmallest = 10\nlargest = 9", "'exchange.largest' is below 'smallest', 10"),
        ("whole = { text = 'a', json = '{}' }", "sends something else"),
    ])
    func whatMakesNoSenseIsRefused(_ text: String, _ reason: String) {
        #expect { try plan(text) } throws: {
            ($0 as? SettingsError)?.reason.contains(reason) ?? false
        }
    }

    @Test func theListOfPartsIsEscapedForItsKind() throws {
        let markup = try plan("whole = {}\neach = '<P>{number}:{tag}</P>'")
        #expect(markup.list(of: ["\"a&b\"", "c"]) == "<P>1:\"a&amp;b\"</P><P>2:c</P>")
        let json = try plan("whole = {}\neach = '{\"n\":{number},\"t\":\"{tag}\"}'\nbetween = ','")
        #expect(json.list(of: ["\"a\"", "b"]) == #"{"n":1,"t":"\"a\""},{"n":2,"t":"b"}"#)
    }

    @Test func partsAreOfTheAudioAlone() {
        let text = """
            url = "https://store.example/"
            exchange = { kind = "parts", whole = {} }
            body = { kind = "form" }
            """
        #expect {
            try ServiceProfile(texts: [ProfileText(name: "x", text: text)])
        } throws: {
            ($0 as? SettingsError)?.reason.contains("parts are of the audio alone") ?? false
        }
    }

    @Test(arguments: [
        ("<R><Code>A</Code></R>", ["A"]),
        (
            "<?xml version=\"1.0\"?>\n<x:R xmlns:x='u'><x:Code a='b'>A &amp; B</x:Code></x:R>",
            ["A & B"]
        ),
        ("<R><Code><![CDATA[<a>]]></Code></R>", []),
        ("<R><Code><![CDATA[a&b]]></Code><Code>c</Code></R>", ["a&b", "c"]),
        ("<R><Code>cut", []), ("<Code/>", []), ("{\"Code\":1}", []), ("", []),
    ])
    func theTextOfAnElementIsFound(_ document: String, _ texts: [String]) {
        #expect(XMLElement.texts(of: "Code", in: Array(document.utf8)) == texts)
    }
}
