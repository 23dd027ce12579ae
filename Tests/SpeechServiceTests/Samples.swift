// SPDX-License-Identifier: Apache-2.0

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
