// SPDX-License-Identifier: Apache-2.0

internal import SpeechService

/// Reads one response's body: hypotheses from a good one, the service's words from a refusal.
struct AnswerReader: Sendable {
    /// More of a refusal's body than this says nothing more.
    private static let messageLimit = 64 << 10
    /// As much of an answer is kept for the case that it cannot be read.
    private static let keptLimit = 256 << 10

    private let rule: AnswerRule
    private var decoder: (any ResponseDecoder)?
    private var refusal: [UInt8] = []
    private var mediaType: String?
    /// The beginning of an answer with a good status: it may have been paid for.
    private(set) var kept: [UInt8] = []
    /// Whether that is all of it.
    private(set) var isKeptWhole = true

    /// Why a good status's body is no answer, or nil.
    private(set) var failure: AnswerError?

    init(rule: AnswerRule) { self.rule = rule }

    /// Begins with the head of the final response.
    mutating func begin(status: Int, mediaType: String?) {
        self.mediaType = mediaType
        decoder = nil
        (kept, isKeptWhole) = ([], true)
        if case .accepted = StatusVerdict.of(status: status) {
            decoder = rule.makeDecoder(mediaType: mediaType)
        }
    }

    /// Takes bytes of the body in.
    mutating func accumulate(_ bytes: Span<UInt8>) -> [Hypothesis] {
        guard decoder != nil else {
            let count = min(bytes.count, Self.messageLimit - refusal.count)
            for index in 0..<count { refusal.append(bytes[index]) }
            return []
        }
        let room = Self.keptLimit - kept.count
        isKeptWhole = isKeptWhole && bytes.count <= room
        for index in 0..<min(bytes.count, room) { kept.append(bytes[index]) }
        // What follows a broken answer cannot mend it.
        guard failure == nil else { return [] }
        do throws(AnswerError) {
            return try decoder?.accumulate(bytes) ?? []
        } catch {
            failure = failure ?? error
            return []
        }
    }

    /// Ends the body, which has come whole.
    mutating func finish() -> [Hypothesis] {
        guard failure == nil else { return [] }
        do throws(AnswerError) {
            return try decoder?.finish() ?? []
        } catch {
            failure = failure ?? error
            return []
        }
    }

    /// The service's own words about a refusal, or nil.
    var message: String? { ServiceMessage.extract(from: refusal, contentType: mediaType) }
}
