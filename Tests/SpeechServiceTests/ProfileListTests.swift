// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

/// Words of a profile that are lists.
@Suite struct ProfileListTests {
    @Test(arguments: [
        (
            "de, en-GB,fr", "queue, cube control", "k=queue&k=cube%20control", "de,en",
            #"{"locales":["de","en"],"list":[{"content":"queue"},{"content":"cube control"}],"of":[{"all":["queue","cube control"]}]}"#
        ),
        (
            "de", "queue", "k=queue", "de",
            #"{"locales":["de"],"list":[{"content":"queue"}],"of":[{"all":["queue"]}]}"#
        ),
        (
            "de", "a,b,c", "k=a&k=b", "de",
            #""list":[{"content":"a"},{"content":"b"}],"of":[{"all":["a","b"]}]}"#
        ),
        (nil, nil, "", "", ""),
    ])
    func eachValueOfAListIsSent(
        _ language: String?, _ vocabulary: String?, query: String, header: String, field: String
    ) throws {
        let profile = try ServiceProfile(
            """
            url = "https://a.example/"
            query.k = "{vocabulary}"
            headers.X-Languages = "{language}"
            words.language = { form = "en", list = 2 }
            words.vocabulary = { list = 2 }
            [body]
            kind = "form"
            fields.d.json = '{"locales":["{language}"],"list":[{"content":"{vocabulary}"}],"of":[{"all":["{vocabulary}"]}]}'
            fields.v = "{vocabulary}"
            """)
        let said = ["language": language, "vocabulary": vocabulary].compactMapValues(\.self)
        let service = try profile.service(words: said, format: try profile.format(nil))
        let body = String(
            decoding: service.frame(mediaType: "", fileName: "audio.wav", id: "id").prologue,
            as: UTF8.self)
        #expect(service.url.text == "https://a.example/" + (query.isEmpty ? "" : "?\(query)"))
        #expect(service.headers.map(\.value) == (header.isEmpty ? [] : [header]))
        #expect(body.contains(field) && body.contains("\"d\"") == !field.isEmpty)
        #expect(body.ranges(of: "name=\"v\"").count == query.split(separator: "&").count)
    }
}
