// SPDX-License-Identifier: Apache-2.0

internal import Cassettes
internal import FoundationEssentials
package import LinuxPlatform
internal import SpeechService
internal import Synchronization
internal import TakeStore
internal import Upload

/// Writes one transfer down, in front of its observer.
///
/// Used by the transfer thread; files are written by the sync thread.
final class CassetteRecorder: TransferObserver, @unchecked Sendable {
    /// Pieces and instants; more are thinned out.
    private static let pieceLimit = 4_096

    private let request: TransferRequest
    private let service: RecognitionService
    private let folder: CassetteFolder
    private let name: String
    private let observer: any TransferObserver
    private let writes: (@escaping @Sendable () -> Void) -> Void
    private let began = ContinuousClock.now
    private let recorded = Date()
    private var head = ""
    private var sentByteCount = 0
    private var sent: [[Double]] = []
    private var answerBegan: (ms: Double, after: Int)?
    private var pieces: [CassettePiece] = []

    /// `writes` carries out what waits for the disk.
    init(
        of request: TransferRequest, _ number: Int, of take: TakeID,
        to service: RecognitionService, into folder: CassetteFolder,
        tells observer: any TransferObserver,
        writes: @escaping (@escaping @Sendable () -> Void) -> Void
    ) {
        self.request = request
        self.service = service
        self.folder = folder
        self.observer = observer
        self.writes = writes
        let digits = String(number)
        name = "\(take.text)-" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }

    func transferDidConnect() { observer.transferDidConnect() }

    func transferDidSendHead(_ head: String) {
        self.head = head
        observer.transferDidSendHead(head)
    }

    func transferDidSend(byteCount: Int, wireByteCount: Int) {
        sentByteCount = wireByteCount
        sent.append([now, Double(wireByteCount)])
        if sent.count > Self.pieceLimit {
            // Every second one; the last, which says the length, stays.
            sent = sent.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        }
        observer.transferDidSend(byteCount: byteCount, wireByteCount: wireByteCount)
    }

    func transferDidReceiveHead(status: Int, headers: [(name: String, value: String)]) {
        answerBegan = (now, sentByteCount)
        pieces = []
        observer.transferDidReceiveHead(status: status, headers: headers)
    }

    func transferDidReceive(_ bytes: Span<UInt8>) {
        let array = (0..<bytes.count).map { bytes[$0] }
        if pieces.count >= Self.pieceLimit {
            pieces[pieces.count - 1].bytes += array
        } else {
            pieces.append(CassettePiece(array, ms: now, after: sentByteCount))
        }
        observer.transferDidReceive(bytes)
    }

    var reading: AnswerReading { observer.reading }

    var newsCount: Int { observer.newsCount }

    func transferDidEnd(_ result: TransferResult) {
        let cassette = cassette(result)
        let (folder, name, body, redaction) = (folder, name, request.body, service.redaction)
        writes { folder.write(cassette, body, named: name, redaction) }
        observer.transferDidEnd(result)
    }

    private var now: Double { ((.now - began) / .microseconds(100)).rounded() / 10 }

    private func cassette(_ result: TransferResult) -> Cassette {
        let scrubber = CassetteScrubber(service, head: head, result.headers, url: request.url)
        var sentRequest = Cassette.Request(
            method: request.method, url: scrubber.clean(url: request.url))
        sentRequest.headers = scrubber.clean(requestHead: head)
        sentRequest.body = Cassette.Body(bytes: result.wireByteCount)
        sentRequest.body?.sent = sent
        var cassette = Cassette(sentRequest)
        cassette.recorded = recorded.formatted(.iso8601)
        if let status = result.status, (200...599).contains(status) {
            var response = Cassette.Response(status: status)
            response.headers = scrubber.clean(responseHeaders: result.headers)
            func after(_ count: Int?) -> Int? {
                result.isBodyComplete && count == result.wireByteCount ? nil : count
            }
            response.ms = answerBegan?.ms
            response.after = after(answerBegan?.after)
            response.body = scrubber.clean(pieces).map { piece in
                var piece = piece
                piece.after = after(piece.after)
                return piece
            }
            cassette.response = response
        }
        if result.ending != .answered { cassette.ending = result.ending.word }
        return cassette
    }
}

/// A folder into which requests and their answers are written, as `docs/cassettes.md` describes.
package final class CassetteFolder: Sendable {
    private let folder: Folder
    private let firstFailure = Mutex<SystemError?>(nil)
    /// The bodies hold the recording.
    private let keepsBodies: Bool

    /// Makes the folder for its owner alone when it is missing; blocks on the disk.
    package init(path: String, keepsBodies: Bool = false) throws(SystemError) {
        folder = try Folder.make(at: path)
        self.keepsBodies = keepsBodies
    }

    /// Why a cassette is missing, if one is: known once the takes are over and `Pipeline.shutDown`
    /// has returned.
    package var failure: SystemError? { firstFailure.withLock { $0 } }

    /// With the digest of a body that was sent whole, and its bytes if they are wanted; blocks on the
    /// disk.
    fileprivate func write(
        _ recorded: Cassette, _ body: RequestBody, named name: String, _ redaction: Redaction
    ) {
        var cassette = recorded
        let byteCount = cassette.request.body?.bytes ?? 0
        do throws(SystemError) {
            if body.isWhole(at: byteCount) { cassette.request.body?.sha256 = try body.sha256() }
            if keepsBodies {
                let file = try folder.createFile("\(name).body")
                try body.copy(upTo: byteCount, to: file.number) { redaction.redacted($0) }
                cassette.request.body?.file = "\(name).body"
            }
            try folder.replaceFile("\(name).json", with: cassette.json)
        } catch {
            // What was recorded is only for looking at; the take does not depend on it.
            firstFailure.withLock { $0 = $0 ?? error }
        }
    }
}
