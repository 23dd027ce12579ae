// SPDX-License-Identifier: Apache-2.0

import Glibc

@testable import LinuxPlatform
@testable import SpeechService

/// libFuzzer calls this with each input, again and again; `scripts/fuzz.sh` builds it.
///
/// The first bytes choose a rule and how the rest, an answer, is split. Whatever it is, the same
/// hypotheses and the same failure must come of it whole and in pieces, and no message may be long or
/// move a cursor.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAnswer(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard input.count > 2 else { return 0 }
    let rule = AnswerFuzz.rules[Int(input[0]) % AnswerFuzz.rules.count]
    let body = Array(input[2...])
    let whole = AnswerFuzz.read(body, by: rule, piece: { body.count })
    // Pieces of lengths that the input's second byte begins a row of.
    var seed = UInt32(input[1]) &* 2_654_435_761 &+ 1
    let parts = AnswerFuzz.read(body, by: rule) {
        seed = seed &* 1_664_525 &+ 1_013_904_223
        return 1 + Int(seed >> 24) % (seed & 0x8000 == 0 ? 3 : 64)
    }
    if whole != parts {
        print("whole: \(whole)\nparts: \(parts)")
        fflush(nil)
        preconditionFailure("the pieces changed the outcome")
    }
    let message = ServiceMessage.extract(from: body, at: rule.rule.errors) ?? ""
    precondition(message.utf8.count <= TerminalText.excerptByteLimit, "a long message")
    return 0
}

enum AnswerFuzz {
    struct Case {
        var rule: AnswerRule
        var head = AnswerHead()
    }

    struct Outcome: Equatable {
        var hypotheses: [Hypothesis] = []
        var transcript = Transcript()
        var error: String?
    }

    static let rules: [Case] = {
        var strict = AnswerRule(framing: .sequence)
        strict.success = ValueCondition(
            .path(JSONPath(dotted: "status")), .equals(.number(0)))
        strict.noSpeech = ValueCondition(.path(JSONPath(dotted: "quiet")), .isSet)
        strict.errors = ErrorPlaces(messages: [JSONPath(dotted: "why")])
        strict.values.stop = JSONPath(dotted: "stop")
        var gathered = AnswerRule(framing: .events)
        gathered.values.merge = .append
        return [
            Case(rule: .automatic), Case(rule: AnswerRule(framing: .text)),
            Case(rule: .json(path: JSONPath(dotted: "text"))),
            Case(rule: AnswerRule(framing: .sequence)),
            Case(rule: AnswerRule(framing: .events)),
            Case(rule: AnswerRule(framing: .subtitles)),
            Case(rule: strict), Case(rule: gathered),
            Case(
                rule: .automatic,
                head: AnswerHead(headers: [(name: "content-type", value: "text/event-stream")])),
            Case(
                rule: .automatic,
                head: AnswerHead(
                    headers: [(name: "content-type", value: "text/plain; charset=utf-16")])),
            Case(
                rule: .automatic,
                head: AnswerHead(
                    headers: [(name: "content-type", value: "text/vtt; charset=iso-8859-1")])),
        ]
    }()

    /// Reads a body in pieces, with room for less than the longest of them.
    static func read(_ body: [UInt8], by rule: Case, piece: () -> Int) -> Outcome {
        var decoder = rule.rule.makeDecoder(rule.head, byteLimit: 2_000)
        var outcome = Outcome()
        do throws(AnswerError) {
            var rest = body[...]
            while !rest.isEmpty {
                let part = Array(rest.prefix(piece()))
                rest = rest.dropFirst(part.count)
                outcome.hypotheses += try decoder.accumulate(part.span)
            }
            outcome.hypotheses += try decoder.finish()
        } catch {
            let text = error.description
            precondition(text.utf8.count < 3_000, "a long message")
            precondition(TerminalText.sanitized(text) == text, "a message that moves the cursor")
            outcome.error = kind(of: error)
        }
        outcome.transcript.apply(outcome.hypotheses)
        return outcome
    }

    /// The error without its excerpt, which shows no more than the piece at hand.
    private static func kind(of error: AnswerError) -> String {
        switch error {
        case .notJSON(let offset, _): "not JSON at \(offset)"
        default: error.description
        }
    }
}
