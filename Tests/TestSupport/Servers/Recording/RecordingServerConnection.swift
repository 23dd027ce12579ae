// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// One connection of a `RecordingServer`; made and used on its own thread.
final class RecordingServerConnection {
    private enum BodyPlace {
        case none
        case chunked(ChunkedBodyReader)
        case length(left: Int)
        case done

        var isUnknown: Bool {
            if case .none = self { return true }
            return false
        }

        var isDone: Bool {
            if case .done = self { return true }
            return false
        }
    }

    /// Why a list of steps does not go on.
    private struct Ended: Error {}

    private let core: RecordingServerCore
    private let number: Int
    private let acceptedAt: MonotonicTime
    private var socket: SocketStream
    private var pending: [UInt8] = []
    private var body = BodyPlace.none
    private var index = 0

    init(core: RecordingServerCore, socket: Int32, number: Int, acceptedAt: MonotonicTime) {
        self.core = core
        self.number = number
        self.acceptedAt = acceptedAt
        self.socket = SocketStream(taking: socket, stop: core.stop.descriptor, limit: core.limit)
    }

    /// Serves requests until the connection ends or the server stops.
    func run() {
        var isFirst = true
        while socket.isOpen {
            if pending.isEmpty, !isFirst || !core.nextScriptActsAtOnce {
                guard case .bytes(let bytes, _) = socket.receive() else { return }
                pending += bytes
            }
            let (index, steps) = core.beginRequest(connection: number, acceptedAt: acceptedAt)
            (self.index, body, isFirst) = (index, .none, false)
            runSteps(steps)
        }
    }

    private func runSteps(_ steps: [ServerStep]) {
        do {
            for step in steps where socket.isOpen { try perform(step) }
            if socket.isOpen { try readHead() }
            if socket.isOpen { try readBody(upTo: .max) }
        } catch {
            socket.close()
        }
        record { $0.isFinished = true }
    }

    private func perform(_ step: ServerStep) throws(Ended) {
        switch step {
        case .readHead: try readHead()
        case .readBody(let bytes): try readBody(upTo: bytes)
        case .readBodyToEnd: try readBody(upTo: .max)
        case .readOn: try readOn()
        case .respond(let status, let headers, let body):
            try send(ResponseText.whole(status: status, headers: headers, body: body))
        case .respondBy(let make):
            let answer = make(request)
            try send(
                ResponseText.whole(
                    status: answer.status, headers: answer.headers,
                    body: Array(answer.text.utf8)))
        case .beginResponse(let status, let headers):
            try send(ResponseText.chunkedHead(status: status, headers: headers))
        case .sendBodyChunk(let bytes): try send(ResponseText.chunk(bytes))
        case .endResponse: try send(ResponseText.lastChunk)
        case .sendRaw(let bytes): try send(bytes)
        case .sendRawBy(let make): try send(make(request))
        case .sendAgainAndAgain(let bytes, let times):
            for _ in 0..<times { try send(bytes) }
        case .stall(let duration): try stall(until: Gate(), within: duration)
        case .stallUntil(let gate): try stall(until: gate, within: nil)
        case .open(let gate): gate.open()
        case .perform(let body): body(request)
        case .halfClose: socket.closeSending()
        case .close: socket.close()
        case .reset: socket.reset()
        }
    }

    /// What has come of the request so far.
    private var request: RecordedRequest { core.state.look { [index] in $0.requests[index] } }

    // MARK: - Reading

    private func readHead() throws(Ended) {
        while body.isUnknown {
            if let head = takeHead() {
                begin(head)
            } else {
                try receiveMore()
            }
        }
    }

    private func takeHead() -> [UInt8]? {
        let end: [UInt8] = [13, 10, 13, 10]
        guard let range = pending.firstRange(of: end) else { return nil }
        let head = Array(pending[..<range.lowerBound])
        pending.removeFirst(range.upperBound)
        return head
    }

    private func begin(_ head: [UInt8]) {
        let lines = String(decoding: head, as: UTF8.self).split(
            separator: "\r\n", omittingEmptySubsequences: false)
        let fields = lines.dropFirst().map { HeaderField(line: String($0)) }
        let headers = fields.compactMap { $0 }
        record { request in
            request.requestLine = String(lines.first ?? "")
            request.headers = headers
            request.headEndedAt = .now
            if headers.count < fields.count {
                request.framingErrors.append("a line of the head has no colon")
            }
        }
        beginBody(headers)
    }

    private func beginBody(_ headers: [HeaderField]) {
        let codings = headers.filter { $0.isNamed("Transfer-Encoding") }
        let lengths = headers.filter { $0.isNamed("Content-Length") }
        if !codings.isEmpty, !lengths.isEmpty {
            record { $0.framingErrors.append("both Transfer-Encoding and Content-Length") }
        }
        if codings.contains(where: { $0.value.lowercased() == "chunked" }) {
            body = .chunked(ChunkedBodyReader())
        } else if let length = lengths.first {
            body = .length(left: Int(length.value) ?? 0)
            if Int(length.value) == nil || lengths.count > 1 {
                record { $0.framingErrors.append("a Content-Length that is not one number") }
            }
        } else {
            body = .length(left: 0)
        }
        takeBody(at: .now)
    }

    /// Gives what has come to the body, and notes its end.
    private func takeBody(at time: MonotonicTime) {
        switch body {
        case .none, .done: return
        case .chunked(var reader):
            let taken = record { reader.read(pending[...], at: time, into: &$0) }
            pending.removeFirst(taken)
            body = reader.isDone ? .done : .chunked(reader)
        case .length(let left):
            let taken = min(left, pending.count)
            if taken > 0 {
                record { request in
                    request.chunks.append(RecordedChunk(byteCount: taken))
                    request.body += pending[..<taken]
                }
                pending.removeFirst(taken)
            }
            body = left == taken ? .done : .length(left: left - taken)
        }
        if body.isDone { record { $0.isComplete = true } }
    }

    private func readBody(upTo byteCount: Int) throws(Ended) {
        while !body.isDone,
            core.state.look({ [index] in $0.requests[index].body.count < byteCount })
        {
            try receiveMore()
            takeBody(at: .now)
        }
    }

    /// Reads until the client closes; what follows the body is dropped.
    private func readOn() throws(Ended) {
        while true {
            switch socket.receive() {
            case .bytes(let bytes, let time):
                pending += bytes
                takeBody(at: time)
                if body.isDone { pending.removeAll() }
            case .end where body.isDone: return socket.close()
            case let other: try end(other)
            }
        }
    }

    private func receiveMore() throws(Ended) {
        switch socket.receive() {
        case .bytes(let bytes, _): pending += bytes
        case let other: try end(other)
        }
    }

    private func end(_ received: SocketStream.Received) throws(Ended) {
        if case .timedOut = received {
            core.report("request \(index): the client sent nothing more")
        }
        throw Ended()
    }

    // MARK: - Sending and waiting

    private func send(_ bytes: [UInt8]) throws(Ended) {
        record { $0.sentAt.append(.now) }
        guard socket.send(bytes) else { throw Ended() }
    }

    private func stall(until gate: Gate, within duration: Duration?) throws(Ended) {
        let opened = gate.waitBlocking(
            within: duration ?? core.limit, interruptedBy: core.stop.descriptor)
        if duration == nil, !opened {
            core.report("request \(index): the gate was not opened")
            throw Ended()
        }
    }

    @discardableResult
    private func record<Result: Sendable>(_ change: (inout RecordedRequest) -> Result) -> Result {
        core.state.update { [index] in change(&$0.requests[index]) }
    }
}
