// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Utter

@Suite struct AnswerReaderTests {
    /// Feeds a body in pieces and returns the reader with what it heard.
    private func read(
        _ body: String, status: Int, mediaType: String? = nil, rule: AnswerRule = .automatic,
        pieces: Int = 7
    ) -> (reader: AnswerReader, transcript: Transcript) {
        var reader = AnswerReader(rule: rule)
        let fields = mediaType.map { [(name: "content-type", value: $0)] } ?? []
        reader.begin(status: status, AnswerHead(headers: fields))
        let bytes = Array(body.utf8)
        var start = 0
        while start < bytes.count {
            let piece = Array(bytes[start..<min(bytes.count, start + pieces)])
            _ = reader.accumulate(piece.span)
            start += piece.count
        }
        _ = reader.finish()
        return (reader, reader.transcript)
    }

    @Test(arguments: [1, 3, 1_000]) func aGoodAnswerIsRead(pieces: Int) {
        let (reader, transcript) = read(
            "{\"type\":\"partial\",\"text\":\"go\"}\n{\"type\":\"final\",\"text\":\"go on\"}",
            status: 200, mediaType: "application/json", pieces: pieces)
        #expect(reader.failure == nil)
        #expect(transcript.text == "go on")
        #expect(reader.message == nil)
    }

    @Test func aRefusalIsNoTranscriptButHasAMessage() {
        let (reader, transcript) = read(
            "{\"error\":\"quota is used up\"}", status: 429, mediaType: "application/json")
        #expect(reader.failure == nil)
        #expect(transcript.text == "")
        #expect(reader.message == "quota is used up")
    }

    @Test func aHugeRefusalIsBounded() {
        let (reader, _) = read(
            String(repeating: "x", count: 1 << 20), status: 500, mediaType: "text/plain",
            pieces: 100_000)
        #expect((reader.message?.utf8.count ?? 0) < 1_000)
    }

    @Test func theFirstFailureCounts() {
        let (reader, transcript) = read(
            "{\"text\": \"a\"} ] {\"text\": \"b\"}", status: 200, mediaType: "application/json",
            pieces: 1)
        guard case .notJSON(let offset, _)? = reader.failure else {
            Issue.record("\(String(describing: reader.failure))")
            return
        }
        #expect(offset == 14)
        #expect(transcript.text != "b")
    }

    @Test func nothingIsNoAnswer() {
        let (reader, _) = read("", status: 200, mediaType: "application/json")
        #expect(reader.failure == .empty)
    }

    @Test func aCutAnswerIsNone() {
        let (reader, _) = read("{\"text\":\"pay ", status: 200, mediaType: "application/json")
        guard case .truncated? = reader.failure else {
            Issue.record("\(String(describing: reader.failure))")
            return
        }
    }
}
