// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import Upload

/// Listens to one transfer, reads its answer, and tells the take's machine.
///
/// Touched by the transfer thread alone.
final class AttemptObserver: TransferObserver, @unchecked Sendable {
    private let run: TakeRun
    private let part: Int
    private var answer: AnswerReader
    /// When the first words were understood.
    private var firstText: ContinuousClock.Instant?

    /// Listens for a part of a take.
    init(of part: Int, for run: TakeRun) {
        self.run = run
        self.part = part
        answer = AnswerReader(rule: run.plan.service.answer)
    }

    func transferDidConnect() { run.handle(.connected(part: part)) }

    func transferDidSend(byteCount: Int, wireByteCount: Int) { run.didSend(byteCount: byteCount) }

    func transferDidReceiveHead(status: Int, mediaType: String?) {
        answer.begin(status: status, mediaType: mediaType)
    }

    func transferDidReceive(_ bytes: Span<UInt8>) {
        if answer.accumulate(bytes) { hear() }
    }

    private func hear() {
        firstText = firstText ?? .now
        run.handle(.heard(part: part, answer.transcript))
    }

    func transferDidEnd(_ result: TransferResult) {
        if answer.finish() { hear() }
        var result = result
        if let firstText, let began = result.timings.began {
            result.timings.firstText = firstText - began
        }
        let service = run.plan.service
        if let failure = answer.failure, !answer.kept.isEmpty {
            // It may have been paid for, and another rule may read it.
            let isWhole = result.ending == .answered && result.isBodyComplete && answer.isKeptWhole
            run.record?.keep(
                answer: service.redacted(answer.kept), isWhole: isWhole && failure.isOfRule)
        }
        // Some services repeat what they were sent; a secret belongs into no message and no file.
        run.handle(
            .ended(
                part: part,
                Reply(
                    result: result, transcript: answer.transcript,
                    failure: answer.failure.map { service.redacted($0) },
                    message: answer.message.map { service.redacted($0) })))
    }
}
