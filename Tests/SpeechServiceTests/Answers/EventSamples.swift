// SPDX-License-Identifier: Apache-2.0

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
        (odd, "ab"),
    ]
}
