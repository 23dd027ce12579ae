// SPDX-License-Identifier: Apache-2.0

@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

extension UploadExchange {
    var asked: UploadRequest.Step? { request.upload?.step }

    /// Begins the request that is next, once a question for what is offered has had no answer, and ends it
    /// when `sent` bytes are sent; the recording has `size` bytes.
    mutating func follow(
        _ status: Int? = nil, _ fields: [(String, String)] = [], sent: Int = 0,
        isBodyComplete: Bool = true, isComplete: Bool = true, size: Int = 0
    ) -> ExchangeStep {
        let recording = RecordingExtent(byteCount: size, isComplete: isComplete)
        _ = begin(lane: 0, of: recording)
        if asked == .discover {
            _ = end(405, isComplete: isComplete)
            _ = begin(lane: 0, of: recording)
        }
        return end(
            status, fields, sent: sent, isBodyComplete: isBodyComplete, isComplete: isComplete)
    }

    /// Ends the request; without a status the connection is lost.
    mutating func end(
        _ status: Int?, _ fields: [(String, String)] = [], sent: Int = 0,
        isBodyComplete: Bool = true, isComplete: Bool = true
    ) -> ExchangeStep {
        let result = TransferResult(
            ending: status == nil ? .connectionLost("closed") : .answered, status: status,
            headers: fields.map { (name: $0.0, value: $0.1) }, sentByteCount: sent,
            wireByteCount: sent, bodyStart: request.upload?.start ?? 0,
            isBodyComplete: isBodyComplete, timings: TransferTimings())
        return next(after: Reply(result: result), isSpeaking: !isComplete, at: Moment())
    }
}
