// SPDX-License-Identifier: Apache-2.0

internal import CNATS
internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform
internal import Synchronization
internal import TakeStore
internal import Utter

/// The queue on NATS JetStream, which leases messages to workers.
///
/// It may lose all that it has, since the store is the truth, and may deliver one twice, since there is
/// one mark. A stream holds at most one message a take, since each has a subject of its own and the
/// stream refuses a second one: so a take that waits or is leased is not put in twice, however often
/// that is tried and whatever time has passed. A second stream has the one message of the reconciler.
package final class NATSQueue: Sendable {
    private let place: QueuePlace
    let link: NATSConnection
    private let known: Mutex<Duration>

    private var takes: String { place.name }
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
    var lease: Duration { known.withLock { $0 } }

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
        if status != NATS_OK,
            unsafe js_GetConsumerInfo(&info, link.context, stream, name, nil, nil) == NATS_OK
        {
            // It was made meanwhile.
            unsafe jsConsumerInfo_Destroy(info)
        } else {
            try NATSConnection.check(status, "make the consumer \(name)")
        }
        return place.lease
    }

    // MARK: - Messages

    /// Puts a take in; false when it waits there or is leased.
    func publish(_ take: QueuedTake) throws(QueueFailure) -> Bool {
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
        // The same code stands for all limits of a stream.
        if code == JSStreamStoreFailedErr, words.contains("per subject") { return false }
        if code == JSStreamStoreFailedErr, bytes.isEmpty { return false }
        throw QueueFailure(reason: "the queue refuses a message: \(words)")
    }

    /// A way to take messages out, for one thread.
    func makePuller(of line: QueueLine) throws(QueueFailure) -> NATSPuller {
        switch line {
        case .takes: try NATSPuller(link, stream: takes, consumer: "takes", subject + ".>")
        case .check: try NATSPuller(link, stream: check, consumer: "check", checkSubject)
        }
    }

    // MARK: - What it holds

    func counts() throws(QueueFailure) -> QueueCounts { try look().counts }

    /// The counts of the stream, and the first message if its consumer takes that for acknowledged.
    private func look() throws(QueueFailure) -> (counts: QueueCounts, lost: UInt64?) {
        var counts = QueueCounts()
        var consumer: UnsafeMutablePointer<jsConsumerInfo>?
        var stream: UnsafeMutablePointer<jsStreamInfo>?
        var code = jsErrCode(0)
        let found = unsafe js_GetConsumerInfo(&consumer, link.context, takes, "takes", nil, &code)
        if code == JSStreamNotFoundErr || code == JSConsumerNotFoundErr { return (counts, nil) }
        try NATSConnection.check(found, "count")
        defer { unsafe jsConsumerInfo_Destroy(consumer) }
        try NATSConnection.check(
            unsafe js_GetStreamInfo(&stream, link.context, takes, nil, &code), "count")
        defer { unsafe jsStreamInfo_Destroy(stream) }
        guard let known = unsafe consumer?.pointee, let state = unsafe stream?.pointee.State else {
            return (counts, nil)
        }
        unsafe counts.waiting = Int(clamping: known.NumPending)
        unsafe counts.leased = Int(known.NumAckPending)
        guard unsafe state.Msgs > 0 else { return (counts, nil) }
        let first = unsafe Double(state.FirstTime) / 1e9
        counts.oldestAge = max(0, Date().timeIntervalSince1970 - first)
        return unsafe (counts, state.FirstSeq <= known.AckFloor.Stream ? state.FirstSeq : nil)
    }

    /// Puts messages in again that lie there and would never be delivered, and returns how many;
    /// blocks for a second when there may be some.
    ///
    /// A server that is killed may find on its disk what was acknowledged, and what its consumer knows
    /// to be: such a message lies there for ever, and its take cannot be put in again.
    func restore() throws(QueueFailure) -> Int {
        guard let suspect = try look().lost else { return 0 }
        // A message that was acknowledged just now is about to go.
        _ = waits(.seconds(1))
        guard try look().lost == suspect else { return 0 }
        var count = 0
        while count < 10_000, let number = try look().lost {
            var message: OpaquePointer?
            let status = unsafe js_GetMsg(&message, link.context, takes, number, nil, nil)
            try NATSConnection.check(status, "read")
            let bytes = unsafe Self.bytes(of: message)
            unsafe natsMsg_Destroy(message)
            let deleted = unsafe js_DeleteMsg(link.context, takes, number, nil, nil)
            try NATSConnection.check(deleted, "delete")
            // A take that has its mark costs a look at that.
            if let take = QueuedTake(bytes), try publish(take) { count += 1 }
        }
        return count
    }

    static func bytes(of message: OpaquePointer?) -> [UInt8] {
        let count = unsafe Int(natsMsg_GetDataLength(message))
        return unsafe natsMsg_GetData(message).map { data in
            unsafe Array(UnsafeRawBufferPointer(start: data, count: count))
        } ?? []
    }
}

/// Why the queue does not do what it is asked.
package struct QueueFailure: Error, Sendable, Equatable {
    package let reason: String
}

/// A take as the queue carries it: where its manifest is.
struct QueuedTake: Codable, Sendable, Equatable {
    var id: TakeID
    /// The manifest's name, below the prefix.
    var key: String

    init(id: TakeID, key: String) { (self.id, self.key) = (id, key) }

    /// Reads a message, which is not trusted: the key must be that of this take's manifest.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= 4_096, let take = decoded(QueuedTake.self, bytes),
            FleetLayout.take(ofManifest: take.key) == take.id
        else { return nil }
        self = take
    }

    var bytes: [UInt8] { encoded(self, isPretty: false) }
}

struct QueueCounts: Sendable {
    var waiting = 0
    var leased = 0
    /// For how many seconds the oldest take has been there; 0 when there is none.
    var oldestAge = 0.0

    var isEmpty: Bool { waiting == 0 && leased == 0 }
}

enum QueueLine {
    case takes
    /// The line of a single message, whose holder reconciles.
    case check
}
