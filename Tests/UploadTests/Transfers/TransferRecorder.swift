// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Upload

/// Writes down what a transfer tells its observer.
final class TransferRecorder: TransferObserver {
    struct Record: Sendable {
        var connects = 0
        var sentByteCount = 0
        /// The longest pieces of the request's and the response's body.
        var longestPieces = (sent: 0, received: 0)
        var heads: [Int] = []
        var body: [UInt8] = []
        /// Pieces of the body other than a dot.
        var newsCount = 0
        var results: [TransferResult] = []
        /// The transfer thread, once it has connected.
        var thread: pthread_t?
        var threadFolder: String?
    }

    let record = Observed(Record())

    func transferDidConnect() {
        record.update { record in
            record.connects += 1
            record.thread = pthread_self()
            var path = [UInt8](repeating: 0, count: 64)
            let count = readlink("/proc/thread-self", &path, path.count)
            record.threadFolder = "/proc/" + String(decoding: path[..<max(0, count)], as: UTF8.self)
        }
    }

    func transferDidSend(byteCount: Int, wireByteCount: Int) {
        record.update { record in
            record.longestPieces.sent = max(
                record.longestPieces.sent, byteCount - record.sentByteCount)
            record.sentByteCount = byteCount
        }
    }

    func transferDidReceiveHead(status: Int, headers: [(name: String, value: String)]) {
        record.update { $0.heads.append(status) }
    }

    func transferDidReceive(_ bytes: Span<UInt8>) {
        // The bytes are copied at once: tests are not optimised, and some receive megabytes.
        let copy = bytes.withUnsafeBytes { Array($0) }
        record.update { record in
            record.longestPieces.received = max(record.longestPieces.received, copy.count)
            record.body += copy
            if copy != [UInt8(ascii: ".")] { record.newsCount += 1 }
        }
    }

    var newsCount: Int { record.look { $0.newsCount } }

    func transferDidEnd(_ result: TransferResult) { record.update { $0.results.append(result) } }

    /// Waits until the record is as `condition` wants it.
    func wait(
        within limit: Duration = .patience,
        until condition: @escaping @Sendable (Record) -> Bool
    ) async -> Bool {
        await record.wait(within: limit) { condition($0) ? true : nil } ?? false
    }

    var text: String { record.look { String(decoding: $0.body, as: UTF8.self) } }

    /// Whether the transfer thread comes to rest: three times in a row it is woken now and then in
    /// 300 ms, and does next to nothing.
    ///
    /// A thread that spins is woken all the time, or uses all that the others leave of a processor.
    func comesToRest() async throws -> Bool {
        var quiet = 0
        for _ in 0..<60 {
            let before = (try wakeUps, try #require(threadTime))
            _ = await record.wait(within: .milliseconds(300)) { _ in Bool?.none }
            let (count, time) = (try wakeUps - before.0, try #require(threadTime) - before.1)
            quiet = count <= 100 && time < .milliseconds(20) ? quiet + 1 : 0
            if quiet == 3 { return true }
        }
        return false
    }

    /// How often the transfer thread has waited and gone on.
    private var wakeUps: Int {
        get throws {
            let folder = try #require(record.look { $0.threadFolder })
            let text = String(decoding: try readFile("\(folder)/status"), as: UTF8.self)
            let match = try #require(text.firstMatch(of: /\nvoluntary_ctxt_switches:\s*(\d+)/))
            return try #require(Int(match.1))
        }
    }

    /// Processor time that the transfer thread has used so far.
    private var threadTime: Duration? {
        guard let thread = record.look({ $0.thread }) else { return nil }
        var clock = clockid_t()
        guard pthread_getcpuclockid(thread, &clock) == 0 else { return nil }
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
