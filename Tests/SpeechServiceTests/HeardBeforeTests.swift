// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AudioCodecs
@testable import SpeechService

/// How a request for a part of a recording tells what was heard before.
@Suite struct HeardBeforeTests {
    private static func service(
        _ lines: String, _ words: [String: String] = [:]
    ) throws -> RecognitionService {
        let profile = try ServiceProfile(
            """
            url = "http://a.example/listen"
            query.lang = "{language}"
            headers.X-Lang = "{language}"
            \(lines)
            """)
        return try profile.service(words: words, format: profile.format(.wav))
    }

    private static func body(_ service: RecognitionService) -> String {
        let frame = service.frame(mediaType: "audio/wav", fileName: "a.wav", id: "id")
        return String(decoding: frame.prologue, as: UTF8.self)
    }

    private static let form = #"body = { kind = "form", fields = { prompt = "{tail}" } }"#
    private static let json =
        #"body = { kind = "json", template = '{"prompt": "{tail}", "a": "{audio}"}' }"#

    @Test func theEndOfTheTextStandsBehindThePrompt() throws {
        let service = try Self.service(Self.form, ["prompt": "Kubernetes"])
        #expect(service.wantsTail)
        #expect(Self.body(service).contains("\r\n\r\nKubernetes\r\n"))
        let second = service.asked(after: HeardBefore(tail: "and so on"))
        #expect(Self.body(second).contains("\r\n\r\nKubernetes and so on\r\n"))
        #expect(second.url == service.url && second.headers == service.headers)
    }

    @Test func withoutAPromptTheFirstRequestHasNoField() throws {
        let service = try Self.service(Self.form)
        #expect(!Self.body(service).contains("prompt"))
        let second = service.asked(after: HeardBefore(tail: "and so on"))
        #expect(Self.body(second).contains("\r\n\r\nand so on\r\n"))
    }

    @Test func aDocumentHasItInQuotes() throws {
        let service = try Self.service(Self.json)
        #expect(service.wantsTail)
        let second = service.asked(after: HeardBefore(tail: "he said \"no\""))
        #expect(Self.body(second).contains(#""he said \"no\"""#))
        #expect(try !Self.service("").wantsTail)
    }

    @Test(arguments: [
        #"url = "http://a.example/{tail}""#, #"query.p = "{tail}""#, #"headers.P = "{tail}""#,
        #"words.tail = "x""#,
    ])
    func itStandsInTheBodyAlone(_ line: String) throws {
        let url = line.hasPrefix("url") ? "" : "url = 'http://a.example/'\n"
        #expect(throws: (any Error).self) { try ServiceProfile(url + line) }
    }

    @Test func aLanguageThatWasHeardIsSaidOfTheRest() throws {
        let service = try Self.service("")
        #expect(service.language(heard: "de") == "de")
        var signed = service
        signed.add(try Credential(place: .header("Authorization"), secret: "sesame"))
        let second = signed.asked(after: HeardBefore(language: "de"))
        #expect(second.url.text == "http://a.example/listen?lang=de")
        #expect(second.headers.map(\.value) == ["de"] && second.credentials == signed.credentials)
        // It is not said of another address, which a person has given.
        var moved = service
        moved.url = try ServiceURL("http://b.example/other")
        #expect(moved.asked(after: HeardBefore(language: "de")).url == moved.url)
    }

    @Test(arguments: [
        ("words.language.form = 'en'", "english", nil), ("", "x", nil), ("", "de-", nil),
        ("words.language.form = 'en-US'", "de", nil),
        ("words.language.form = 'en-US'", "de-AT", "de-AT"),
        ("words.language = 'fr'", "de", nil),
        ("words.language = { only = true, values = { en = 'en' } }", "de", nil),
    ])
    func onlyALanguageThatTheServiceTakesIsSaid(
        _ line: String, _ heard: String, _ said: String?
    ) throws {
        #expect(try Self.service(line).language(heard: heard) == said)
    }

    @Test func aLanguageThatAPersonHasSaidStays() throws {
        #expect(try Self.service("", ["language": "fr"]).language(heard: "de") == nil)
        #expect(try Self.service("").language(heard: nil) == nil)
    }
}
