// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Glibc

/// The transfers of one loop and the multi handle that carries them.
///
/// Touched by the transfer thread alone.
@safe final class TransferTable {
    private let multi: UnsafeMutableRawPointer
    private var waiting: [TransferCommand.Start] = []
    private var transfers: [Transfer] = []

    /// With idle ones.
    private static let connectionLimit = 16

    private let sockets = OpenSockets()

    init() throws(CurlRefusal) {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else { throw .noMemory }
        guard let multi = unsafe curl_multi_init() else {
            curl_global_cleanup()
            throw .noMemory
        }
        unsafe self.multi = multi
        // A connection that breaks harms the one take that it carries.
        try set(CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
        try set(CURLMOPT_MAXCONNECTS, Self.connectionLimit)
    }

    private func set(_ option: CURLMoption, _ value: Int) throws(CurlRefusal) {
        let code = unsafe utter_multi_setopt_long(multi, option, value)
        guard code == CURLM_OK else { throw CurlRefusal(code) }
    }

    deinit {
        unsafe curl_multi_cleanup(multi)
        curl_global_cleanup()
    }

    func obey(_ command: TransferCommand) {
        switch command {
        case .start(let start): waiting.append(start)
        case .hurry(let id):
            for index in waiting.indices where waiting[index].id == id {
                waiting[index].due = waiting[index].notBefore
            }
        case .cancel(let id):
            if let index = waiting.firstIndex(where: { $0.id == id }) {
                waiting.remove(at: index).observer.transferDidEnd(.unstarted(.cancelled))
            } else if let transfer = transfers.first(where: { $0.id == id }) {
                transfer.cancel()
                breakOff(transfer)
            }
        }
    }

    /// Every transfer is looked at this often.
    private static let longestWait = Duration.milliseconds(500)

    /// Advances every transfer; returns when to do so again, nil for never.
    func turn() -> ContinuousClock.Instant? {
        // Deadlines are looked at as of now: what had come by then is heard before it is judged, even
        // when the process is stopped in the middle of this.
        let now = ContinuousClock.now
        begin(now: now)
        for transfer in transfers { transfer.unpauseWhenDue() }
        perform()
        // libcurl pauses a body only when it asks for more and gets nothing: without another turn
        // the poll returns at once.
        if transfers.contains(where: { $0.awaitsPause }) { perform() }
        // After libcurl's turn, which may have brought a refusal or begun a deadline.
        var next = waiting.map(\.due).min()
        for transfer in transfers {
            next = min(next ?? now + Self.longestWait, transfer.look(now: now))
        }
        for transfer in transfers where transfer.mustEnd {
            breakOff(transfer)
        }
        return next
    }

    /// Waits for any connection, for `descriptor` or for the time; -1 is for ever.
    ///
    /// - Returns: whether `descriptor` is readable.
    func wait(for descriptor: Int32, milliseconds: Int32) -> Bool {
        var event = curl_waitfd(fd: descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        // libcurl refuses a negative time, and would not wait at all.
        let timeout = milliseconds < 0 ? Int32.max : milliseconds
        unsafe curl_multi_poll(multi, &event, 1, timeout, nil)
        return event.revents != 0
    }

    func cancelEverything() {
        for id in waiting.map(\.id) + transfers.map(\.id) { obey(.cancel(id)) }
    }

    private func begin(now: ContinuousClock.Instant) {
        for start in waiting where start.due <= now {
            do throws(CurlRefusal) {
                let transfer = try Transfer(
                    id: start.id, request: start.request, observer: start.observer,
                    sockets: sockets)
                let code = unsafe curl_multi_add_handle(multi, transfer.raw)
                guard code == CURLM_OK else { throw CurlRefusal(code) }
                transfers.append(transfer)
            } catch {
                start.observer.transferDidEnd(.unstarted(.unprepared(error.description)))
            }
        }
        waiting.removeAll { $0.due <= now }
    }

    private func perform() {
        var running: Int32 = 0
        unsafe curl_multi_perform(multi, &running)
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            let handle = unsafe message.pointee.easy_handle
            let code = unsafe utter_message_result(message)
            if let transfer = transfers.first(where: { unsafe $0.raw == handle }) {
                remove(transfer, code: code)
            }
        }
    }

    private func breakOff(_ transfer: Transfer) {
        transfer.closeConnection()
        remove(transfer, code: CURLE_ABORTED_BY_CALLBACK)
    }

    private func remove(_ transfer: Transfer, code: CURLcode) {
        unsafe curl_multi_remove_handle(multi, transfer.raw)
        transfers.removeAll { $0 === transfer }
        transfer.end(code: code)
    }
}

/// The sockets that libcurl has opened for one loop; some are closed since.
///
/// libcurl tells of a connection that it is about to use by its local port alone. Touched by the
/// transfer thread alone.
final class OpenSockets {
    private var descriptors: Set<Int32> = []
    /// HTTP/2 connections, as far as known.
    private var multiplexed: Set<Int32> = []

    func add(_ socket: Int32) {
        descriptors.insert(socket)
        multiplexed.remove(socket)
    }

    func socket(ofLocalPort port: Int32) -> Int32? {
        descriptors.first { utter_local_port($0) == port }
    }

    func noteMultiplexed(_ socket: Int32) { multiplexed.insert(socket) }

    /// Whether bytes wait on a connection over which nothing was asked.
    ///
    /// libcurl would take them for the next answer. On HTTP/2 that cannot happen: each answer names
    /// its request (RFC 9113 §5.1.1).
    func hasUnaskedBytes(_ socket: Int32) -> Bool {
        guard !multiplexed.contains(socket) else { return false }
        return Self.peek(socket) != nil
    }

    /// 0 at the end of the connection, 1 when bytes are there, nil when none are.
    static func peek(_ socket: Int32) -> Int? {
        var byte: UInt8 = 0
        let count = unsafe recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count >= 0 ? count : nil
    }
}
