// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import Upload

/// Listens to one transfer and reads its answer.
///
/// Touched by the transfer thread alone.
final class Attempt: TransferObserver, @unchecked Sendable {
    private let run: TakeRun
    private let number: Int
    private var answer: AnswerReader
    private var transcript = Transcript()

    /// Listens for attempt `number` of a take.
    init(run: TakeRun, number: Int, rule: AnswerRule) {
        self.run = run
        self.number = number
        answer = AnswerReader(rule: rule)
    }

    func transferDidConnect() { run.didConnect(attempt: number) }

    func transferDidSend(byteCount: Int) { run.didSend(byteCount: byteCount) }

    func transferDidReceiveHead(status: Int, mediaType: String?) {
        answer.begin(status: status, mediaType: mediaType)
    }

    func transferDidReceive(_ bytes: Span<UInt8>) {
        let hypotheses = answer.accumulate(bytes)
        guard !hypotheses.isEmpty else { return }
        transcript.apply(hypotheses)
        run.didHear(transcript)
    }

    func transferDidEnd(_ result: TransferResult) {
        let before = transcript
        transcript.apply(answer.finish())
        if transcript != before { run.didHear(transcript) }
        if let failure = answer.failure {
            let isWhole = result.ending == .answered && result.isBodyComplete && answer.isKeptWhole
            run.keep(answer: answer.kept, isWhole: isWhole && failure.isOfRule)
        }
        run.didTransfer(result, answer: answer.failure, message: answer.message, transcript)
    }
}
