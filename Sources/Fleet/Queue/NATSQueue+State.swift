// SPDX-License-Identifier: Apache-2.0

internal import CNATS
internal import FoundationEssentials
internal import LinuxPlatform

/// What the stream of the takes holds, beside what its consumer knows of.
extension NATSQueue {
    private struct StreamState {
        var count = 0
        /// The sequence number of the first message.
        var first: UInt64 = 0
        /// When that was put in, in seconds since 1970.
        var time = 0.0
    }

    private func streamState() throws(QueueFailure) -> StreamState {
        var info: UnsafeMutablePointer<jsStreamInfo>?
        var code = jsErrCode(0)
        let status = unsafe js_GetStreamInfo(&info, link.context, takes, nil, &code)
        if code == JSStreamNotFoundErr { return StreamState() }
        try NATSConnection.check(status, "count")
        defer { unsafe jsStreamInfo_Destroy(info) }
        guard let state = unsafe info?.pointee.State else { return StreamState() }
        return unsafe StreamState(
            count: Int(clamping: state.Msgs), first: state.FirstSeq,
            time: Double(state.FirstTime) / 1e9)
    }

    /// The number up to which the consumer takes all messages for acknowledged.
    private func floor() throws(QueueFailure) -> UInt64 {
        var info: UnsafeMutablePointer<jsConsumerInfo>?
        let status = unsafe js_GetConsumerInfo(&info, link.context, takes, "takes", nil, nil)
        try NATSConnection.check(status, "count")
        defer { unsafe jsConsumerInfo_Destroy(info) }
        return unsafe info?.pointee.AckFloor.Stream ?? 0
    }

    package func oldestAge() throws(QueueFailure) -> Double {
        let state = try streamState()
        return state.count > 0 ? max(0, Date().timeIntervalSince1970 - state.time) : 0
    }

    /// The first message, while it is one that the consumer takes for acknowledged.
    private func lostMessage() throws(QueueFailure) -> UInt64? {
        let (floor, state) = (try floor(), try streamState())
        return state.count > 0 && state.first <= floor ? state.first : nil
    }

    /// A server that is killed may find on its disk what was acknowledged, and what its consumer knows
    /// to be: such a message lies there for ever, and its take cannot be put in again.
    package func restore() throws(QueueFailure) -> Int {
        guard let suspect = try lostMessage() else { return 0 }
        // What was acknowledged just now is about to go.
        _ = waits(.seconds(1)) { false }
        guard try lostMessage() == suspect else { return 0 }
        var count = 0
        while count < 10_000, let number = try lostMessage() {
            var message: OpaquePointer?
            let status = unsafe js_GetMsg(&message, link.context, takes, number, nil, nil)
            try NATSConnection.check(status, "read")
            let bytes = unsafe Self.bytes(of: message)
            unsafe natsMsg_Destroy(message)
            let deleted = unsafe js_DeleteMsg(link.context, takes, number, nil, nil)
            try NATSConnection.check(deleted, "delete")
            // One that has its mark costs a look at that.
            if let take = QueuedTake(bytes), try publish(take, seconds: 0) { count += 1 }
        }
        return count
    }

    static func bytes(of message: OpaquePointer?) -> [UInt8] {
        let count = unsafe Int(natsMsg_GetDataLength(message))
        return unsafe natsMsg_GetData(message).map { data in
            unsafe UnsafeBufferPointer(start: data, count: count).map { UInt8(bitPattern: $0) }
        } ?? []
    }
}
