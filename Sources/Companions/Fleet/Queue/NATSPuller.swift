// SPDX-License-Identifier: Apache-2.0

internal import CNATS
internal import Synchronization

/// Takes messages out of one consumer; `@unchecked Sendable` because the library's subscription is safe
/// from any thread.
@safe final class NATSPuller: @unchecked Sendable {
    private let subscription: OpaquePointer
    private let link: NATSConnection
    private let isStopped = Atomic(false)

    init(
        _ link: NATSConnection, stream: String, consumer: String, _ subject: String
    ) throws(QueueFailure) {
        var options = unsafe jsSubOptions()
        unsafe jsSubOptions_Init(&options)
        let words = unsafe [strdup(stream), strdup(consumer)]
        defer { unsafe words.forEach { unsafe free($0) } }
        unsafe options.Stream = UnsafePointer(words[0])
        unsafe options.Consumer = UnsafePointer(words[1])
        var code = jsErrCode(0)
        var made: OpaquePointer?
        try NATSConnection.check(
            unsafe js_PullSubscribe(
                &made, link.context, subject, consumer, nil, &options, &code), "subscribe")
        guard let made = unsafe made else { throw QueueFailure(reason: "no subscription") }
        unsafe subscription = made
        self.link = link
    }

    deinit { unsafe natsSubscription_Destroy(subscription) }

    /// Ends the wait, from any thread.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        _ = unsafe natsSubscription_Unsubscribe(subscription)
    }

    /// Waits for one message; nil when none came in time, or `stop` was called.
    func pull(within time: Duration) throws(QueueFailure) -> NATSDelivery? {
        var list = unsafe natsMsgList()
        let milliseconds = Int64(time / .milliseconds(1))
        let status = unsafe natsSubscription_Fetch(&list, subscription, 1, milliseconds, nil)
        guard status != NATS_TIMEOUT, !isStopped.load(ordering: .relaxed) || status == NATS_OK
        else {
            return nil
        }
        try NATSConnection.check(status, "pull")
        guard unsafe list.Count > 0, let message = unsafe list.Msgs[0] else { return nil }
        unsafe list.Msgs[0] = nil
        unsafe natsMsgList_Destroy(&list)
        return unsafe NATSDelivery(message, link)
    }
}

/// A message that is leased; `@unchecked Sendable` because the lock is held while the library has
/// it, from any thread.
@safe final class NATSDelivery: @unchecked Sendable {
    private let message: OpaquePointer
    private let link: NATSConnection
    private let isSettled = Mutex(false)
    let bytes: [UInt8]
    /// How often it was delivered, this time included.
    let deliveryCount: Int

    init(_ message: OpaquePointer, _ link: NATSConnection) {
        unsafe self.message = message
        self.link = link
        bytes = unsafe NATSQueue.bytes(of: message)
        var details: UnsafeMutablePointer<jsMsgMetaData>?
        _ = unsafe natsMsg_GetMetaData(&details, message)
        deliveryCount = unsafe Int(clamping: details?.pointee.NumDelivered ?? 1)
        unsafe jsMsgMetaData_Destroy(details)
    }

    deinit { unsafe natsMsg_Destroy(message) }

    /// Extends the lease; what comes of it is not known.
    func extend() {
        isSettled.withLock { isSettled in
            if !isSettled { _ = unsafe natsMsg_InProgress(message, nil) }
        }
    }

    /// Extends the lease, and says whether the queue still has the message.
    func isStillThere() -> Bool {
        var answer: OpaquePointer?
        let status = unsafe natsConnection_RequestString(
            &answer, link.connection, natsMsg_GetReply(message), "+WPI", NATSConnection.patience)
        unsafe natsMsg_Destroy(answer)
        return status != NATS_NO_RESPONDERS
    }

    /// Takes the message out of the queue, and waits for the queue to say so.
    func finish() throws(QueueFailure) {
        let status = isSettled.withLock { isSettled in
            isSettled = true
            return unsafe natsMsg_AckSync(message, nil, nil)
        }
        try NATSConnection.check(status, "acknowledge")
    }

    /// Lets others have it after a time; what does not arrive comes back when the lease is over.
    func giveBack(after time: Duration) {
        isSettled.withLock { isSettled in
            guard !isSettled else { return }
            isSettled = true
            let milliseconds = Int64(time / .milliseconds(1))
            _ = unsafe natsMsg_NakWithDelay(message, max(0, milliseconds), nil)
        }
    }

    /// Takes the message out for good: it names no take.
    func drop() {
        isSettled.withLock { isSettled in
            isSettled = true
            _ = unsafe natsMsg_Term(message, nil)
        }
    }
}
