// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService

@Suite struct HostileAnswerTests {
    private static let rules: [AnswerRule] = [
        .automatic, AnswerRule(framing: .text), .json(path: JSONPath(dotted: "text")),
        AnswerRule(framing: .sequence),
    ]

    @Test(arguments: rules)
    func sixtyMegabytesAreRefusedAfterEight(rule: AnswerRule) {
        var decoder = rule.makeDecoder(AnswerHead())
        let opening = Array("{\"text\":\"".utf8)
        var chunk = Array(repeating: UInt8(ascii: "a"), count: 1 << 16)
        chunk.replaceSubrange(..<opening.count, with: opening)
        var accepted = 0
        var refusal: AnswerError?
        while accepted < 60 << 20 {
            do {
                _ = try decoder.accumulate(chunk.span)
                accepted += chunk.count
                chunk = Array(repeating: UInt8(ascii: "a"), count: 1 << 16)
            } catch {
                refusal = error
                break
            }
        }
        #expect(refusal == .tooLarge(limit: 8 << 20))
        #expect(accepted == 8 << 20)
    }

    @Test(arguments: ["[", "{\"a\":", "[[{\"text\":"])
    func nestingWithoutEndIsRefused(opening: String) {
        let bomb = String(repeating: opening, count: 200_000)
        for rule in [AnswerRule.json(path: JSONPath(dotted: "text")), .init(framing: .sequence)] {
            guard case .tooDeep(_, limit: 64) = decode(rule, bomb).error else {
                Issue.record("\(rule) did not refuse the depth")
                continue
            }
        }
    }

    @Test func sixtyFourLevelsAreRead() {
        let inner = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
        let rule = AnswerRule.json(path: JSONPath(dotted: "text"))
        #expect(decode(rule, "{\"a\":\(inner),\"text\":\"ok\"}").transcript.text == "ok")
        let deeper = decode(rule, "{\"a\":[\(inner)],\"text\":\"ok\"}")
        #expect(deeper.error == .tooDeep(offset: 68, limit: 64))
    }

    @Test func aMillionSmallValuesAreRefused() {
        let body = "[" + String(repeating: "[],", count: 1_000_000) + "[]]"
        let rule = AnswerRule.json(path: JSONPath(dotted: "text"))
        #expect(decode(rule, body).error == .tooManyValues(limit: 500_000))
    }

    @Test(
        arguments: [
            ([0xFF, 0xFE, 0x7B, 0x00], 3), ([0x68, 0x00, 0x69, 0x00], 1),
        ] as [([UInt8], Int)])
    func textInUTF16IsNamedByItsByte(body: [UInt8], offset: Int) {
        #expect(
            decode(AnswerRule(framing: .text), chunks: [body]).error == .notText(offset: offset))
    }

    /// One for each byte, or for the beginning of a character.
    @Test(
        arguments: [
            ([0xE9], "\u{FFFD}"), ([0xC3, 0x28], "\u{FFFD}("), ([0xE2, 0x82], "\u{FFFD}"),
            ([0xFF, 0xFE], "\u{FFFD}\u{FFFD}"), ([0xC3, 0xA9], "é"), ([0x80, 0x62], "\u{FFFD}b"),
            ([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"), ([0xF0, 0x9F, 0x8E], "\u{FFFD}"),
        ] as [([UInt8], String)])
    func aByteThatIsNotUTF8CostsOneCharacter(_ bytes: [UInt8], _ character: String) {
        let forms: [(AnswerRule, String, String)] = [
            (AnswerRule(framing: .text), "caf", " au lait"),
            (.automatic, "caf", " au lait"),
            (.json(path: JSONPath(dotted: "text")), "{\"text\":\"caf", " au lait\"}"),
            (.json(path: JSONPath(dotted: "text")), "{\"text\":\"\\u0063af", " au lait\"}"),
            (AnswerRule(framing: .sequence), "{\"text\":\"caf", " au lait\"}\n"),
            (AnswerRule(framing: .events), "data: {\"text\":\"caf", " au lait\"}\n\n"),
            (AnswerRule(framing: .events), "data: caf", " au lait\n\n"),
            (AnswerRule(framing: .subtitles), "1\n00:00:00,000 --> 00:00:01,000\ncaf", " au lait"),
            (AnswerRule(framing: .subtitles), "WEBVTT\n\n00:00.000 --> 00:01.000\ncaf", " au lait"),
        ]
        for (rule, start, end) in forms {
            let body = Array(start.utf8) + bytes + Array(end.utf8)
            #expect(decode(rule, chunks: [body]).text == "caf\(character) au lait")
            #expect(decode(rule, chunks: body.map { [$0] }).text == "caf\(character) au lait")
        }
    }

    @Test(
        arguments: [
            ("iso-8859-1", [0x63, 0x61, 0x66, 0xE9], "café"), ("ISO-8859-1", [0x93, 0xA4], "“¤"),
            ("windows-1252", [0x80, 0x20, 0x9C, 0xFF], "€ œÿ"), ("\"utf-8\"", [0xC3, 0xA9], "é"),
            ("utf-16", [0xFF, 0xFE, 0x68, 0, 0xE9, 0], "hé"),
            ("utf-16", [0xFE, 0xFF, 0, 0x68, 0x20, 0x1C], "h“"),
            ("utf-16", [0, 0x68, 0, 0x69], "hi"),
            ("UTF-16LE", [0x3D, 0xD8, 0x00, 0xDE, 0x21, 0], "😀!"),
            ("utf-16be", [0xD8, 0x3D, 0xDE, 0x00], "😀"),
            ("utf-16be", [0xD8, 0x3D, 0, 0x21], "\u{FFFD}!"),
            ("utf-16le", [0x68, 0, 0x69], "h\u{FFFD}"), ("koi8-r", [0xC1], "\u{FFFD}"),
            ("", [0x68], "h"),
        ] as [(String, [UInt8], String)])
    func aCharsetThatTheTypeNamesIsRead(_ name: String, _ body: [UInt8], _ text: String) {
        for type in ["text/plain; charset=\(name)", "text/plain;x=1; Charset=\(name) ;y=2"] {
            let rule = AnswerRule(framing: .text)
            #expect(decode(rule, chunks: [body], mediaType: type).text == text)
            #expect(decode(rule, chunks: body.map { [$0] }, mediaType: type).text == text)
        }
    }

    @Test func aCharsetHoldsForEachFormAndForRefusals() {
        let event = Array(
            "data: {\"text\":\"caf\u{E9}\"}\n\n".unicodeScalars.map { UInt8($0.value) })
        #expect(
            decode(.automatic, chunks: [event], mediaType: "text/event-stream; charset=latin1").text
                == "café")
        let json = "{\"text\":\"zehn\"}".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(
            decode(.automatic, chunks: [json], mediaType: "application/json; charset=utf-16").text
                == "zehn")
        let words = ServiceMessage.extract(
            from: [0x70, 0x61, 0x73, 0x20, 0xE0], contentType: "text/plain; charset=iso-8859-1")
        #expect(words == "pas à")
    }

    @Test(arguments: [
        "NaN", "nan", "-nan", "Infinity", "-Infinity", "inf", "-INF", "[NaN,-inf]", "null",
    ])
    func aNumberThatIsNotFiniteIsNone(_ number: String) {
        let body =
            "{\"confidence\":\(number),\"words\":[{\"word\":\"a\",\"start\":\(number)}],\"text\":\"a\"}"
        for rule in [AnswerRule.automatic, .json(path: JSONPath(dotted: "text"))] {
            let decoded = decode(rule, body, mediaType: "application/json")
            #expect(decoded.text == "a")
            #expect(decoded.transcript.confidence == nil)
        }
    }

    @Test(arguments: ["nanx", "infinit", "-", "--inf", "NaNs", "i", "nul"])
    func aWordThatIsNoNumberIsStillRefused(_ word: String) {
        #expect(
            decode(.json(path: JSONPath(dotted: "text")), "{\"a\":\(word),\"text\":\"a\"}").text
                == nil)
    }

    @Test(arguments: [0, 1, 2, 3])
    func marksOfTheByteOrderAreDropped(_ count: Int) {
        let marks = String(repeating: "\u{FEFF}", count: count)
        for (rule, body) in [
            (AnswerRule.automatic, "{\"text\":\"a\"}"), (AnswerRule(framing: .text), "a"),
            (.automatic, "data: {\"text\":\"a\"}\n\n"),
            (AnswerRule(framing: .events), "data: a\n\n"),
            (AnswerRule(framing: .sequence), " {\"text\":\"a\"}"),
            (.json(path: JSONPath(dotted: "text")), "{\"text\":\"a\"}"),
            (AnswerRule(framing: .subtitles), "WEBVTT\n\n00:00.000 --> 00:01.000\na"),
        ] as [(AnswerRule, String)] {
            #expect(decode(rule, marks + body).text == "a")
            #expect(decode(rule, chunks: (marks + body).utf8.map { [$0] }).text == "a")
        }
    }

    @Test(
        arguments: [
            (
                .events,
                [
                    "data: ", ": comment\n", "event: x\n", "data: {\"type\":\"ready\"}\n\n", "\n",
                    "data: a\n", "data: {\"text\":\"a\"}\n\n",
                    "data: {\"type\":\"transcript.text.delta\",\"delta\":\"a\"}\n\n",
                    "data: {\"type\":\"transcription.segment\",\"text\":\"a\"}\n\n",
                ]
            ),
            (
                .subtitles,
                ["x", "x\n", "1\n00:00:00,000 --> 00:00:01,000\nmore and more\n\n", "\n"]
            ),
            (
                .sequence,
                [
                    "{\"type\":\"final\",\"text\":\"so it goes on\"}\n", "[1,2,3,4]\n", "12345\n",
                    "     ", "{\"type\":\"ready\"}",
                    "{\"type\":\"final\",\"text\":\"\",\"words\":[1]}",
                ]
            ),
        ] as [(AnswerFraming, [String])])
    func whatGrowsWithoutEndIsRefused(framing: AnswerFraming, pieces: [String]) {
        for piece in pieces {
            let chunks = Array(repeating: Array(piece.utf8), count: 2000)
            let decoded = decode(AnswerRule(framing: framing), chunks: chunks, byteLimit: 1000)
            #expect(decoded.error == .tooLarge(limit: 1000), "\(piece)")
        }
    }

    @Test func randomMutationsNeverTrap() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed of randomMutationsNeverTrap: \(seed)")
        var random = SeededRandom(seed: seed)
        let samples = [
            Samples.endpoint, Samples.dictation, Samples.oldSpeech, Samples.typedSpeech,
            "{\"error\":{\"message\":\"x\"},\"detail\":[{\"msg\":\"y\"}]}",
            "<!DOCTYPE html><title>a &amp; b</title><script>x</script>",
        ].map { Array($0.utf8) }
        for _ in 0..<2000 {
            var body = samples.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...8, using: &random) { Self.mutate(&body, &random) }
            var chunks: [[UInt8]] = []
            var rest = body[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...rest.count, using: &random)
                chunks.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            for rule in Self.rules {
                let whole = decode(rule, chunks: [body])
                let parts = decode(rule, chunks: chunks)
                #expect(whole.hypotheses == parts.hypotheses, "seed \(seed)")
                #expect(
                    whole.error?.withoutExcerpt == parts.error?.withoutExcerpt, "seed \(seed)")
            }
            let message = ServiceMessage.extract(from: body, contentType: nil)
            #expect((message?.utf8.count ?? 0) <= 200, "seed \(seed)")
        }
    }

    private static func mutate(_ body: inout [UInt8], _ random: inout SeededRandom) {
        let interesting = Array("{}[]\",:\\u0e-.<>&\n\r\u{1E}".utf8) + [0x00, 0x80, 0xC3, 0xFF]
        let place = Int.random(in: 0...body.count, using: &random)
        let byte = interesting.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<4, using: &random) {
        case 0: body.insert(byte, at: place)
        case 1 where place < body.count: body.remove(at: place)
        case 2 where place < body.count: body[place] = byte
        default: body.removeSubrange(place...)
        }
    }
}
