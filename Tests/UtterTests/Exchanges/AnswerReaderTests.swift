// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import Cassettes
@testable import SpeechService
@testable import Utter

/// Reads an answer whose bytes come in pieces, and what was heard before its end.
private func readAnswer(
    _ pieces: [ArraySlice<UInt8>], status: Int, _ head: AnswerHead, by rule: AnswerRule
) -> (reader: AnswerReader, partials: [String]) {
    var reader = AnswerReader(rule: rule)
    reader.begin(status: status, head)
    var partials: [String] = []
    for piece in pieces.map({ Array($0) }) where reader.accumulate(piece.span) {
        partials.append(reader.transcript.displayText)
    }
    if reader.finish() { partials.append(reader.transcript.displayText) }
    return (reader, partials)
}

@Suite struct AnswerReaderTests {
    private func read(
        _ body: String, status: Int, mediaType: String = "application/json", pieces length: Int = 7
    ) -> AnswerReader {
        let bytes = Array(body.utf8)
        let pieces = stride(from: 0, to: bytes.count, by: length).map {
            bytes[$0...].prefix(length)
        }
        let head = AnswerHead(headers: [(name: "content-type", value: mediaType)])
        return readAnswer(pieces, status: status, head, by: .automatic).reader
    }

    @Test(arguments: [1, 3, 1_000]) func aGoodAnswerIsRead(pieces: Int) {
        let reader = read(
            "{\"type\":\"partial\",\"text\":\"go\"}\n{\"type\":\"final\",\"text\":\"go on\"}",
            status: 200, pieces: pieces)
        #expect(reader.failure == nil)
        #expect(reader.transcript.text == "go on")
        #expect(reader.message == nil)
    }

    @Test func aRefusalIsNoTranscriptButHasAMessage() {
        let reader = read("{\"error\":\"quota is used up\"}", status: 429)
        #expect(reader.failure == nil)
        #expect(reader.transcript.text == "")
        #expect(reader.message == "quota is used up")
    }

    @Test func aHugeRefusalIsBounded() {
        let pad = { (count: Int) in String(repeating: "x", count: count) }
        let text = read(pad(1 << 20), status: 500, mediaType: "text/plain", pieces: 100_000)
        #expect(text.message == pad(197) + "…")
        // A refusal that is as long as the limit is read to its end; a longer one has none.
        let (start, end) = (#"{"pad":""#, #"","error":"quota is used up"}"#)
        let cut = start + pad(197 - start.utf8.count) + "…"
        for (excess, message) in [(0, "quota is used up"), (1, cut), (1 << 20, cut)] {
            let count = (64 << 10) - start.utf8.count - end.utf8.count + excess
            let reader = read(start + pad(count) + end, status: 429, pieces: 1_000)
            #expect(reader.message == message, "\(excess)")
        }
    }

    @Test func theFirstFailureCounts() {
        let reader = read("{\"text\": \"a\"} ] {\"text\": \"b\"}", status: 200, pieces: 1)
        guard case .notJSON(let offset, _)? = reader.failure else {
            Issue.record("\(String(describing: reader.failure))")
            return
        }
        #expect(offset == 14)
        #expect(reader.transcript.text != "b")
    }
}

/// The documented answers of each service are read the same in whatever pieces they come.
///
/// `ServiceCassetteTests` says what is understood of them.
@Suite struct CassetteAnswerTests {
    private static let folder = SourceTree.path("Tests/Cassettes")

    /// The rule of a profile, with something in place of each word that it needs.
    private func rule(_ name: String) throws -> AnswerRule {
        let profile = try Profiles.shipped.profile(name)
        var words: [String: String] = [:]
        for word in profile.words where word.isRequired {
            words[word.name] = word.name == "instance" ? "https://a.example" : "w"
        }
        return try Service(profile, words: words).delivery.service.answer
    }

    /// The answers of a profile by the names of their cases; of a row of requests the last one.
    private func answers(of name: String) throws -> [String: Cassette.Response] {
        let all = try FileManager.default.contentsOfDirectory(
            atPath: "\(Self.folder)/\(name)"
        ).sorted()
        var answers: [String: Cassette.Response] = [:]
        for file in all {
            let cassette = try #require(try Cassette.load("\(Self.folder)/\(name)/\(file)").first)
            let label = String(file.dropLast(".json".count).prefix { !$0.isNumber })
            answers[label.hasSuffix("-") ? String(label.dropLast()) : label] = cassette.response
        }
        return answers
    }

    private func read(
        _ pieces: [ArraySlice<UInt8>], of answer: Cassette.Response, by rule: AnswerRule
    ) -> (reader: AnswerReader, partials: [String]) {
        let headers = answer.headers.map { (name: $0.name.lowercased(), value: $0.value) }
        return readAnswer(pieces, status: answer.status, AnswerHead(headers: headers), by: rule)
    }

    /// What a reader makes of an answer whose bytes come in two pieces.
    private func outcome(
        of answer: Cassette.Response, by rule: AnswerRule, splitAt place: Int
    ) -> (transcript: Transcript, failure: AnswerError?, message: String?, code: String?) {
        let bytes = answer.bytes
        let (reader, _) = read([bytes[..<place], bytes[place...]], of: answer, by: rule)
        return (reader.transcript, reader.failure, reader.message, reader.code)
    }

    @Test(arguments: ShippedProfiles.uploading)
    func howAnAnswerIsSplitChangesNothing(_ name: String) throws {
        let rule = try rule(name)
        for (label, answer) in try answers(of: name) {
            let bytes = answer.bytes
            let whole = outcome(of: answer, by: rule, splitAt: 0)
            for place in bytes.indices.dropFirst() {
                let split = outcome(of: answer, by: rule, splitAt: place)
                guard split == whole else {
                    Issue.record("\(name) \(label), split at \(place): \(split)")
                    break
                }
            }
            let (reader, partials) = read(
                bytes.indices.map { bytes[$0...$0] }, of: answer, by: rule)
            #expect(reader.transcript.text == whole.transcript.text, "\(name) \(label)")
            #expect((reader.failure == nil) == (whole.failure == nil), "\(name) \(label)")
            if label.hasPrefix("partials") {
                #expect(partials.count > 1, "\(name) \(partials)")
            } else if label.hasPrefix("refusal"), !bytes.isEmpty {
                let message = try #require(reader.message, "\(name) \(label)")
                #expect(!message.contains("{"), "\(name) \(label): \(message)")
                #expect(whole.message == message)
            }
        }
    }
}
