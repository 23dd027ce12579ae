// SPDX-License-Identifier: Apache-2.0

@testable import SpeechService

struct Decoded: Equatable {
    var hypotheses: [Hypothesis] = []
    var error: AnswerError?

    init() {}

    /// Decodes chunks until the end or the first error.
    init(_ decoder: inout any ResponseDecoder, _ chunks: [[UInt8]]) {
        do throws(AnswerError) {
            for chunk in chunks { hypotheses += try decoder.accumulate(chunk.span) }
            hypotheses += try decoder.finish()
        } catch {
            self.error = error
        }
    }

    /// The text of what was decoded without an error.
    var text: String? { error == nil ? transcript.text : nil }

    var transcript: Transcript {
        var transcript = Transcript()
        transcript.apply(hypotheses)
        return transcript
    }
}

/// Decodes a body in the given chunks until the end or the first error.
func decode(
    _ rule: AnswerRule, chunks: [[UInt8]], mediaType: String? = nil,
    byteLimit: Int = AnswerRule.standardByteLimit
) -> Decoded {
    let head = AnswerHead(headers: mediaType.map { [(name: "content-type", value: $0)] } ?? [])
    var decoder = rule.makeDecoder(head, byteLimit: byteLimit)
    return Decoded(&decoder, chunks)
}

func decode(
    _ rule: AnswerRule, _ body: String, mediaType: String? = nil
) -> Decoded {
    decode(rule, chunks: [Array(body.utf8)], mediaType: mediaType)
}

/// Decodes a body behind a head of these fields.
func decode(_ rule: AnswerRule, _ body: String, headers: KeyValuePairs<String, String>) -> Decoded {
    var decoder = rule.makeDecoder(
        AnswerHead(headers: headers.map { (name: $0.key, value: $0.value) }))
    return Decoded(&decoder, [Array(body.utf8)])
}

extension AnswerError {
    /// The same error without its excerpt, which shows no more than the chunk at hand.
    var withoutExcerpt: AnswerError {
        guard case .notJSON(let offset, _) = self else { return self }
        return .notJSON(offset: offset, excerpt: "")
    }
}

/// Answers in the form in which services give them.
enum Samples {
    /// Lines of utter's own endpoint.
    static let endpoint = """
        {"type":"partial","text":"go","time":0.6}
        {"type":"partial","text":"go forward","time":1.1}
        {"type":"final","text":"go forward ten meters","duration":2.84,"words":[\
        {"word":"go","start":0.3,"end":0.5,"probability":0.9},\
        {"word":"forward","start":0.5,"end":1.04,"probability":1}]}

        """

    /// wit.ai `/dictation`: indented objects, CRLF between them, two segments.
    static let dictation =
        "{\n  \"speech\": {\n    \"confidence\": 0.4,\n    \"tokens\": []\n  },\n"
        + "  \"text\": \"Größe\"\n}\r\n"
        + "{\n  \"text\": \"Größe \\\"zehn\\\" {\"\n}\r\n"
        + "{\n  \"is_final\": true,\n  \"text\": \"Größe zehn\"\n}\r\n"
        + "{\n  \"text\": \"und 🎤\"\n}\r\n"
        + "{\n  \"is_final\": true,\n  \"text\": \"und \\ud83c\\udfa4 weiter\"\n}\r\n"

    /// wit.ai `/speech` before values had types: the last text is the final.
    static let oldSpeech =
        "{\n  \"text\": \"set\"\n}\r\n{\n  \"text\": \"set an\"\n}\r\n"
        + "{\n  \"entities\": {},\n  \"intents\": [],\n  \"text\": \"set an alarm\",\n"
        + "  \"traits\": {}\n}\r\n"

    /// wit.ai `/speech` with `is_final` and no `type`: the final is said twice.
    static let flaggedSpeech =
        "{\"is_final\": false, \"text\": \"set\"}\r\n"
        + "{\"is_final\": true, \"text\": \"set an alarm\"}\r\n"
        + "{\"entities\": {}, \"intents\": [], \"is_final\": true, \"text\": \"set an alarm\"}\r\n"

    /// wit.ai `/speech` with types: the final is said twice.
    static let typedSpeech =
        "{\"text\": \"set\", \"type\": \"PARTIAL_TRANSCRIPTION\"}\r\n"
        + "{\"is_final\": true, \"text\": \"set an alarm\", \"type\": \"FINAL_TRANSCRIPTION\"}\r\n"
        + "{\"intents\": [], \"text\": \"set an\", \"type\": \"PARTIAL_UNDERSTANDING\"}\r\n"
        + "{\"intents\": [], \"text\": \"set an alarm\", \"type\": \"FINAL_UNDERSTANDING\"}\r\n"
}
