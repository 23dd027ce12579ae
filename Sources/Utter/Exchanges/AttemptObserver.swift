// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import SpeechService
internal import Synchronization
internal import Upload

/// Listens to one transfer, reads its answer, and tells the take's machine.
///
/// Called on the transfer thread. The part of an answer beyond `shortByteCount`, and its end, is
/// read by the thread `answers`, in order, which alone touches the answer from then on.
final class AttemptObserver: TransferObserver, @unchecked Sendable {
    /// Longer answers would hold up other takes on the transfer thread.
    private static let shortByteCount = 64 << 10

    private struct Handover {
        var reading = AnswerReading.goesOn
        var newsCount = 0
        /// Handed-over bytes are to be ignored.
        var isCancelled = false
    }

    private let run: TakeRun
    private let lane: Int
    private let step: StepRequest?
    private let carriesRecording: Bool
    /// Bytes of a part of the recording.
    private var pieceByteCount = 0
    /// Bytes of audio before the part.
    private let pieceStart: Int?
    private var answer: AnswerReader
    private var firstText: ContinuousClock.Instant?
    /// The head of a good answer to one of several requests, which is read as a whole.
    private var head: (status: Int, fields: AnswerHead)?
    private var body: [UInt8] = []
    private var byteCount = 0
    private let handover = Mutex(Handover())
    /// In bytes: more than the answer to a step may have.
    private static let bodyLimit = 8 << 20 + 1

    init(of lane: Int, for run: TakeRun, _ request: ExchangeRequest) {
        self.run = run
        self.lane = lane
        step = request.step
        carriesRecording = request.carriesRecording
        let start = request.piece.map { piece in
            run.plan.sealedLength?.audio(before: piece.start) ?? piece.start
        }
        pieceStart = start ?? (request.isPart ? 0 : nil)
        answer = AnswerReader(rule: run.plan.service.answer)
    }

    func transferDidConnect() { run.handle(.connected(lane: lane)) }

    func transferDidSend(byteCount: Int, wireByteCount: Int) {
        guard carriesRecording else { return }
        guard let pieceStart else { return run.didSend(byteCount: byteCount) }
        let count = byteCount - pieceStart
        run.didSend(more: count - pieceByteCount)
        pieceByteCount = count
    }

    func transferDidReceiveInterim(status: Int, headers: [(name: String, value: String)]) {
        guard status == 104 else { return }
        run.handle(.learned(lane: lane, AnswerHead(headers: headers)))
    }

    func transferDidReceiveHead(status: Int, headers: [(name: String, value: String)]) {
        let next = AnswerHead(headers: headers)
        (head, body) = (nil, [])
        if let step, StatusVerdict.of(status: status) == .accepted, !step.brings(next) {
            head = (status, next)
        } else {
            answer.begin(status: status, next)
        }
    }

    func transferDidReceive(_ bytes: Span<UInt8>) {
        byteCount += bytes.count
        guard isLong else { return read(bytes) }
        var piece: [UInt8] = []
        piece.append(bytes)
        run.pipeline.wiring.answers.send { [self, piece] in
            guard !handover.withLock({ $0.isCancelled }) else { return }
            read(piece.span)
            let reading = head == nil ? answer.reading : .goesOn
            handover.withLock { $0.reading = reading }
        }
    }

    private var isLong: Bool { byteCount > Self.shortByteCount }

    private func read(_ bytes: Span<UInt8>) {
        guard head == nil else {
            // A truncated body fails to parse later.
            body.append(bytes.extracting(first: min(bytes.count, Self.bodyLimit - body.count)))
            return
        }
        let hadHeardEnd = answer.hasHeardEnd
        if answer.accumulate(bytes) { hear() }
        // Words from now on would go nowhere.
        if answer.hasHeardEnd, !hadHeardEnd { run.handle(.heardEnd) }
    }

    var reading: AnswerReading {
        if isLong { return handover.withLock { $0.reading } }
        return head == nil ? answer.reading : .goesOn
    }

    var newsCount: Int { handover.withLock { $0.newsCount } }

    private func hear() {
        firstText = firstText ?? .now
        handover.withLock { $0.newsCount += 1 }
        run.handle(.heard(lane: lane, answer.transcript))
    }

    func transferDidEnd(_ result: TransferResult) {
        guard isLong else { return end(result) }
        if result.ending == .cancelled { handover.withLock { $0.isCancelled = true } }
        run.pipeline.wiring.answers.send { [self] in end(result) }
    }

    private func end(_ result: TransferResult) {
        var reply = Reply(result: result)
        if let head { read(head, into: &reply) }
        let failureBefore = answer.failure
        reply.finals = answer.transcript.withoutPartial
        if answer.finish() { hear() }
        // The transfer learns late that an answer is whole that another thread reads.
        let isKnown =
            answer.reading == .failed || answer.reading == .ended && result.isBodyComplete
        if result.status == 101, isKnown, result.ending != .cancelled {
            reply.result.ending = .answered
        }
        if let firstText, let began = result.timings.began {
            reply.result.timings.firstText = firstText - began
        }
        let service = run.service
        if let failure = answer.failure, !answer.kept.isEmpty {
            // It may have been paid for, and another rule may read it.
            let isWhole =
                reply.result.ending == .answered && result.isBodyComplete && answer.isKeptWhole
            run.record?.keep(
                answer: service.redacted(answer.kept), isWhole: isWhole && failure.isOfRule)
        }
        // Some services repeat what they were sent; a secret belongs into no message and no file.
        reply.transcript = answer.transcript
        reply.failure = (answer.failure ?? reply.failure).map { service.redacted($0) }
        if case .badResponse = reply.result.ending {
            // That the answer was cut off there is said by the ending.
            reply.failure = failureBefore.map { service.redacted($0) }
        }
        reply.message = answer.message.map { service.redacted($0) }
        reply.code = (answer.code ?? reply.code).map { service.redacted($0) }
        let isTaken = reply.verdict != nil || step == nil && reply.result.hasAccepted
        if pieceByteCount > 0, !isTaken { run.didSend(more: -pieceByteCount) }
        run.handle(.ended(lane: lane, reply))
    }

    private func read(_ head: (status: Int, fields: AnswerHead), into reply: inout Reply) {
        guard reply.result.ending == .answered else { return }
        switch step?.use {
        case nil, .upload?: return
        case .token(let use)?:
            guard let (token, lifetime) = use.read(body, at: Date().timeIntervalSince1970),
                let credential = run.pipeline.tokens.insert(
                    token, lifetime: lifetime, for: run.openedPlan.service)
            else { return }
            run.hold(credential)
            reply.hasToken = true
        case .job(let step, let isLast)?:
            let found = StepAnswer(headers: reply.result.headers, body: body)
            let verdict = step.verdict(on: found, isLast: isLast)
            reply.verdict = verdict
            if case .again = verdict { reply.failure = found.oddity(for: step) }
            guard verdict == .answer else { return }
            answer.begin(status: head.status, head.fields)
            if answer.accumulate(body.span) { hear() }
        case .piece(let piece)?:
            // It says of each resource what became of it (RFC 4918 §13).
            if head.status == 207, let status = XMLElement.worstStatus(in: body), status >= 300 {
                reply.result.status = status
                return
            }
            let found = StepAnswer(headers: reply.result.headers, body: body)
            reply.verdict = piece.step.verdict(on: found, isLast: false, marking: run.id.text)
            if case .failed? = reply.verdict {
                reply.code = ServiceMessage.code(in: body, at: run.plan.service.answer.errors)
            }
        }
    }
}

extension StepRequest {
    /// Whether the answer with this head is the transcript, and read as it comes.
    fileprivate func brings(_ head: AnswerHead) -> Bool {
        guard case .upload = use else { return false }
        return content == nil && !UploadAnswer.isIncomplete(head)
    }
}
