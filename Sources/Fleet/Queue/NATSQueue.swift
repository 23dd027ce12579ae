// SPDX-License-Identifier: Apache-2.0

internal import CNATS
internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import TakeStore

/// The queue on NATS JetStream, which leases messages to workers.
///
/// It may lose all that it has, since the store is the truth, and may deliver one twice, since there is
/// one mark. A stream holds at most one message a take, since each has a subject of its own and the
/// stream refuses a second one: so a take that waits or is leased is not put in twice, however often
/// that is tried and whatever time has passed. A second stream has the one message of the reconciler.
package final class NATSQueue: Sendable {
    let place: QueuePlace
    let link: NATSConnection
    private let known: Mutex<Duration>

    var takes: String { place.name }
    private var check: String { place.name + "_CHECK" }
    private var subject: String { place.name.lowercased() + ".takes" }
    private var checkSubject: String { place.name.lowercased() + ".check" }

    /// Connects; blocks.
    package init(_ place: QueuePlace) throws(QueueFailure) {
        self.place = place
        known = Mutex(place.lease)
        link = try NATSConnection(place)
    }

    /// How long a message is a worker's that does not extend its lease.
    package var lease: Duration { known.withLock { $0 } }

    /// Makes what the queue consists of, where it is missing.
    package func prepare() throws(QueueFailure) {
        try makeStream(takes, of: subject + ".>", holdsOne: false)
        try makeStream(check, of: checkSubject, holdsOne: true)
        let lease = try makeConsumer("takes", of: takes, subject + ".>")
        _ = try makeConsumer("check", of: check, checkSubject)
        known.withLock { $0 = lease }
        // A stream that holds one refuses the second.
        _ = try publish(checkSubject, [])
    }

    // MARK: - Streams and consumers

    private func makeStream(
        _ name: String, of subject: String, holdsOne: Bool
    ) throws(QueueFailure) {
        var code = jsErrCode(0)
        var info: UnsafeMutablePointer<jsStreamInfo>?
        if unsafe js_GetStreamInfo(&info, link.context, name, nil, &code) == NATS_OK {
            return unsafe jsStreamInfo_Destroy(info)
        }
        var settings = unsafe jsStreamConfig()
        unsafe jsStreamConfig_Init(&settings)
        let words = unsafe [strdup(name), strdup(subject)]
        defer { unsafe words.forEach { unsafe free($0) } }
        unsafe settings.Name = UnsafePointer(words[0])
        unsafe settings.Retention = js_WorkQueuePolicy
        unsafe settings.Storage = js_FileStorage
        unsafe settings.Discard = js_DiscardNew
        unsafe settings.Replicas = Int64(place.replicas)
        if holdsOne {
            unsafe settings.MaxMsgs = 1
        } else {
            unsafe settings.MaxMsgsPerSubject = 1
            unsafe settings.DiscardNewPerSubject = true
        }
        var subjects = unsafe [UnsafePointer(words[1])]
        let (status, answer) = unsafe subjects.withUnsafeMutableBufferPointer { subjects in
            unsafe settings.Subjects = subjects.baseAddress
            unsafe settings.SubjectsLen = 1
            return NATSConnection.settled { code in
                unsafe js_AddStream(nil, link.context, &settings, nil, &code)
            }
        }
        // Another worker was faster.
        if answer == JSStreamNameExistErr { return }
        try NATSConnection.check(status, "make the stream \(name)")
    }

    /// - Returns: the lease that it has.
    private func makeConsumer(
        _ name: String, of stream: String, _ subject: String
    ) throws(QueueFailure) -> Duration {
        var code = jsErrCode(0)
        var info: UnsafeMutablePointer<jsConsumerInfo>?
        if unsafe js_GetConsumerInfo(&info, link.context, stream, name, nil, &code) == NATS_OK {
            let wait = unsafe info?.pointee.Config.pointee.AckWait ?? 0
            unsafe jsConsumerInfo_Destroy(info)
            return wait > 0 ? .nanoseconds(wait) : place.lease
        }
        var settings = unsafe jsConsumerConfig()
        unsafe jsConsumerConfig_Init(&settings)
        let words = unsafe [strdup(name), strdup(subject)]
        defer { unsafe words.forEach { unsafe free($0) } }
        unsafe settings.Durable = UnsafePointer(words[0])
        unsafe settings.FilterSubject = UnsafePointer(words[1])
        unsafe settings.AckPolicy = js_AckExplicit
        unsafe settings.AckWait = Int64(place.lease / .nanoseconds(1))
        // Tries are counted in the store: what the queue has counted is gone with it.
        unsafe settings.MaxDeliver = -1
        unsafe settings.MaxAckPending = 100_000
        unsafe settings.MaxWaiting = 16_384
        let (status, _) = NATSConnection.settled { code in
            unsafe js_AddConsumer(nil, link.context, stream, &settings, nil, &code)
        }
        // It was made meanwhile.
        guard status != NATS_OK,
            unsafe js_GetConsumerInfo(&info, link.context, stream, name, nil, nil) == NATS_OK
        else {
            try NATSConnection.check(status, "make the consumer \(name)")
            return place.lease
        }
        unsafe jsConsumerInfo_Destroy(info)
        return place.lease
    }

    // MARK: - Messages

    /// Puts a take in, unless it waits there or is leased.
    ///
    /// - Returns: whether it was not there.
    package func publish(_ take: QueuedTake) throws(QueueFailure) -> Bool {
        try publish("\(subject).\(take.id.text)", take.bytes)
    }

    private func publish(_ subject: String, _ bytes: [UInt8]) throws(QueueFailure) -> Bool {
        // A second message of a take is refused.
        let (status, code) = NATSConnection.settled { code in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe js_Publish(
                    nil, link.context, subject, bytes.baseAddress, Int32(bytes.count), nil, &code)
            }
        }
        guard status != NATS_OK else { return true }
        let words = NATSConnection.text(of: status)
        // One code stands for all limits of a stream.
        if code == JSStreamStoreFailedErr, words.contains("per subject") { return false }
        if code == JSStreamStoreFailedErr, bytes.isEmpty { return false }
        throw QueueFailure(reason: "the queue takes no message: \(words)")
    }

    /// A way to take messages out, for one thread.
    package func makePuller(of line: QueueLine) throws(QueueFailure) -> NATSPuller {
        switch line {
        case .takes: try NATSPuller(link, stream: takes, consumer: "takes", subject + ".>")
        case .check: try NATSPuller(link, stream: check, consumer: "check", checkSubject)
        }
    }
}
