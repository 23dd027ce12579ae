// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform
package import SpeechService
internal import Synchronization

/// Takes the answer of a request that belongs to no take, on the thread of the transfers.
package protocol AnswerSink: Sendable {
    /// No later byte is wanted.
    var isOver: Bool { get }

    mutating func takeHead(status: Int, headers: [(name: String, value: String)])
    mutating func take(_ bytes: Span<UInt8>)
}

/// Hears a request that belongs to no take, while the thread that makes it waits for its end.
package final class AwaitedTransfer<Sink: AnswerSink>: TransferObserver {
    private let news: Wakeup
    /// The thread of the transfers alone touches it until the end.
    private let sink: Mutex<Sink>
    private let ended = Mutex<TransferResult?>(nil)

    private init(_ sink: Sink) throws(SystemError) {
        news = try Wakeup(isPolled: false)
        self.sink = Mutex(sink)
    }

    /// Makes a request, and waits until it has ended; cancels it when `isOver` becomes true.
    package static func perform(
        _ request: TransferRequest, into sink: Sink, by transport: any Transport,
        unless isOver: () -> Bool = { false }
    ) throws(SystemError) -> (Sink, TransferResult) {
        let awaited = try AwaitedTransfer(sink)
        let id = transport.start(request, after: .zero, atLeast: .zero, observer: awaited)
        var isCancelled = false
        while true {
            if let result = awaited.ended.withLock({ $0 }) {
                return (awaited.sink.withLock { $0 }, result)
            }
            awaited.news.wait(.until(.now + .milliseconds(250)))
            if !isCancelled, isOver() {
                isCancelled = true
                transport.cancel(id)
            }
        }
    }

    package var reading: AnswerReading { sink.withLock { $0.isOver } ? .ended : .goesOn }

    package func transferDidConnect() {}

    package func transferDidSend(byteCount: Int, wireByteCount: Int) {}

    package func transferDidReceiveHead(status: Int, headers: [(name: String, value: String)]) {
        sink.withLock { $0.takeHead(status: status, headers: headers) }
    }

    package func transferDidReceive(_ bytes: Span<UInt8>) { sink.withLock { $0.take(bytes) } }

    package func transferDidEnd(_ result: TransferResult) {
        ended.withLock { $0 = result }
        news.signal()
    }
}
