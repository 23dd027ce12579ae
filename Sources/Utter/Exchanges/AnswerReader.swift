// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import SpeechService

/// Reads one response's body: a transcript from a good one, the service's words from a refusal.
struct AnswerReader: Sendable {
    /// In bytes: a longer refusal says nothing more.
    private static let messageLimit = 64 << 10
    /// In bytes of an answer that may turn out unreadable.
    private static let keptLimit = 256 << 10

    private var rule: AnswerRule
    private var decoder: (any ResponseDecoder)?
    private var refusal: [UInt8] = []
    private var head = AnswerHead()
    private(set) var hasHeardEnd = false
    private(set) var transcript = Transcript()
    /// The beginning of an answer with a good status: it may have been paid for.
    private(set) var kept: [UInt8] = []
    private(set) var isKeptWhole = true

    /// Whether later bytes can say anything; the words of a refusal end by themselves.
    var reading: AnswerReading {
        if case .serviceReported? = failure { return .failed }
        return failure == nil && decoder?.isOver == true ? .ended : .goesOn
    }

    /// Why an answer with a good status is unreadable, or nil.
    private(set) var failure: AnswerError?

    init(rule: AnswerRule) { self.rule = rule }

    mutating func begin(status: Int, _ head: AnswerHead) {
        self.head = head
        decoder = nil
        (kept, isKeptWhole) = ([], true)
        if case .accepted = StatusVerdict.of(status: status) {
            // Silence is consent only where the place itself is silent (RFC 9110 §15.3.4, 4918 §13).
            let isOfPlace = ![203, 205, 206, 207].contains(status) && !head.isWebPage
            let isOfStore = rule.empty == .stored
            if isOfStore, !isOfPlace { rule.empty = .failure }
            decoder = rule.makeDecoder(head, isOfStore: isOfStore)
        }
    }

    /// - Returns: whether the bytes said something new.
    mutating func accumulate(_ bytes: Span<UInt8>) -> Bool {
        guard decoder != nil else {
            refusal.append(
                bytes.extracting(first: min(bytes.count, Self.messageLimit - refusal.count)))
            return false
        }
        let room = Self.keptLimit - kept.count
        isKeptWhole = isKeptWhole && bytes.count <= room
        kept.append(bytes.extracting(first: min(bytes.count, room)))
        return learn { decoder throws(AnswerError) in try decoder.accumulate(bytes) }
    }

    /// Whether the end said something new.
    mutating func finish() -> Bool {
        learn { decoder throws(AnswerError) in try decoder.finish() }
    }

    private mutating func learn(
        _ read: (inout any ResponseDecoder) throws(AnswerError) -> [Hypothesis]
    ) -> Bool {
        // Later bytes cannot mend a broken answer.
        guard failure == nil, var decoder else { return false }
        // Two of them would share the body, and each chunk would copy it.
        self.decoder = nil
        defer {
            hasHeardEnd = hasHeardEnd || decoder.hasHeardEnd
            self.decoder = decoder
        }
        do throws(AnswerError) {
            return transcript.apply(try read(&decoder))
        } catch {
            failure = error
            return false
        }
    }

    var message: String? {
        let words =
            rule.errors.message(in: head)
            ?? ServiceMessage.extract(from: refusal, contentType: head.mediaType, at: rule.errors)
        // A store names its region when a request was signed for another one.
        let region =
            head.header("x-amz-bucket-region") ?? XMLElement.texts(of: "Region", in: refusal).first
        guard let region = region.map(TerminalText.shown) else { return words }
        return (words.map { "\($0); " } ?? "") + "its region is \(region)"
    }

    var code: String? {
        if case .serviceReported(_, let code)? = failure { return code }
        return ServiceMessage.code(in: refusal, at: rule.errors)
    }
}
