// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite struct EventAnswerTests {
    @Test(arguments: EventSamples.all.indices)
    func eachServicesStreamIsRead(index: Int) {
        let sample = EventSamples.all[index]
        #expect(decode(AnswerRule(framing: .events), sample.body).text == sample.text)
        // By its type, and by its beginning: many send events as `text/plain`.
        for type in ["text/event-stream; charset=utf-8", "text/plain", nil] {
            let isPlain = sample.body == EventSamples.speachesText
            if type == nil || type == "text/plain", isPlain || sample.body.hasPrefix("\u{FEFF}") {
                continue
            }
            let automatic = decode(.automatic, sample.body, mediaType: type)
            #expect(automatic.transcript.text == sample.text, "\(type ?? "no type")")
        }
    }

    @Test(
        arguments: EventSamples.all.map(\.body) + [
            EventSamples.localAIError, "data: {\"text\": nope}\n\n", "data: \u{1E}\n\n: x",
            "\n\n\r\r",
            "event: error\ndata: it broke\n\n",
        ])
    func chunksMayEndAtAnyByte(body: String) {
        for rule in [AnswerRule(framing: .events), .automatic] {
            expectSameForEverySplit(rule, body)
        }
    }

    @Test func aPieceIsKnownBeforeTheStreamEnds() throws {
        var decoder = AnswerRule(framing: .events).makeDecoder(AnswerHead())
        let bytes = Array(EventSamples.openAI.utf8)
        let first = Array("data: {\"type\":\"transcript.text.delta\",\"delta\":\"I see\"}\n\n".utf8)
        let before = try decoder.accumulate(Array(first.dropLast()).span)
        #expect(before.isEmpty)
        var transcript = Transcript()
        transcript.apply(try decoder.accumulate(Array(first.suffix(1)).span))
        #expect(transcript.partial == "I see")
        transcript.apply(try decoder.accumulate(Array(bytes[first.count...]).span))
        #expect(transcript.finals == ["I see skies of blue"])
        #expect(transcript.partial.isEmpty)
    }

    @Test func whatIsToldBesideTheTextIsKept() {
        let diarized = decode(AnswerRule(framing: .events), EventSamples.diarized).transcript
        #expect(
            diarized.segments == [RecognizedWord(text: "Hi.", start: 0.5, end: 1, speaker: "A")])
        let mistral = decode(AnswerRule(framing: .events), EventSamples.mistral).transcript
        #expect(mistral.language == "en")
        #expect(mistral.segments.map(\.end) == [1.5])
        let unended = decode(AnswerRule(framing: .events), EventSamples.unended).transcript
        #expect(unended.finals == ["I see"])
    }

    @Test(arguments: [
        (
            EventSamples.localAIError,
            AnswerError.serviceReported(message: "backend is gone", code: "502")
        ),
        ("event: error\ndata: it broke\n\n", .serviceReported(message: "it broke")),
        (
            "data: {\"error\":{\"message\":\"bad file\",\"code\":400}}\n\ndata: [DONE]\n\n",
            .serviceReported(message: "bad file", code: "400")
        ),
        ("", .empty), (": ping\n\n: ping\n\n", .empty), ("data: [DONE]\n\n", .empty),
        (
            "data: {\"type\":\"session\",\"note\":\"two words\"}\n\n",
            .missingText(
                path: "text", excerpt: "{\"type\":\"session\",\"note\":\"two words\"}",
                places: ["note"])
        ),
        ("data: {\"text\": nope}\n\n", .notJSON(offset: 6, excerpt: "{\"text\": nope}")),
        ("data: {\"text\":\n\n", .notJSON(offset: 6, excerpt: "{\"text\":")),
    ])
    func whatIsNoAnswerIsAnError(body: String, error: AnswerError) {
        #expect(decode(AnswerRule(framing: .events), body).error == error)
    }

    @Test func aNameIsThatOfItsEventAlone() {
        let body = "event: ping\ndata: {}\n\ndata: {\"text\":\"a\"}\n\n"
        #expect(decode(AnswerRule(framing: .events), body).text == "a")
    }

    @Test func nothingCountsBehindTheEnd() {
        let body = "data: {\"text\":\"a\"}\n\ndata: [DONE]\n\ndata: {\"error\":\"late\"}\n\n\u{0}"
        #expect(decode(AnswerRule(framing: .events), body).text == "a")
    }

    @Test func manyPiecesTakeTimeThatGrowsWithTheirNumber() {
        // With a copy for each piece this is 200,000 times 600 kB, which no patience outlasts.
        let piece = Array("data: {\"type\":\"transcript.text.delta\",\"delta\":\"abc\"}\n\n".utf8)
        let count = AnswerRule.standardByteLimit / 60
        let chunk = Array(repeating: piece, count: 1000).flatMap { $0 }
        let decoded = decode(
            AnswerRule(framing: .events), chunks: Array(repeating: chunk, count: count / 1000))
        #expect(decoded.error == nil)
        #expect(decoded.transcript.text.utf8.count == count / 1000 * 3000)
    }
}

/// Decodes a body whole, in halves that end at each byte, and byte by byte: always the same.
func expectSameForEverySplit(
    _ rule: AnswerRule, _ body: String, mediaType: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let bytes = Array(body.utf8)
    let whole = decode(rule, chunks: [bytes], mediaType: mediaType)
    func compare(_ other: Decoded, _ way: String) {
        // A failure is thrown by the call after what stands before it.
        #expect(other.hypotheses == whole.hypotheses, "\(way)", sourceLocation: sourceLocation)
        #expect(
            other.error?.withoutExcerpt == whole.error?.withoutExcerpt, "\(way)",
            sourceLocation: sourceLocation)
    }
    for split in 0...bytes.count {
        let halves = [Array(bytes[..<split]), Array(bytes[split...])]
        compare(decode(rule, chunks: halves, mediaType: mediaType), "split at \(split)")
    }
    compare(decode(rule, chunks: bytes.map { [$0] }, mediaType: mediaType), "byte by byte")
}

/// Streams of events in the form in which services send them.
enum EventSamples {
    /// OpenAI: pieces are appended, the last event says all of it.
    static let openAI = """
        data: {"type":"transcript.text.delta","delta":"I see"}

        data: {"type":"transcript.text.delta","delta":" skies"}

        data: {"type":"transcript.text.done","text":"I see skies of blue","usage":{"type":"tokens"}}


        """

    /// OpenAI with speakers: each segment is told beside the text.
    static let diarized = """
        event: transcript.text.delta
        data: {"type":"transcript.text.delta","delta":"Hi.","segment_id":"seg_0"}

        data: {"type":"transcript.text.segment","id":"seg_0","start":0.5,"end":1,"text":"Hi.","speaker":"A"}

        data: {"type":"transcript.text.done","text":"Hi."}

        data: [DONE]


        """

    /// Mistral: the piece is in `text`, and the language is an event of its own.
    static let mistral = """
        event: transcription.language
        data: {"type":"transcription.language","audio_language":"en"}

        event: transcription.text.delta
        data: {"type":"transcription.text.delta","text":"Hello"}

        event: transcription.text.delta
        data: {"type":"transcription.text.delta","text":" there"}

        event: transcription.segment
        data: {"type":"transcription.segment","text":"Hello there","start":0,"end":1.5}

        event: transcription.done
        data: {"type":"transcription.done","model":"voxtral","text":"Hello there","language":null}


        """

    /// speaches: each event is a segment, and nothing says that it was the last.
    static let speaches = "data: {\"text\":\" One two\"}\n\ndata: {\"text\":\" three.\"}\n\n"

    /// speaches with `response_format=text`.
    static let speachesText = "data:  One two\n\ndata:  three.\n\n"

    /// Pieces that nothing ends, and segments alone.
    static let unended =
        "data: {\"type\":\"transcript.text.delta\",\"delta\":\"I\"}\n\n"
        + "data: {\"type\":\"transcript.text.delta\",\"delta\":\" see\"}\n\n"
    static let segments =
        "data: {\"type\":\"transcription.segment\",\"text\":\" One\"}\n\n"
        + "data: {\"type\":\"transcription.segment\",\"text\":\" two\"}\n\n"

    /// vLLM: chunks as of a chat, one with the cost and an empty list, and an end.
    static let vLLM = """
        data: {"object":"transcription.chunk","choices":[{"delta":{"content":""}}]}

        data: {"object":"transcription.chunk","choices":[{"delta":{"content":" Mary"}}]}

        data: {"object":"transcription.chunk","choices":[{"delta":{"content":" had"},"finish_reason":"stop"}]}

        data: {"object":"transcription.chunk","choices":[],"usage":{"total_tokens":9}}

        data: [DONE]


        """

    /// LocalAI: an error in the middle, and an end all the same.
    static let localAIError = """
        data: {"type":"transcript.text.delta","delta":"I s"}

        data: {"type":"error","error":{"message":"backend is gone","type":"server_error","code":"502"}}

        data: [DONE]


        """

    /// Comments, CR and CRLF, fields without a value, several lines of data, and an event that
    /// nothing ends.
    static let odd =
        "\u{FEFF}: hello\r\rretry: 10\r\nid: 7\r\ndata: {\"type\":\r\ndata:\"transcript.text.delta\",\r\n"
        + "data: \"delta\":\"a\"}\r\n\r\n:\n\ndata\n\nevent\ndata:{\"type\":\"transcript.text.delta\","
        + "\"delta\":\"b\"}\r\revent: ping\ndata: {}\n\nnonsense\ndatax: {\n\n"
        + "data: {\"type\":\"transcript.text.done\",\"text\":\"ab\"}"

    static let all: [(body: String, text: String)] = [
        (openAI, "I see skies of blue"), (diarized, "Hi."), (mistral, "Hello there"),
        (speaches, "One two three."), (speachesText, "One two three."), (vLLM, "Mary had"),
        (odd, "ab"), (unended, "I see"), (segments, "One two"),
    ]
}
