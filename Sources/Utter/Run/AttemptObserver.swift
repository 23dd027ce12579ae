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

    /// Listens for a part of a take.
    init(of part: Int, for run: TakeRun) {
        self.run = run
        self.part = part
        answer = AnswerReader(rule: run.plan.service.answer)
    }

    func transferDidConnect() { run.handle(.connected(part: part)) }

    func transferDidSend(byteCount: Int) { run.didSend(byteCount: byteCount) }

    func transferDidReceiveHead(status: Int, headers: [(name: String, value: String)]) {
        answer.begin(status: status, AnswerHead(headers: headers))
    }

    func transferDidReceive(_ bytes: Span<UInt8>) {
        let hadHeardEnd = answer.hasHeardEnd
        if answer.accumulate(bytes) { run.handle(.heard(part: part, answer.transcript)) }
        // What is said now would go nowhere.
        if answer.hasHeardEnd, !hadHeardEnd { run.handle(.stop) }
    }

    func transferDidEnd(_ result: TransferResult) {
        if answer.finish() { run.handle(.heard(part: part, answer.transcript)) }
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
                    message: answer.message.map { service.redacted($0) },
                    code: answer.code.map { service.redacted($0) })))
    }
}
