// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import Cryptography
internal import FoundationEssentials
internal import LinuxPlatform
internal import SpeechService
internal import TakeStore
internal import Upload

extension DeliveryPlan {
    /// The request of an attempt to deliver a take; `frames` is 0 unless the body says their number.
    func request(
        _ request: ExchangeRequest, for journal: Journal, frames: Int, of id: TakeID,
        token: Credential? = nil, digest: String? = nil, stretch: StretchAudio? = nil
    ) -> TransferRequest {
        if case .token? = request.step?.use { return tokenRequest(request) }
        var (service, address) = (service, request.url)
        if let stretch = request.stretch {
            service = service.asked(after: stretch.before)
            if address == self.service.url { address = service.url }
        }
        if let token { service.add(token) }
        if request.step?.carriesSecrets == false { service.credentials = [] }
        var url = service.opening(token == nil ? address : service.naming(address))
        if let step = request.step { service.headers = step.headers + service.headers }
        service.headers = TakeMark.filled(service.headers, by: id.text)
        let frame = frame(of: id, at: service)
        let upload = request.upload
        let isSealed = service.bodyKey != nil
        let mediaType = isSealed ? SealedBody.mediaType : frame.contentType
        // The query is in the body.
        if isSealed, request.url == service.url {
            url = service.opening(service.addressOfSealed.url)
        }
        let ownType = request.piece?.saysType == true ? mediaType : nil
        let type =
            ownType ?? upload.map { $0.contentType ?? mediaType }
            ?? request.step?.content.map { $0.mediaType ?? "" } ?? mediaType
        var headers = service.requestHeaders(contentType: type).map {
            (name: $0.name, value: $0.value)
        }.filter { !$0.value.isEmpty }
        let suffix = idSuffix + (request.stretch?.mark ?? lengthMark(frames))
        let own =
            [
                UtterVersion.userAgent,
                (name: idHeader, value: key("\(id.text)\(frame.mark)\(suffix)", of: request.step)),
                (name: "Utter-Attempt", value: "\(request.number)"),
            ] + (isTraced ? [(name: "traceparent", value: id.trace(of: request.number))] : [])
            // Asks proxies to hand on what comes as it comes (RFC 10036).
            + (request.carriesRecording && !request.saysLength && !url.isSocket
                ? [(name: "Incremental", value: "?1")] : [])
        // A field that the service's description names replaces ours.
        headers += own.filter { own in !service.headers.contains { $0.isNamed(own.name) } }
        let saysFrames = request.piece != nil || upload?.isOfWhole == true
        var body = body(of: journal, frames, in: frame, id, isStored: saysFrames)
        if let upload {
            headers += upload.fields(
                of: body, mediaType: mediaType, name: "recording.\(format.fileExtension)",
                isComplete: request.isComplete, digest: digest)
            body = upload.range(of: body)
        }
        if let piece = request.piece { body = piece.range(of: body) }
        if let stretch {
            body = RequestBody(
                stretch, prologue: frame.prologue, transform: frame.isBase64 ? .base64 : .none,
                epilogue: frame.epilogue)
        }
        if format == .pcm, service.use?.format.rate == 24_000 { body = body.resampled() }
        body.saysLength = request.saysLength
        if let content = request.step?.content {
            body = RequestBody(TakeMark.filled(content.bytes, by: id.text))
        }
        let method = request.step?.method.rawValue ?? request.method.rawValue
        if request.step?.carriesSecrets != false {
            headers = service.signed(
                headers, method: method, url: url, digest: digest, at: Date() + request.clockOffset)
        }
        var transfer = transfer(to: url, headers, body, for: request)
        if url.isSocket { transfer.speakSocket(service.socket ?? SocketMessages()) }
        if request.carriesRecording {
            transfer.bytesPerSecond = catchUpRate?.bytesPerSecond(
                of: format, inBase64: frame.isBase64, rate: service.use?.format.rate)
        }
        transfer.method = method
        if request.avoidsHTTP2 { transfer.connection.http = .one }
        transfer.omitsType = type.isEmpty
        // While it waits for a consent, libcurl 7.88 takes no 104 for one.
        transfer.expectsContinue =
            request.carriesRecording && service.expectsContinue && upload == nil
            && request.piece == nil && !request.omitsExpectation
        return transfer
    }

    /// The value that distinguishes a request from all but its repetitions.
    ///
    /// `Idempotency-Key` is a structured string (RFC 9651 §3.3.3); under a service's own name it is
    /// plain. Later requests of a job have other keys: one key stands for one body.
    private func key(_ name: String, of step: StepRequest?) -> String {
        var name = name
        switch step?.use {
        case .job(let step, _)? where step.content != .recording:
            name += "-" + String(FNV.hash(step.name.utf8), radix: 16)
        case .piece(let piece)? where piece.number > 0: name += "-\(piece.number)"
        case .piece(let piece)?: name += "-" + piece.step.name
        default: break
        }
        return idHeader.lowercased() == "idempotency-key" ? "\"\(name)\"" : name
    }

    private func tokenRequest(_ request: ExchangeRequest) -> TransferRequest {
        let made = service.tokenRequest(uuid: UUID().uuidString.lowercased())?.request
        let headers =
            (made?.headers ?? []).map { (name: $0.name, value: $0.value) }
            + [UtterVersion.userAgent]
        var transfer = transfer(
            to: made?.url ?? request.url, headers, RequestBody(made?.body ?? []), for: request)
        transfer.method = request.step?.method.rawValue ?? transfer.method
        return transfer
    }

    private func transfer(
        to url: ServiceURL, _ headers: [(name: String, value: String)], _ body: RequestBody,
        for request: ExchangeRequest
    ) -> TransferRequest {
        var deadlines = deadlines
        // No take depends on the answer.
        if request.upload?.step == .discover {
            (deadlines.connect, deadlines.answer) = (.seconds(3), .seconds(3))
        }
        var transfer = TransferRequest(
            url: url.httpText, headers: headers, body: body, deadlines: deadlines)
        if let path = url.origin.socketPath {
            let socket = service.socket ?? SocketMessages()
            transfer.travel(by: path, asking: "http://\(socket.host)\(socket.target)")
        }
        transfer.connection = service.connection.reaching(url)
        // A recording that goes on has its own connection, whose end is then its own as well. One to
        // an address that was given is for no other take.
        let isBounded =
            request.isComplete || request.piece != nil || request.upload?.step == .discover
        transfer.leavesConnection = isBounded && service.connection.resolutions.isEmpty
        if transfer.leavesConnection, !request.wantsFreshConnection {
            transfer.longestIdleTime = PostOnce.longestIdleTime
        }
        return transfer
    }

    /// The same bytes each time for one take and length.
    func body(of journal: Journal, frames: Int, of id: TakeID) -> RequestBody {
        body(of: journal, frames, in: frame(of: id), id, isStored: sendsParts)
    }

    /// A live body does not know its length: one that says it is another.
    private func lengthMark(_ frames: Int) -> String {
        format.length != nil && frames > 0 ? "-whole" : ""
    }

    /// Whether each request makes a file at the service.
    var sendsParts: Bool { if case .parts = service.exchange { true } else { false } }

    private func body(
        of journal: Journal, _ frames: Int, in frame: BodyFrame, _ id: TakeID,
        isStored: Bool = false
    ) -> RequestBody {
        let body = RequestBody(
            SentAudio(journal, as: format, frames: frames, isStored: isStored),
            from: format.bodyOffset, prologue: frame.prologue,
            transform: frame.isBase64 ? .base64 : .none, epilogue: frame.epilogue)
        guard service.bodyKey != nil else { return body }
        let head = sealedHead(frame)
        // Parts of one body have one seed: its first bytes are sent once, and last.
        let name = id.text + frame.mark + idSuffix + (isStored ? "" : lengthMark(frames)) + bodyMark
        return body.sealed(
            head, by: seal(name + "\n" + String(decoding: head.bytes, as: UTF8.self)))
    }

    private func sealedHead(_ frame: BodyFrame) -> SealedHead {
        SealedHead(contentType: frame.contentType, query: service.addressOfSealed.query)
    }

    /// The sealed body; nil without a key: nothing is sent then.
    private func seal(_ seed: String) -> SealedBody? {
        (service.bodyKey?.plain).flatMap {
            // The reader of the secret has refused everything but a key.
            try? SealedBody(key: EncryptionKey(secret: Array($0.utf8)), seed: seed)
        }
    }

    func way(by exchange: any Exchange, digest: String? = nil) -> TakeDelivery {
        TakeDelivery(
            start: format.bodyOffset, exchange: exchange, digest: digest,
            sealedLength: sealedLength)
    }

    /// The encrypted length; nil unless the body is encrypted; a form's is that of its audio alone.
    var sealedLength: SealedLength? {
        guard service.bodyKey != nil else { return nil }
        let frame = service.frame(mediaType: format.mediaType, fileName: "", id: "take")
        return SealedLength(headByteCount: sealedHead(frame).bytes.count)
    }

    private func frame(
        of id: TakeID, at service: RecognitionService? = nil
    ) -> BodyFrame {
        var frame = (service ?? self.service).frame(
            mediaType: format.mediaType, fileName: "audio.\(format.sentExtension)", id: id.text)
        frame.prologue = TakeMark.filled(frame.prologue, by: id.text)
        frame.epilogue = TakeMark.filled(frame.epilogue, by: id.text)
        return frame
    }

    /// The field that lets a service know a body again (RFC 9530 §2); none when the service's
    /// description names its own.
    func digestHeaders(_ digest: String) -> [(name: String, value: String)] {
        let name = "Content-Digest"
        return service.headers.contains { $0.isNamed(name) } ? [] : [(name: name, value: digest)]
    }
}

/// How much longer encrypting makes the body of a recording, of which parts are ranges.
struct SealedLength: Sendable {
    let headByteCount: Int

    func body(of audio: Int, isWhole: Bool) -> Int {
        SealedBody.byteCount(of: headByteCount + audio, isWhole: isWhole)
    }

    /// Bytes of audio before a byte of the body; at its end, perhaps a few more than there are.
    func audio(before offset: Int) -> Int {
        max(0, SealedBody.plainByteCount(at: offset) - headByteCount)
    }
}

extension BodyFrame {
    /// Distinguishes bodies with the same recording, after the take's id; empty for a raw body.
    fileprivate var mark: String {
        let bytes = prologue + epilogue
        guard !bytes.isEmpty else { return "" }
        return "-" + String(FNV.hash(bytes), radix: 16)
    }
}

extension TakeID {
    /// The attempt as a trace names it (W3C Trace Context §3.2): the trace is the beginning of the
    /// SHA-256 of the take's id.
    func trace(of attempt: Int) -> String {
        let trace = SHA256.hexadecimal(of: text).prefix(32)
        return "00-\(trace)-\(SHA256.hexadecimal(of: "\(text)/\(attempt)").prefix(16))-01"
    }
}
