// SPDX-License-Identifier: Apache-2.0

internal import Cassettes
internal import FoundationEssentials
internal import SpeechService
internal import Synchronization
internal import Upload

/// Writes one transfer down, in front of its observer; files are written by the sync thread.
final class CassetteRecorder: TransferObserver {
    /// Pieces and instants; more are thinned out.
    private static let pieceLimit = 4_096

    private struct Tape {
        var head = ""
        var sentByteCount = 0
        var sent: [[Double]] = []
        var answerBegan: (ms: Double, after: Int)?
        var pieces: [CassettePiece] = []
    }

    private let request: TransferRequest
    private let service: RecognitionService
    private let folder: CassetteFolder
    private let name: String
    private let observer: any TransferObserver
    private let writes: DiskWork
    private let began = ContinuousClock.now
    private let recorded = Date()
    private let tape = Mutex(Tape())

    init(
        of request: TransferRequest, named name: String, to service: RecognitionService,
        into folder: CassetteFolder, tells observer: any TransferObserver,
        writes: @escaping DiskWork
    ) {
        (self.request, self.name, self.service) = (request, name, service)
        (self.folder, self.observer, self.writes) = (folder, observer, writes)
    }

    func transferDidConnect() { observer.transferDidConnect() }

    func transferDidSendHead(_ head: String) {
        tape.withLock { $0.head = head }
        observer.transferDidSendHead(head)
    }

    func transferDidSend(byteCount: Int, wireByteCount: Int) {
        tape.withLock { tape in
            tape.sentByteCount = wireByteCount
            tape.sent.append([now, Double(wireByteCount)])
            if tape.sent.count > Self.pieceLimit {
                // Every second one; the last, which says the length, stays.
                tape.sent = tape.sent.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            }
        }
        observer.transferDidSend(byteCount: byteCount, wireByteCount: wireByteCount)
    }

    func transferDidReceiveInterim(status: Int, headers: [(name: String, value: String)]) {
        observer.transferDidReceiveInterim(status: status, headers: headers)
    }

    func transferDidReceiveHead(status: Int, headers: [(name: String, value: String)]) {
        tape.withLock { ($0.answerBegan, $0.pieces) = ((now, $0.sentByteCount), []) }
        observer.transferDidReceiveHead(status: status, headers: headers)
    }

    func transferDidReceive(_ bytes: Span<UInt8>) {
        let array = (0..<bytes.count).map { bytes[$0] }
        tape.withLock { tape in
            if tape.pieces.count >= Self.pieceLimit {
                tape.pieces[tape.pieces.count - 1].bytes += array
            } else {
                tape.pieces.append(CassettePiece(array, ms: now, after: tape.sentByteCount))
            }
        }
        observer.transferDidReceive(bytes)
    }

    var reading: AnswerReading { observer.reading }

    var newsCount: Int { observer.newsCount }

    func transferDidEnd(_ result: TransferResult) {
        let cassette = cassette(result, tape.withLock { $0 })
        let (folder, name, body, redaction) = (folder, name, request.body, service.redaction)
        writes { folder.write(cassette, body, named: name, redaction) }
        observer.transferDidEnd(result)
    }

    private var recordedURL: String {
        guard let socket = request.socket else { return request.url }
        return (socket.speaksWyoming ? "tcp" : "ws") + request.url.dropFirst("http".count)
    }

    private var now: Double { ((.now - began) / .microseconds(100)).rounded() / 10 }

    private func cassette(_ result: TransferResult, _ tape: Tape) -> Cassette {
        let scrubber = CassetteScrubber(
            service, head: tape.head, result.headers, url: request.url)
        let messages = request.socket
        var sentRequest = Cassette.Request(
            method: messages == nil ? request.method : "GET",
            url: scrubber.clean(url: recordedURL),
            open: messages.map { scrubber.clean($0.opening) },
            finish: messages.map { scrubber.clean($0.ending) })
        sentRequest.headers = scrubber.clean(requestHead: tape.head)
        sentRequest.body = Cassette.Body(bytes: result.wireByteCount)
        sentRequest.body?.sent = tape.sent
        var cassette = Cassette(sentRequest)
        cassette.recorded = recorded.formatted(.iso8601)
        if let status = result.status, (200...599).contains(status) || status == 101 {
            var response = Cassette.Response(status: status)
            response.headers = scrubber.clean(responseHeaders: result.headers)
            func after(_ count: Int?) -> Int? {
                result.isBodyComplete && count == result.wireByteCount ? nil : count
            }
            response.ms = tape.answerBegan?.ms
            response.after = after(tape.answerBegan?.after)
            response.body = scrubber.clean(tape.pieces).map { piece in
                var piece = piece
                piece.after = after(piece.after)
                // Messages are told apart by a line's end.
                if response.isSocket, piece.bytes.last == 0x0A { piece.bytes.removeLast() }
                return piece
            }
            cassette.response = response
        }
        if result.ending != .answered { cassette.ending = result.ending.word }
        return cassette
    }
}
