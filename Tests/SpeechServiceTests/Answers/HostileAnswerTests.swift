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
            ([0xFF, 0xFE, 0x7B, 0x00], AnswerError.notText(offset: 0)),
            ([0x68, 0x00, 0x69, 0x00], .notText(offset: 1)),
            ([0x68, 0xC3, 0x28], .notText(offset: 1)),
            ([0x68, 0xED, 0xA0, 0x80], .notText(offset: 1)),
            ([0x68, 0xE2, 0x82], .notText(offset: 1)),
        ] as [([UInt8], AnswerError)])
    func textThatIsNotUTF8IsNamedByItsByte(body: [UInt8], error: AnswerError) {
        #expect(decode(AnswerRule(framing: .text), chunks: [body]).error == error)
    }

    @Test func aStringThatIsNotUTF8IsNamedByItsByte() {
        let body: [UInt8] = Array("{\"text\":\"a\\u0041".utf8) + [0xC3, 0x28] + Array("\"}".utf8)
        for rule in [AnswerRule.json(path: JSONPath(dotted: "text")), .init(framing: .sequence)] {
            #expect(decode(rule, chunks: [body]).error == .notText(offset: 16))
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
