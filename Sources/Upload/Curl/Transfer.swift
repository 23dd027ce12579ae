// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import LinuxPlatform
internal import SpeechService

/// An HTTP request on its way, touched by the transfer thread alone once it has begun.
///
/// libcurl pulls the body through `fill`: bytes, *pause* when there is nothing yet, or the end. It
/// never rewinds and follows nothing: every resend is another transfer, decided by us.
final class Transfer: @unchecked Sendable {
    let id: TransferID
    let request: TransferRequest
    let observer: any TransferObserver
    var easy: CurlEasy
    var response: TransferResponse
    var progress = TransferProgress(start: .now)
    var timings = TransferTimings()
    private var route = TransferRoute()
    /// Bytes of the body that the connection has taken.
    var offset = 0
    var pace: SendingPace?
    private let sockets: OpenSockets
    private let touched: TouchedTransfers
    var notes = TransferNotes()
    private var socket: Int32?
    /// The WebSocket, and its socket once the connection stands; nil for a request of HTTP.
    var channel: SocketChannel?
    var channelSocket: Int32?
    /// Frames that are being sent.
    let sending = SendingBytes()
    /// Bytes may have come on it.
    var isReadable = true
    /// A turn has ended before all audio that was there went out.
    var hasMore = false
    /// The bytes of the messages that have come.
    var receivedByteCount = 0
    private var hasOpenedSocket = false
    private var hasReusedConnection = false
    /// The next check whether the service has closed a silent connection.
    private var nextHangUpLook = ContinuousClock.now
    var refusedAt: ContinuousClock.Instant?
    var reading = AnswerReading.goesOn
    /// When the service had all of the body and the answer was known.
    private var knownAt: ContinuousClock.Instant?
    var ownEnding: TransferResult.Ending?
    let proxy: String?

    /// For the end of an answer that is known, so that the connection can be reused.
    private static let ending = Duration.milliseconds(250)
    init(
        id: TransferID, request: TransferRequest, observer: any TransferObserver,
        sockets: OpenSockets, touched: TouchedTransfers
    ) throws(CurlRefusal) {
        guard let easy = CurlEasy() else { throw .noMemory }
        self.id = id
        (self.sockets, self.touched) = (sockets, touched)
        self.request = request
        self.observer = observer
        self.easy = easy
        response = TransferResponse(
            to: request.url, limit: request.responseLimit, isHeadAlone: request.method == "HEAD",
            endsWithConnection: request.endsWithConnection, isUpgrade: request.socket != nil)
        pace = request.bytesPerSecond.map { SendingPace(bytesPerSecond: $0, now: .now) }
        proxy = request.proxy
        timings.began = progress.start
        // libcurl refuses the URL as well.
        if let messages = request.socket, let url = try? ServiceURL(request.url) {
            channel = SocketChannel(messages, to: url, request.headers + request.lateHeaders())
        }
        try self.easy.prepare(request, through: proxy)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe try self.easy.setCallbacks(context, asksForAddresses: request.avoids != nil)
    }

    /// For the multi handle's calls; not to be kept.
    var raw: UnsafeMutableRawPointer { unsafe easy.raw }

    // MARK: - Each turn of the loop

    /// Unpauses the body if that is due, and says so.
    ///
    /// The reason is looked up each time: a pause between two remembered looks would last for ever.
    func unpauseWhenDue() -> Bool {
        // A paused body keeps libcurl from delivering an early refusal.
        let isDue = progress.awaitedSince == nil ? isBodyWaiting : isRefusedEarly
        if isDue { easy.unpause() }
        return isDue
    }

    /// The socket on which the body may be sent while nothing else happens there; nil before there is
    /// one, where more is to be heard than sent, and on HTTP/2, where sending depends on what comes.
    var sendingSocket: Int32? {
        progress.isConnected && !isRefusedEarly && request.connection.http == .one ? socket : nil
    }

    /// The body has nothing more to give, and libcurl has not asked since.
    private(set) var awaitsPause = false

    /// Judges what has happened; returns when to do so again at the latest.
    func look(now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        if timings.headOut != nil { easy.stopDebugging() }
        if progress.wholeSince == nil, let byteCount = request.body.byteCount {
            let paced = request.bytesPerSecond.map { Double(byteCount) / Double($0) } ?? 0
            progress.wholeSince = now + .seconds(paced)
        }
        if progress.awaitedSince == nil, isBodyWaiting {
            progress.waitingSince = progress.waitingSince ?? .now
        } else {
            lookForHangUp(now: now)
        }
        // A long answer is read on another thread, which knows later that it is complete.
        if reading == .goesOn, timings.firstByteIn != nil { noteReading() }
        if isAnsweredEarly { return endAsKnown(now) }
        switch request.deadlines.check(progress, now: now) {
        case .missed(let missed):
            ownEnding = ownEnding ?? ending(missed: missed)
            return now
        case .next(var instant):
            if let end = refusedAt.map({ $0 + request.deadlines.refusal }) {
                // The part of the refusal that has come is the answer.
                if end <= now { return endAsKnown(now) }
                instant = min(instant, end)
            }
            if isKnown {
                knownAt = knownAt ?? now
                guard let end = knownAt.map({ $0 + Self.ending }), end > now else {
                    return endAsKnown(now)
                }
                instant = min(instant, end)
            }
            if let pace { instant = min(instant, now + pace.interval) }
            if let next = nextExchange(now) { instant = min(instant, next) }
            return isRefusedEarly ? min(instant, now + .milliseconds(5)) : instant
        }
    }

    /// No later byte can change the answer.
    var isKnown: Bool { reading != .goesOn && timings.lastByteOut != nil }

    @discardableResult
    func endAsKnown(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        if isKnown { response.end() }
        ownEnding = ownEnding ?? .timedOut(.answer)
        return now
    }

    /// Whether bytes, or the end, wait for the connection, and not for our own pace.
    private var isBodyWaiting: Bool {
        guard pace?.room(now: .now) != 0 else { return false }
        return request.body.isReady(at: offset)
    }

    /// Looks for a closed connection while there is nothing to send.
    ///
    /// libcurl stops reading at the service's FIN and would learn of it only from its next send.
    private func lookForHangUp(now: ContinuousClock.Instant) {
        guard progress.isConnected, progress.awaitedSince == nil, response.status == nil,
            now >= nextHangUpLook
        else { return }
        nextHangUpLook = now + .milliseconds(250)
        guard let socket, OpenSockets.peek(socket) == 0 else { return }
        ownEnding = ownEnding ?? .connectionLost("the service closed it before the body's end")
    }

    var mustEnd: Bool { ownEnding != nil }

    private var isRefusedEarly: Bool { response.isRefusal && timings.lastByteOut == nil }

    func cancel() { ownEnding = ownEnding ?? .cancelled }

    func closeConnection() {
        // It is closed in any case when it carries no HTTP/2.
        try? easy.forbidReuse()
    }

    // MARK: - libcurl's callbacks

    /// Several sockets are opened when a name has several addresses.
    func didOpen(_ socket: Int32) {
        let stall = request.deadlines.stall.wholeMilliseconds(upTo: 3_600_000)
        utter_prepare_socket(socket, Int32(max(1, stall / 4_000)))
        sockets.add(socket)
        hasOpenedSocket = true
    }

    /// Called before anything of the request is sent; false when the connection must not be used.
    func didConnect(localPort: Int32) -> Bool {
        touched.add(self)
        // libcurl makes a request again by itself when a connection that it has used before dies.
        guard !progress.isConnected else { return breakOff(.connectionLost("it was kept open")) }
        // A WebSocket is connected when the service speaks it.
        progress.isConnected = request.socket == nil
        hasReusedConnection = !hasOpenedSocket
        // Sound from the time of connecting has only now begun to wait for the connection.
        progress.waitingSince = nil
        socket = sockets.socket(ofLocalPort: localPort)
        if let socket {
            if hasReusedConnection, sockets.hasUnaskedBytes(socket) {
                return breakOff(.connectionLost("the service spoke on it without being asked"))
            }
            let stall = request.deadlines.stall.wholeMilliseconds(upTo: Int(Int32.max))
            utter_limit_unacknowledged(socket, UInt32(stall))
        }
        noteRoute()
        guard request.socket == nil else { return true }
        // libcurl asks for no byte of a body that has none.
        if request.body.contentLength == 0 { noteEnd() }
        observer.transferDidConnect()
        return true
    }

    func noteRoute() {
        route.local = TransferRoute.place(
            easy.text(CURLINFO_LOCAL_IP), easy.long(CURLINFO_LOCAL_PORT))
        route.remote =
            request.socketPath.map { ServiceURL.localScheme + $0 }
            ?? TransferRoute.place(
                easy.text(CURLINFO_PRIMARY_IP), easy.long(CURLINFO_PRIMARY_PORT))
        if let security = easy.security { (route.tls, route.cipher) = security }
    }

    /// Called for the request's head, and for that of a CONNECT.
    func didSend(head: String) {
        route.note(requestHead: head)
        guard !head.hasPrefix("CONNECT ") else { return }
        timings.headOut = elapsed
        observer.transferDidSendHead(head)
    }

    private func breakOff(_ ending: TransferResult.Ending) -> Bool {
        ownEnding = ownEnding ?? ending
        return false
    }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        touched.add(self)
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
                observer.transferDidSend(
                    byteCount: request.body.sourceByteCount(at: offset), wireByteCount: offset)
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

    /// False ends the transfer instead.
    func mayEnd() -> Bool { request.mayEndBody() || breakOff(.cancelled) }

    func noteEnd() {
        progress.awaitedSince = .now
        timings.lastByteOut = elapsed
    }

    /// False breaks the transfer off.
    func receive(headerLine: String) -> Bool {
        touched.add(self)
        switch response.take(headerLine: headerLine, sent: offset) {
        case .goesOn: return true
        case .interim(let status):
            observer.transferDidReceiveInterim(status: status, headers: response.headers)
            return true
        case .unusable(let reason):
            ownEnding = .badResponse(reason)
            return false
        case .complete(let status):
            if timings.firstByteIn == nil { timings.firstByteIn = elapsed }
            if response.isRefusal {
                // Nothing more is sent after a refusal; what is left is the answer's deadline.
                if progress.awaitedSince == nil { progress.awaitedSince = .now }
                refusedAt = .now
            }
            observer.transferDidReceiveHead(status: status, headers: response.headers)
            return !isAnsweredEarly
        }
    }

    /// False breaks the transfer off.
    func receive(_ bytes: Span<UInt8>) -> Bool {
        touched.add(self)
        if isKnown {
            // More than the mark of its end.
            response.end()
            return false
        }
        timings.lastByteIn = elapsed
        if request.isDownload { progress.awaitedSince = .now }
        timings.firstBodyByteIn = timings.firstBodyByteIn ?? timings.lastByteIn
        let isGrowing = progress.wholeSince == nil
        if let reason = response.take(bodyByteCount: bytes.count, whileSpeaking: isGrowing) {
            ownEnding = .badResponse(reason)
            return false
        }
        observer.transferDidReceive(bytes)
        noteReading()
        return !isAnsweredEarly
    }

    func noteReading() {
        reading = observer.reading
        progress.note(newsCount: observer.newsCount, now: .now)
        if reading == .ended { response.end() }
    }

    /// A good answer that is complete before the body.
    ///
    /// It cannot be about the whole recording. Where the connection stays open, libcurl would send
    /// the rest to a server that may not read it, and report success.
    private var isAnsweredEarly: Bool {
        guard response.isWhole, !response.isRefusal, timings.lastByteOut == nil else {
            return false
        }
        // All is on its way but the mark of its end.
        return !request.body.isWhole(at: offset)
    }

    // MARK: - The end

    /// Called once, after the handle left the loop; tells the observer.
    func end(code: CURLcode) {
        timings.end = elapsed
        timings.resolved = duration(CURLINFO_NAMELOOKUP_TIME_T)
        timings.connected = duration(CURLINFO_CONNECT_TIME_T)
        timings.secured = duration(CURLINFO_APPCONNECT_TIME_T)
        timings.httpVersion = channel == nil ? easy.httpVersion : "1.1"
        if let socket, timings.httpVersion == "2" { sockets.noteMultiplexed(socket) }
        observer.transferDidEnd(
            TransferResult(
                ending: response.ending(
                    own: ownEnding,
                    failure: easy.failure(code, of: request, isSent: timings.lastByteOut != nil)),
                status: response.status, headers: response.headers,
                sentByteCount: request.body.sourceByteCount(at: offset), wireByteCount: offset,
                bodyStart: request.body.start,
                framedByteCount: max(offset, easy.offset(CURLINFO_SIZE_UPLOAD_T)),
                receivedByteCount: max(receivedByteCount, easy.offset(CURLINFO_SIZE_DOWNLOAD_T)),
                messages: channel?.counts, isBodyComplete: timings.lastByteOut != nil,
                timings: timings,
                retryAfter: .seconds(max(0, response.retryAfter)),
                hasReusedConnection: hasReusedConnection,
                mayHaveLostAnswer: code == CURLE_HTTP2_STREAM, route: route))
    }

    /// A deadline that passed during the TLS handshake says so.
    private func ending(missed: TransferDeadlines.Missed) -> TransferResult.Ending {
        let isUnsecured =
            missed == .connect && request.url.lowercased().hasPrefix("https:")
            && duration(CURLINFO_CONNECT_TIME_T) != nil
            && duration(CURLINFO_APPCONNECT_TIME_T) == nil
        return isUnsecured
            ? .cannotConnect("it takes the connection, and does not answer in TLS")
            : .timedOut(missed)
    }

    var elapsed: Duration { .now - progress.start }

    private func duration(_ info: CURLINFO) -> Duration? {
        let microseconds = easy.offset(info)
        return microseconds > 0 ? .microseconds(microseconds) : nil
    }
}
