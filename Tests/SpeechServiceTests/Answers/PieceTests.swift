// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

/// Messages in which some pieces of words are final, and others may still change.
@Suite struct PieceTests {
    private static let profile = """
        url = "http://127.0.0.1:9/"
        [answer]
        framing = "sequence"
        words = { path = "tokens", start = "from", end = "to", unit = 0.001, final = "is_final" }
        select = [{ path = "finished", equals = true, is = "end" }]
        """

    private static func rule() throws -> AnswerRule {
        try ServiceProfile.reading([ProfileText(name: "mine", text: profile)]).answer
    }

    /// A message: pieces behind `|` may change.
    private static func message(_ text: String) -> String {
        let halves = text.split(separator: "|", omittingEmptySubsequences: false)
        let pieces = halves.enumerated().flatMap { half, text in
            text.split(separator: "/").map { piece in
                #"{"text":"\#(piece)","is_final":\#(half == 0),"from":0,"to":500}"#
            }
        }
        return "{\"tokens\":[\(pieces.joined(separator: ","))]}\n"
    }

    private static func decoded(
        _ messages: [String], isEnded: Bool = true
    ) throws -> Decoded {
        let rule = try Self.rule()
        let end = isEnded ? #"{"tokens":[],"finished":true}"# : ""
        return decode(rule, messages.map(message).joined() + end)
    }

    @Test func aWordIsFinalOnceAnotherOneBegins() throws {
        let decoded = try Self.decoded(["| he/llo", " he|llo", "llo| wor", " wor/ld|", "."])
        let texts = decoded.hypotheses.map { hypothesis in
            (hypothesis.isFinal ? hypothesis.text : "") + "|"
                + (hypothesis.isFinal ? hypothesis.partial : hypothesis.text)
        }
        #expect(
            texts == [
                "| hello", "| hello", "| hello wor", " hello| world", "| world.", "| world.",
                " world.|",
            ])
        #expect(decoded.text == "hello world.")
        #expect(decoded.transcript.words.map(\.text) == ["hello", "world."])
        #expect(decoded.transcript.words.map(\.end) == [0.5, 0.5])
    }

    /// Each sign of a script without spaces may be a word.
    @Test func aScriptWithoutSpacesHasFinalsToo() throws {
        let decoded = try Self.decoded(["今天/很好|。", "。/我们|走"], isEnded: false)
        let finals = decoded.hypotheses.filter(\.isFinal)
        // The end of the answer makes the rest final.
        #expect(finals.map(\.text) == ["今天", "很好。", "我们走"])
        #expect(try Self.decoded(["今天/很好|。", "。/我们|走", "走吧"]).text == "今天很好。我们走吧")
    }

    /// A script that is not known has finals in the end as well.
    @Test func noWordIsEndless() throws {
        let pieces = Array(repeating: "ก", count: 500)
        let decoded = try Self.decoded(pieces)
        #expect(decoded.hypotheses.filter(\.isFinal).count > 400)
        #expect(decoded.hypotheses.allSatisfy { $0.text.count < 70 })
    }

    @Test func nothingHeardIsSilence() throws {
        let decoded = try Self.decoded(["", "|"])
        #expect(decoded.text == "")
    }

    /// An end without a text is no silence where a text stands at another place.
    @Test func aTextElsewhereIsMissed() throws {
        let rule = try Self.rule()
        let decoded = decode(rule, #"{"words":{"text":"go on"}}{"finished":true}"#)
        guard case .missingText = decoded.error else {
            Issue.record("\(decoded)")
            return
        }
    }
}
