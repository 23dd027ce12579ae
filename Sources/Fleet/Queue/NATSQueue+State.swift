// SPDX-License-Identifier: Apache-2.0

internal import CNATS
internal import FoundationEssentials
internal import LinuxPlatform
internal import Utter

extension NATSQueue {
    package func counts() throws(QueueFailure) -> QueueCounts { try look().counts }

    /// What the stream holds, and the first message if its consumer takes that for acknowledged.
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
        return unsafe (
            counts, state.FirstSeq <= known.AckFloor.Stream ? state.FirstSeq : nil
        )
    }

    /// Puts messages in again that lie there and would never be delivered; blocks for a second when
    /// there may be some.
    ///
    /// A server that is killed may find on its disk what was acknowledged, and what its consumer knows
    /// to be: such a message lies there for ever, and its take cannot be put in again.
    ///
    /// - Returns: how many there were.
    package func restore() throws(QueueFailure) -> Int {
        guard let suspect = try look().lost else { return 0 }
        // What was acknowledged just now is about to go.
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
            // One that has its mark costs a look at that.
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
