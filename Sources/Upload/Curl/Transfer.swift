// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Glibc
internal import LinuxPlatform

/// One HTTP POST on its way.
///
/// Touched by the transfer thread alone once it has begun.
///
/// libcurl pulls the body through `fill`: bytes, *pause* when there is nothing yet, or the end. libcurl never rewinds and follows nothing: every
/// resend is another transfer, decided by us.
final class Transfer: @unchecked Sendable {
    let id: TransferID
    private let request: TransferRequest
    private let observer: any TransferObserver
    private var easy: CurlEasy
    private var response: TransferResponse
    private var progress = TransferProgress(start: .now)
    private var timings = TransferTimings()
    /// How much of the body the connection has taken.
    private var offset = 0
    private var pace: SendingPace?
    private let sockets: OpenSockets
    /// The socket of the connection, once that stands.
    private var socket: Int32?
    /// Whether a connection was made for it.
    private var hasOpenedSocket = false
    /// Whether the connection is one that an earlier transfer has left.
    private var hasReusedConnection = false
    /// When a silent connection is asked again whether the service has closed it.
    private var nextHangUpLook = ContinuousClock.now
    /// When the head of a refusal was complete.
    private var refusedAt: ContinuousClock.Instant?
    /// Why we broke the transfer off ourselves.
    private var ownEnding: TransferResult.Ending?

    /// How long a service may have us wait; one that asks for more gets this.
    private static let longestRetryAfter = 3_600

    /// Prepares the request.
    init(
        id: TransferID, request: TransferRequest, observer: any TransferObserver,
        sockets: OpenSockets
    ) throws(CurlRefusal) {
        guard let easy = CurlEasy() else { throw .noMemory }
        self.id = id
        self.sockets = sockets
        self.request = request
        self.observer = observer
        self.easy = easy
        response = TransferResponse(to: request.url, limit: request.responseLimit)
        pace = request.bytesPerSecond.map { SendingPace(bytesPerSecond: $0, now: .now) }
        try configure()
    }

    /// The C handle, for the multi handle's calls; not to be kept.
    var raw: UnsafeMutableRawPointer { unsafe easy.raw }

    private func configure() throws(CurlRefusal) {
        try easy.prepare(request)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe try easy.set(CURLOPT_SOCKOPTDATA, context)
        unsafe try easy.setSocketPreparation(prepareSocket)
        unsafe try easy.set(CURLOPT_READDATA, context)
        unsafe try easy.set(CURLOPT_READFUNCTION, readBody)
        unsafe try easy.set(CURLOPT_WRITEDATA, context)
        unsafe try easy.set(CURLOPT_WRITEFUNCTION, writeResponse)
        unsafe try easy.set(CURLOPT_HEADERDATA, context)
        unsafe try easy.set(CURLOPT_HEADERFUNCTION, writeHeader)
        unsafe try easy.set(CURLOPT_PREREQDATA, context)
        unsafe try easy.setPrerequest(beforeRequest)
    }

    // MARK: - Each turn of the loop

    /// Lets the body flow when there is a reason.
    ///
    /// Asked before and after libcurl's turn.
    ///
    /// The reason is looked at each time and never remembered: a pause that libcurl took
    /// between two looks would otherwise last for ever.
    func unpauseWhenDue() {
        if progress.bodyEnd == nil {
            if isBodyWaiting { easy.unpause() }
        } else if isRefusedEarly {
            // A paused body keeps libcurl from delivering an early refusal.
            easy.unpause()
        }
    }

    /// Whether the body was handed over as far as it goes, and libcurl does not know that yet.
    private(set) var awaitsPause = false

    /// Looks at the deadlines after libcurl's turn, and says when to look again.
    func look(now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        unpauseWhenDue()
        if progress.bodyEnd == nil, isBodyWaiting {
            progress.waitingSince = progress.waitingSince ?? .now
        } else {
            lookForHangUp(now: now)
        }
        switch request.deadlines.check(progress, now: now) {
        case .missed(let missed):
            ownEnding = ownEnding ?? .timedOut(missed)
            return now
        case .next(var instant):
            if let end = refusedAt.map({ $0 + request.deadlines.refusal }) {
                if end <= now {
                    // What was heard of it is the answer.
                    ownEnding = ownEnding ?? .timedOut(.answer)
                    return now
                }
                instant = min(instant, end)
            }
            if let pace { instant = min(instant, now + pace.interval) }
            return isRefusedEarly ? min(instant, now + .milliseconds(5)) : instant
        }
    }

    /// Whether there is something for the connection to take: bytes, or the end.
    ///
    /// What our own pace holds back does not wait for the connection.
    private var isBodyWaiting: Bool {
        guard pace?.room(now: .now) != 0 else { return false }
        return request.body.isReady(at: offset)
    }

    /// Notices that the service closed the connection while there is nothing to send.
    ///
    /// libcurl stops reading at the service's FIN and would learn the rest from its next send.
    private func lookForHangUp(now: ContinuousClock.Instant) {
        guard progress.isConnected, progress.bodyEnd == nil, response.status == nil,
            now >= nextHangUpLook
        else { return }
        nextHangUpLook = now + .milliseconds(250)
        guard let socket, OpenSockets.peek(socket) == 0 else { return }
        ownEnding = ownEnding ?? .connectionLost("the service closed it before the body's end")
    }

    /// Whether the transfer must be taken out of the loop by us.
    var mustEnd: Bool { ownEnding != nil }

    /// Whether the service refused before the body was complete.
    private var isRefusedEarly: Bool {
        response.isRefusal && timings.lastByteOut == nil
    }

    /// Breaks the transfer off without finishing the body.
    func cancel() { ownEnding = ownEnding ?? .cancelled }

    /// Has the connection closed: what breaks a transfer off makes it useless for others.
    func closeConnection() {
        // It is closed in any case when it carries no HTTP/2.
        try? easy.forbidReuse()
    }

    // MARK: - libcurl's callbacks

    /// A socket was opened; several are when a name has several addresses.
    fileprivate func didOpen(_ socket: Int32) {
        let stall = request.deadlines.stall.wholeMilliseconds(upTo: 3_600_000)
        utter_prepare_socket(socket, Int32(max(1, stall / 4_000)))
        sockets.add(socket)
        hasOpenedSocket = true
    }

    /// The connection stands, from this port of ours, and nothing of the request has been sent.
    ///
    /// - Returns: whether the request may be made on it.
    fileprivate func didConnect(localPort: Int32) -> Bool {
        // libcurl makes a request again by itself when a connection that it has used before dies.
        guard !progress.isConnected else { return breakOff(.connectionLost("it was kept open")) }
        progress.isConnected = true
        hasReusedConnection = !hasOpenedSocket
        // What was said while connecting has only now begun to wait for the connection.
        progress.waitingSince = nil
        socket = sockets.socket(ofLocalPort: localPort)
        if let socket {
            if hasReusedConnection, sockets.hasUnaskedBytes(socket) {
                return breakOff(.connectionLost("the service spoke on it without being asked"))
            }
            let stall = request.deadlines.stall.wholeMilliseconds(upTo: Int(Int32.max))
            utter_limit_unacknowledged(socket, UInt32(stall))
        }
        // libcurl asks for no byte of a body that has none.
        if request.body.contentLength == 0 { noteEnd() }
        observer.transferDidConnect()
        return true
    }

    /// Notes why we break it off, for libcurl to hear.
    private func breakOff(_ ending: TransferResult.Ending) -> Bool {
        ownEnding = ownEnding ?? ending
        return false
    }

    /// Fills libcurl's buffer with the next bytes of the body.
    fileprivate func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        // The last bytes were the end already.
        if timings.lastByteOut != nil { return 0 }
        do throws(SystemError) {
            let room = min(buffer.count, pace?.room(now: .now) ?? buffer.count)
            awaitsPause = false
            guard room > 0 else { return Int(CURL_READFUNC_PAUSE) }
            let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<room])
            switch unsafe try request.body.read(at: offset, into: piece) {
            case .bytes(let count):
                // A form has ended with its last bytes, and of a body of known length libcurl does
                // not ask for the end.
                if request.body.tellsEnd(at: offset + count) {
                    guard mayEnd() else { return Int(CURL_READFUNC_ABORT) }
                    if request.body.isWhole(at: offset + count) { noteEnd() }
                }
                offset += count
                pace?.spend(count)
                progress.waitingSince = nil
                awaitsPause = !isBodyWaiting
                if timings.firstByteOut == nil { timings.firstByteOut = elapsed }
                observer.transferDidSend(byteCount: request.body.sourceByteCount(at: offset))
                return count
            case .nothingYet:
                return Int(CURL_READFUNC_PAUSE)
            case .end:
                guard mayEnd() else { return Int(CURL_READFUNC_ABORT) }
                noteEnd()
                return 0
            }
        } catch {
            ownEnding = .journalUnreadable(error.description)
            return Int(CURL_READFUNC_ABORT)
        }
    }

    /// Whether the service may learn that the recording has ended; otherwise the transfer ends.
    private func mayEnd() -> Bool {
        let isWanted = request.mayEndBody()
        if !isWanted { ownEnding = ownEnding ?? .cancelled }
        return isWanted
    }

    /// Notes that the end of the body is handed over.
    private func noteEnd() {
        progress.bodyEnd = .now
        timings.lastByteOut = elapsed
    }

    /// Takes one line of a response's head in; false breaks the transfer off.
    fileprivate func receive(headerLine: String) -> Bool {
        switch response.take(headerLine: headerLine) {
        case .goesOn: return true
        case .unusable(let reason):
            ownEnding = .badResponse(reason)
            return false
        case .head(let status):
            if timings.firstByteIn == nil { timings.firstByteIn = elapsed }
            if response.isRefusal {
                // Nothing more is sent after a refusal; what is left is the answer's deadline.
                if progress.bodyEnd == nil { progress.bodyEnd = .now }
                refusedAt = .now
            }
            observer.transferDidReceiveHead(status: status, headers: response.headers)
            return !isAnsweredEarly
        }
    }

    /// Takes bytes of the response's body in; false breaks the transfer off.
    fileprivate func receive(_ bytes: Span<UInt8>) -> Bool {
        timings.lastByteIn = elapsed
        if let reason = response.take(bodyByteCount: bytes.count) {
            ownEnding = .badResponse(reason)
            return false
        }
        observer.transferDidReceive(bytes)
        return !isAnsweredEarly
    }

    /// Whether a good answer is complete before the body is.
    ///
    /// It cannot be one to the whole recording. Where the connection stays open, libcurl would send
    /// the rest, to a server that may not even read it, and say that all went well.
    private var isAnsweredEarly: Bool {
        guard response.isWhole, !response.isRefusal, timings.lastByteOut == nil else {
            return false
        }
        // All is on its way but the mark of its end.
        return !request.body.isWhole(at: offset)
    }

    // MARK: - The end

    /// Tells the observer how it ended.
    ///
    /// Called once, after the handle left the loop.
    func end(code: CURLcode) {
        timings.end = elapsed
        timings.resolved = duration(CURLINFO_NAMELOOKUP_TIME_T)
        timings.connected = duration(CURLINFO_CONNECT_TIME_T)
        timings.secured = duration(CURLINFO_APPCONNECT_TIME_T)
        timings.httpVersion = httpVersion
        if let socket, timings.httpVersion == "2" { sockets.noteMultiplexed(socket) }
        let wait = min(max(0, easy.offset(CURLINFO_RETRY_AFTER)), Self.longestRetryAfter)
        observer.transferDidEnd(
            TransferResult(
                ending: response.ending(
                    own: ownEnding, failure: code == CURLE_OK ? nil : failure(code)),
                status: response.status, headers: response.headers,
                sentByteCount: request.body.sourceByteCount(at: offset), wireByteCount: offset,
                isBodyComplete: timings.lastByteOut != nil, timings: timings,
                retryAfter: .seconds(wait),
                hasReusedConnection: hasReusedConnection))
    }

    /// The version of the answer, by libcurl's number (`CURLINFO_HTTP_VERSION`).
    private var httpVersion: String? {
        switch UInt32(clamping: easy.long(CURLINFO_HTTP_VERSION)) {
        case UInt32(CURL_HTTP_VERSION_1_0): "1.0"
        case UInt32(CURL_HTTP_VERSION_1_1): "1.1"
        case UInt32(CURL_HTTP_VERSION_2_0): "2"
        default: nil
        }
    }

    private func failure(_ code: CURLcode) -> TransferResult.Ending {
        // The kernel gave up on bytes that the peer did not acknowledge (TCP_USER_TIMEOUT).
        let isStall =
            (code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR)
            && easy.long(CURLINFO_OS_ERRNO) == Int(ETIMEDOUT) && timings.lastByteOut == nil
        return isStall
            ? .timedOut(.stall)
            : TransferResult.Ending(
                code: code, text: easy.message(for: code),
                systemCode: easy.long(CURLINFO_OS_ERRNO), url: request.url)
    }

    private var elapsed: Duration { .now - progress.start }

    private func duration(_ info: CURLINFO) -> Duration? {
        let microseconds = easy.offset(info)
        return microseconds > 0 ? .microseconds(microseconds) : nil
    }
}

/// Called by libcurl on the transfer thread when a socket has been opened.
private func prepareSocket(
    _ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _: curlsocktype
) -> Int32 {
    unsafe transfer(context)?.didOpen(socket)
    return CURL_SOCKOPT_OK
}

/// Called by libcurl on the transfer thread when the connection stands.
private func beforeRequest(
    _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<CChar>?,
    _: UnsafeMutablePointer<CChar>?, _: Int32, _ localPort: Int32
) -> Int32 {
    unsafe transfer(context)?.didConnect(localPort: localPort) == true
        ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// Called by libcurl on the transfer thread when the connection has room for body bytes.
private func readBody(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let bytes = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
    return unsafe transfer(context)?.fill(bytes) ?? Int(CURL_READFUNC_ABORT)
}

/// Called by libcurl on the transfer thread for each line of each response head.
private func writeHeader(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: size * count)
    let line = unsafe String(decoding: bytes, as: UTF8.self)
    return unsafe transfer(context)?.receive(headerLine: line) == true ? size * count : 0
}

/// Called by libcurl on the transfer thread for bytes of the response's body.
private func writeResponse(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: size * count)
    let isWanted = unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes in
        unsafe transfer(context)?.receive(bytes.span) == true
    }
    return isWanted ? size * count : 0
}

/// The transfer behind a callback's context; the loop keeps it alive until its handle is gone.
private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    unsafe context.map { unsafe Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}
