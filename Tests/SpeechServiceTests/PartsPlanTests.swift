// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings
@testable import SpeechService

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
