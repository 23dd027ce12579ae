// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization
internal import Upload

/// Hears a request that belongs to no take, while the thread that makes it waits for its end.
///
/// `@unchecked Sendable` because the thread of the transfers alone touches what a subclass adds, until
/// the end.
class AwaitedTransfer: TransferObserver, @unchecked Sendable {
    private let news: Wakeup
    private let ended = Mutex<TransferResult?>(nil)

    init() throws(SystemError) { news = try Wakeup(isPolled: false) }

    /// Makes the request, and waits until it has ended; cancels it when `isOver` becomes true.
    final func perform(
        _ request: TransferRequest, by transport: any Transport,
        unless isOver: () -> Bool = { false }
    ) -> TransferResult {
        let id = transport.start(request, after: .zero, atLeast: .zero, observer: self)
        var isCancelled = false
        while true {
            if let result = ended.withLock({ $0 }) { return result }
            news.wait(.until(.now + .milliseconds(250)))
            if !isCancelled, isOver() {
                isCancelled = true
                transport.cancel(id)
            }
        }
    }

    var reading: AnswerReading { .goesOn }

    func transferDidConnect() {}
    func transferDidAvoid(address: String) {}
    func transferDidFindProxy() {}
    func transferDidSend(byteCount: Int, wireByteCount: Int) {}
    func transferDidReceiveHead(status: Int, headers: [(name: String, value: String)]) {}
    func transferDidReceive(_ bytes: Span<UInt8>) {}

    final func transferDidEnd(_ result: TransferResult) {
        ended.withLock { $0 = result }
        news.signal()
    }
}
