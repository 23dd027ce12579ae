// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import LinuxPlatform

/// libcurl's multi handle, and what it waits for: its sockets and one timer.
///
/// libcurl is given its turn for what is ready alone (`curl_multi_socket_action`), so that a turn
/// costs nothing for the other transfers. Touched by the transfer thread alone.
@safe final class CurlMulti {
    private let multi: UnsafeMutableRawPointer
    private let sockets: ReadySet
    /// The events of each socket that libcurl waits for.
    private var wishes: [Int32: ReadySet.Events] = [:]
    /// Sockets of which the kernel may not have been told yet: libcurl often changes its mind twice
    /// in one turn.
    private var changed: [Int32] = []
    private var ready: [(number: Int32, events: ReadySet.Events)] = []
    private let wakeup: Int32
    private var isWoken = false
    /// Sockets that libcurl has left to us, and those of them that are ready.
    private var (own, ownReady): (Set<Int32>, [Int32]) = ([], [])
    /// When libcurl wants its turn whatever is ready.
    private(set) var timer: ContinuousClock.Instant?
    /// Turns of libcurl, for tests.
    private(set) var actCount = 0

    /// With idle ones.
    private static let connectionLimit = 16

    /// Also waits for the edges of `wakeup`, the descriptor of a `Wakeup`.
    init(wokenBy wakeup: Int32) throws(CurlRefusal) {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else { throw .noMemory }
        guard let multi = unsafe curl_multi_init() else {
            curl_global_cleanup()
            throw .noMemory
        }
        unsafe self.multi = multi
        self.wakeup = wakeup
        do throws(SystemError) {
            sockets = try ReadySet()
        } catch {
            unsafe curl_multi_cleanup(multi)
            curl_global_cleanup()
            throw CurlRefusal(error)
        }
        // A connection that breaks harms the one take that it carries.
        try set(CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
        try set(CURLMOPT_MAXCONNECTS, Self.connectionLimit)
        sockets.watch(wakeup, for: .input | .edge)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        try check(unsafe utter_multi_listen(multi, socketChanged, timerChanged, context))
    }

    deinit {
        unsafe utter_multi_listen(multi, nil, nil, nil)
        unsafe curl_multi_cleanup(multi)
        curl_global_cleanup()
    }

    private func set(_ option: CURLMoption, _ value: Int) throws(CurlRefusal) {
        try check(unsafe utter_multi_setopt_long(multi, option, value))
    }

    private func check(_ code: CURLMcode) throws(CurlRefusal) {
        guard code == CURLM_OK else { throw CurlRefusal(code) }
    }

    func add(_ easy: UnsafeMutableRawPointer) throws(CurlRefusal) {
        try check(unsafe curl_multi_add_handle(multi, easy))
    }

    func remove(_ easy: UnsafeMutableRawPointer) {
        unsafe curl_multi_remove_handle(multi, easy)
    }

    // MARK: - libcurl's turns

    /// For a body that has grown: it is sent without asking whether anything came.
    func send(on socket: Int32) { act(socket, CURL_CSELECT_OUT) }

    /// For all that has come by now.
    func actOnWhatIsReady() {
        // libcurl, which changes its wishes meanwhile, makes nothing ready.
        for (number, events) in ready {
            // It may be closed since.
            guard let wish = wishes[number] else { continue }
            var mask: Int32 = 0
            if wish.meets(.input), events.meets(.input | .broken) { mask |= CURL_CSELECT_IN }
            if wish.meets(.output), events.meets(.output | .broken) { mask |= CURL_CSELECT_OUT }
            if mask != 0 { act(number, mask) }
        }
        ready.removeAll(keepingCapacity: true)
        actOnTimer()
    }

    func actOnTimer() {
        guard let timer, timer <= .now else { return }
        self.timer = nil
        act(CURL_SOCKET_TIMEOUT, 0)
    }

    private func act(_ socket: Int32, _ mask: Int32) {
        var running: Int32 = 0
        actCount += 1
        unsafe curl_multi_socket_action(multi, socket, mask, &running)
    }

    /// Calls `take` with each handle whose transfer has ended since the last call.
    func takeEnded(_ take: (UnsafeMutableRawPointer?, CURLcode) -> Void) {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            unsafe take(message.pointee.easy_handle, utter_message_result(message))
        }
    }

    // MARK: - Waiting

    /// Notes what is ready, and whether `wakeup` was signalled; waits for any of them or for the time,
    /// -1 for ever.
    func wait(milliseconds: Int32) {
        for number in changed { sockets.watch(number, for: wishes[number] ?? .none) }
        changed.removeAll(keepingCapacity: true)
        sockets.wait(milliseconds: isWoken ? 0 : milliseconds) { number, events in
            if number == wakeup {
                isWoken = true
            } else if own.contains(number) {
                ownReady.append(number)
            } else {
                ready.append((number, events))
            }
        }
    }

    /// Also waits for a socket that libcurl has left to us; `.none` before it is closed.
    func watch(own socket: Int32, for events: ReadySet.Events) {
        if events == .none { own.remove(socket) } else { own.insert(socket) }
        sockets.watch(socket, for: events)
    }

    /// The sockets of ours that the last waits have found to be ready.
    func takeOwnReady() -> [Int32] {
        defer { ownReady.removeAll(keepingCapacity: true) }
        return ownReady
    }

    /// Whether there was a signal since the last call.
    func takeWakeup() -> Bool {
        defer { isWoken = false }
        return isWoken
    }

    fileprivate func note(_ socket: Int32, _ what: Int32) {
        if what == CURL_POLL_REMOVE {
            wishes[socket] = nil
            // At once: its number may belong to another socket soon.
            sockets.watch(socket, for: .none)
            return
        }
        let input = what & CURL_POLL_IN != 0 ? ReadySet.Events.input : .none
        wishes[socket] = what & CURL_POLL_OUT != 0 ? input | .output : input
        changed.append(socket)
    }

    fileprivate func noteTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
    }
}

// Called by libcurl on the transfer thread.

private func socketChanged(
    _: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32,
    _ context: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe multi(context)?.note(socket, what)
    return 0
}

private func timerChanged(
    _: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe multi(context)?.noteTimer(milliseconds)
    return 0
}

/// It calls nothing while this is made, and nothing any more while it goes.
private func multi(_ context: UnsafeMutableRawPointer?) -> CurlMulti? {
    unsafe context.map { unsafe Unmanaged<CurlMulti>.fromOpaque($0).takeUnretainedValue() }
}
