// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Upload

/// Writes down what a transfer tells its observer.
final class TransferRecorder: TransferObserver {
    struct Record: Sendable {
        var connects = 0
        var sentByteCount = 0
        /// The longest pieces of the request's and the response's body.
        var longestPieces = (sent: 0, received: 0)
        var heads: [Int] = []
        var body: [UInt8] = []
        var results: [TransferResult] = []
        /// The transfer thread, once it has connected.
        var thread: pthread_t?
    }

    let record = Observed(Record())

    func transferDidConnect() {
        record.update { record in
            record.connects += 1
            record.thread = pthread_self()
        }
    }

    func transferDidSend(byteCount: Int) {
        record.update { record in
            record.longestPieces.sent = max(
                record.longestPieces.sent, byteCount - record.sentByteCount)
            record.sentByteCount = byteCount
        }
    }

    func transferDidReceiveHead(status: Int, mediaType: String?) {
        record.update { $0.heads.append(status) }
    }

    func transferDidReceive(_ bytes: Span<UInt8>) {
        let copy = bytes.indices.map { bytes[$0] }
        record.update { record in
            record.longestPieces.received = max(record.longestPieces.received, copy.count)
            record.body += copy
        }
    }

    func transferDidEnd(_ result: TransferResult) { record.update { $0.results.append(result) } }

    /// Waits until the record is as `condition` wants it.
    func wait(
        within limit: Duration = .seconds(30),
        until condition: @escaping @Sendable (Record) -> Bool
    ) async -> Bool {
        await record.wait(within: limit) { condition($0) ? true : nil } ?? false
    }

    /// The text of the response's body so far.
    var text: String { record.look { String(decoding: $0.body, as: UTF8.self) } }

    /// Processor time that the transfer thread has used so far.
    var threadTime: Duration? {
        guard let thread = record.look({ $0.thread }) else { return nil }
        var clock = clockid_t()
        guard pthread_getcpuclockid(thread, &clock) == 0 else { return nil }
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
