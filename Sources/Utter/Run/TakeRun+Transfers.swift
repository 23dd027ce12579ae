// SPDX-License-Identifier: Apache-2.0

internal import SpeechService
internal import Synchronization
internal import TakeStore
internal import Upload

// MARK: - What the transfers say, on the transfer thread

extension TakeRun {
    func didConnect(attempt: Int) { continuation.yield(.connected(attempt: attempt)) }

    /// Keeps an answer that cannot be read beside the take.
    func keep(answer: [UInt8], isWhole: Bool) {
        if !answer.isEmpty { record?.keep(answer: plan.service.redacted(answer), isWhole: isWhole) }
    }

    func didSend(byteCount: Int) {
        sentByteCount.store(byteCount, ordering: .relaxed)
        let journal = state.withLock { state -> Journal? in
            let body = (state.seal?.byteCount ?? 0) - plan.format.bodyOffset
            return state.tellsProgress(sent: byteCount, of: body, at: .now) ? state.journal : nil
        }
        if let journal { continuation.yield(.progress(progress(of: journal))) }
    }

    func didHear(_ transcript: Transcript) { continuation.yield(.heard(transcript)) }

    /// Decides what follows a transfer.
    ///
    /// `answer` says why the body is no answer, `message` is the service's own words about a
    /// refusal; nil is neither.
    func didTransfer(
        _ result: TransferResult, answer: AnswerError?, message: String?, _ transcript: Transcript
    ) {
        // Some services repeat what they were sent; a secret belongs into no message and no file.
        let answer = answer.map { plan.service.redacted($0) }
        let message = message.map { plan.service.redacted($0) }
        record?.endTransfer(state.withLock { $0.delivery.attempt }, result)
        let (step, delivery) = state.withLock { state in
            state.isTransferring = false
            state.attempts.append(
                TakeAttempt(
                    number: state.delivery.attempt, url: state.delivery.url.description,
                    result: result))
            // Nothing follows any more; the step only ends the take.
            if state.delivered != nil {
                state.delivery.record(result)
                return (Delivery.Step.failed(.cancelled), state.delivery)
            }
            let circumstances = Delivery.Circumstances(
                isSpeaking: state.captureEnd == nil,
                jitter: .random(in: 0...1), elapsed: .now - began)
            let step = state.delivery.next(
                after: result, answer: answer, message: message, circumstances)
            return (step, state.delivery)
        }
        let isAccepted = result.status.map { StatusVerdict.of(status: $0) } == .accepted
        if delivery.hasFallenBack, result.isBodyComplete, isAccepted {
            pipeline.lengthOrigins.insert(plan.service.url.origin)
        }
        switch step {
        case .answered:
            // A service that finds the end by itself has heard enough: what is said now would go
            // nowhere.
            if isRecording { stop() }
            deliver(.success(transcript))
        case .answeredInPart:
            tellEarlyAnswer(result, isResent: false)
            deliver(.success(transcript))
        case .resend(let pause):
            if let cause = pause.cause {
                continuation.yield(.interrupted(cause, pause: pause.duration))
            }
            if pause.isForLength { tellEarlyAnswer(result, isResent: true) }
            continuation.yield(
                .resending(attempt: delivery.attempt, url: delivery.url.description))
            computeBodyDigest()
            // The attempt is on the disk before it begins, and this thread writes nothing.
            pipeline.journal.perform { [self] in startTransfer(after: pause) }
        case .failed(let failure):
            if isRecording { continuation.yield(.refused(failure)) }
            deliver(.failure(failure))
        }
    }

    private func tellEarlyAnswer(_ result: TransferResult, isResent: Bool) {
        continuation.yield(
            .answeredEarly(
                status: result.status ?? 0, sentByteCount: result.sentByteCount,
                isResent: isResent))
    }

    private var isRecording: Bool {
        state.withLock { $0.captureEnd == nil && $0.delivered == nil }
    }
}
