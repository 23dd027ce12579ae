// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Glibc
internal import LinuxPlatform
internal import SpeechService

/// Bytes that are being sent, at an address that stays: TLS goes on with what it has begun with.
@safe final class SendingBytes {
    private var bytes = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var start = 0

    deinit { unsafe bytes.deallocate() }

    var isEmpty: Bool { unsafe start == bytes.count }

    /// Once those before were sent.
    func fill(_ new: [UInt8]) {
        unsafe bytes.deallocate()
        unsafe bytes = .allocate(byteCount: new.count, alignment: 1)
        unsafe bytes.copyBytes(from: new)
        start = 0
    }

    /// The bytes that are left; not to be kept.
    var rest: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: bytes[start...]) }

    func drop(_ count: Int) { start += count }
}

/// A request whose body travels in messages over a WebSocket: libcurl makes the connection, and leaves it
/// to us.
extension Transfer {
    private static let bufferByteCount = 16 << 10
    /// Reads of one turn, and messages of audio, after which other transfers have theirs.
    private static let mostReads = 16

    /// Takes a connection over that libcurl has made; false for a request of HTTP, and for a socket of
    /// another person, which gets nothing.
    func openChannel() -> Bool {
        guard channel != nil, let socket = easy.activeSocket else { return false }
        if request.socketPath != nil, let stranger = Self.stranger(behind: socket) {
            ownEnding = .insecure(stranger)
            return false
        }
        channelSocket = socket
        noteRoute()
        observer.transferDidSendHead(channel?.handshake?.head ?? "")
        timings.headOut = elapsed
        if channel?.handshake == nil {
            response.grant()
            beginSession()
        }
        return true
    }

    /// Why the program that listens at a Unix socket gets nothing; nil when it may hear all.
    private static func stranger(behind socket: Int32) -> String? {
        // Where the kernel does not answer, another user may have started the program.
        guard let user = try? LocalSocket.peer(of: socket).user else {
            return "the kernel does not say which user's program listens at the socket"
        }
        return user == geteuid() || user == 0
            ? nil
            : "a program of user \(user) listens at the socket, and not one of yours or root's"
    }

    /// The events of the socket to wait for.
    var channelEvents: ReadySet.Events { sending.isEmpty ? .input : .input | .output }

    /// Hears what has come, and sends what is there, as far as the connection takes it.
    func exchange() {
        if isReadable { hear() }
        guard !mustEnd else { return flush() }
        flush()
        hasMore = false
        for _ in 0..<Self.mostReads {
            guard sending.isEmpty, pour() else { return }
            flush()
        }
        hasMore = true
    }

    /// Keeps a silent connection awake; returns when to exchange bytes again though the socket may not
    /// tell, nil for never.
    func nextExchange(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard channelSocket != nil else { return nil }
        if isReadable || hasMore { return now }
        channel?.keepAlive(now: now)
        flush()
        return channel?.nextKeepAlive
    }

    // MARK: - Sending

    private func flush() {
        while true {
            if sending.isEmpty {
                guard let output = channel?.takeOutput(), !output.isEmpty else { break }
                sending.fill(output)
            }
            switch unsafe easy.send(sending.rest) {
            case .bytes(let count): sending.drop(count)
            case .nothingNow: return
            case .failed:
                // The service may have said why before it closed.
                hear()
                ownEnding = ownEnding ?? .connectionLost("the connection broke within the session")
                return
            }
        }
        guard timings.firstByteOut != nil else { return }
        observer.transferDidSend(
            byteCount: request.body.sourceByteCount(at: offset), wireByteCount: offset)
    }

    /// Makes a message of the audio that is there; false when there is nothing to send.
    private func pour() -> Bool {
        guard channel?.mayTakeAudio == true else { return false }
        // Samples have two bytes.
        let room = min(SocketChannel.pieceByteCount, pace?.room(now: .now) ?? .max) & ~1
        guard room > 0 else { return false }
        var piece = [UInt8](repeating: 0, count: room)
        let read = unsafe piece.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in
                unsafe try request.body.read(at: offset, into: buffer)
            }
        }
        switch read {
        case .success(.bytes(let count)):
            channel?.send(audio: piece[..<count])
            offset += count
            pace?.spend(count)
            progress.waitingSince = nil
            timings.firstByteOut = timings.firstByteOut ?? elapsed
        case .success(.nothingYet): return false
        case .success(.end):
            guard mayEnd() else { return false }
            channel?.endAudio()
            noteEnd()
        case .failure(let error):
            ownEnding = .journalUnreadable(error.description)
            return false
        }
        return true
    }

    // MARK: - Receiving

    private func hear() {
        isReadable = false
        var buffer = [UInt8](repeating: 0, count: Self.bufferByteCount)
        // Until nothing is left: over TLS there may be bytes of which the socket does not tell.
        for _ in 0..<Self.mostReads {
            switch easy.receive(into: &buffer) {
            case .nothingNow: return
            case .bytes(let count) where count > 0:
                channel?.take(buffer.span.extracting(first: count))
                while !mustEnd, let step = channel?.next(now: .now) { take(step) }
            case .bytes, .failed:
                if response.isRefusal || isKnown { endAsKnown(.now) }
                ownEnding = ownEnding ?? channel?.endingWithoutClose
            }
            if mustEnd { return }
        }
        isReadable = true
    }

    private func take(_ step: SocketChannel.Step) {
        switch step {
        case .head(let line): take(headerLine: line)
        case .message(let bytes): take(bytes, isMessage: true)
        case .refusal(let bytes): take(bytes, isMessage: false)
        case .closed(let ending):
            if ending == nil || isKnown {
                response.end()
                endAsKnown(.now)
            }
            ownEnding = ownEnding ?? ending
        }
    }

    private func take(headerLine line: String) {
        timings.firstByteIn = timings.firstByteIn ?? elapsed
        switch response.take(headerLine: line) {
        case .goesOn, .interim: break
        case .unusable(let reason): ownEnding = .badResponse(reason)
        case .complete(let status):
            if status == 101 {
                if let flaw = channel?.handshake?.flaw(in: response.headers) {
                    ownEnding = .badResponse(flaw)
                    return
                }
                return beginSession()
            } else if status < 300 {
                ownEnding = .badResponse("it speaks no WebSocket there: its status is \(status)")
                return
            } else {
                progress.awaitedSince = .now
                refusedAt = .now
                channel?.refuse(response.headers)
            }
            observer.transferDidReceiveHead(status: status, headers: response.headers)
        }
    }

    /// The service takes messages from now on.
    private func beginSession() {
        progress.isConnected = true
        // Sound from the time of the handshake has only now begun to wait.
        progress.waitingSince = nil
        channel?.open()
        observer.transferDidConnect()
        observer.transferDidReceiveHead(status: 101, headers: response.headers)
    }

    private func take(_ bytes: [UInt8], isMessage: Bool) {
        timings.lastByteIn = elapsed
        timings.firstBodyByteIn = timings.firstBodyByteIn ?? timings.lastByteIn
        receivedByteCount += bytes.count
        let isGrowing = progress.wholeSince == nil
        if let reason = response.take(bodyByteCount: bytes.count, whileSpeaking: isGrowing) {
            ownEnding = .badResponse(reason)
            return
        }
        // The reader of answers tells messages apart as it does values that follow each other.
        observer.transferDidReceive((isMessage ? bytes + [0x0A] : bytes).span)
        noteReading()
        guard isMessage else {
            if response.isWhole { endAsKnown(.now) }
            return
        }
        guard reading != .goesOn else { return }
        // No later message can change the answer.
        response.end()
        channel?.close()
        endAsKnown(.now)
    }
}
