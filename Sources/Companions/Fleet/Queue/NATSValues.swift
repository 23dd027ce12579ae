// SPDX-License-Identifier: Apache-2.0

internal import CNATS
internal import FoundationEssentials
internal import Glibc

/// Small values that workers share, by compare-and-set.
package protocol SharedValues: AnyObject, Sendable {
    /// A value, its revision, and when the server has got it; nil when there is none.
    func get(_ key: String) throws(QueueFailure) -> SharedValue?

    /// False when it has changed since, and was not written; no revision is a new one.
    func set(_ key: String, to bytes: [UInt8], after revision: UInt64?) throws(QueueFailure) -> Bool

    /// How many values there are.
    func count() throws(QueueFailure) -> Int
}

package struct SharedValue: Sendable {
    package let bytes: [UInt8]
    package let revision: UInt64
    /// Seconds since 1970 by the server's clock.
    package let written: Double
}

/// A bucket of the key-value store of JetStream; `@unchecked Sendable` because the library's store is
/// safe from any thread.
@safe package final class NATSValues: SharedValues, @unchecked Sendable {
    private let store: OpaquePointer
    private let link: NATSConnection
    private let bucket: String
    private let lifetime: Duration?

    /// Opens the bucket, which is made where it is missing.
    ///
    /// A value that is not written again stays for `lifetime`; nil: for ever.
    package init(
        _ bucket: String, lifetime: Duration? = nil, of queue: NATSQueue
    ) throws(QueueFailure) {
        (link, self.bucket, self.lifetime) = (queue.link, bucket, lifetime)
        var found: OpaquePointer?
        if unsafe js_KeyValue(&found, link.context, bucket) != NATS_OK {
            unsafe found = try Self.make(bucket, lifetime, link)
        }
        guard let store = unsafe found else { throw QueueFailure(reason: "no bucket") }
        unsafe self.store = store
    }

    private static func make(
        _ bucket: String, _ lifetime: Duration?, _ link: NATSConnection
    ) throws(QueueFailure) -> OpaquePointer? {
        var found: OpaquePointer?
        var settings = unsafe kvConfig()
        unsafe kvConfig_Init(&settings)
        let name = unsafe strdup(bucket)
        defer { unsafe free(name) }
        unsafe settings.Bucket = UnsafePointer(name)
        unsafe settings.History = 1
        if let lifetime { unsafe settings.TTL = Int64(lifetime / .nanoseconds(1)) }
        try NATSConnection.check(
            unsafe js_CreateKeyValue(&found, link.context, &settings), "make the bucket \(bucket)")
        return unsafe found
    }

    /// Makes the bucket again, which may have been wiped; the next question finds it.
    private func makeAgain() {
        // Where it is there, or cannot be made, there is nothing to do.
        guard let made = unsafe try? Self.make(bucket, lifetime, link) else { return }
        unsafe kvStore_Destroy(made)
    }

    deinit { unsafe kvStore_Destroy(store) }

    package func get(_ key: String) throws(QueueFailure) -> SharedValue? {
        var entry: OpaquePointer?
        let status = unsafe kvStore_Get(&entry, store, key)
        guard status != NATS_NOT_FOUND else { return nil }
        if status != NATS_OK { makeAgain() }
        try NATSConnection.check(status, "read \(key)")
        defer { unsafe kvEntry_Destroy(entry) }
        let count = unsafe Int(kvEntry_ValueLen(entry))
        let bytes =
            unsafe kvEntry_Value(entry).map { data in
                unsafe Array(UnsafeRawBufferPointer(start: data, count: count))
            } ?? []
        return unsafe SharedValue(
            bytes: bytes, revision: kvEntry_Revision(entry),
            written: Double(kvEntry_Created(entry)) / 1e9)
    }

    package func set(
        _ key: String, to bytes: [UInt8], after revision: UInt64?
    ) throws(QueueFailure) -> Bool {
        let status = unsafe bytes.withUnsafeBytes { bytes in
            if let revision {
                unsafe kvStore_Update(
                    nil, store, key, bytes.baseAddress, Int32(bytes.count), revision)
            } else {
                unsafe kvStore_Create(nil, store, key, bytes.baseAddress, Int32(bytes.count))
            }
        }
        guard status != NATS_OK else { return true }
        let words = NATSConnection.text(of: status)
        if words.contains("wrong last sequence") || words.contains("exists") { return false }
        throw QueueFailure(reason: "the queue: write \(key): \(words)")
    }

    package func count() throws(QueueFailure) -> Int {
        var list = unsafe kvKeysList()
        let status = unsafe kvStore_Keys(&list, store, nil)
        guard status != NATS_NOT_FOUND else { return 0 }
        try NATSConnection.check(status, "list")
        defer { unsafe kvKeysList_Destroy(&list) }
        return unsafe Int(list.Count)
    }
}
