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

extension AnswerError {
    /// The same error without its excerpt, which shows no more than the chunk at hand.
    var withoutExcerpt: AnswerError {
        guard case .notJSON(let offset, _) = self else { return self }
        return .notJSON(offset: offset, excerpt: "")
    }
}
