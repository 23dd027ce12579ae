// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import LinuxPlatform
internal import SpeechService
internal import Synchronization
internal import TakeStore
package import Upload

/// A request to a store of objects, which belongs to no take.
package struct ObjectRequest: Sendable {
    var method: String
    /// The object's name; nil asks the bucket.
    var key: String?
    /// Behind the question mark, percent-encoded; empty is none.
    var query = ""
    package var headers: [(name: String, value: String)] = []
    package var body = RequestBody([])
    /// The body's SHA-256 in hexadecimal digits; nil when it is not known.
    package var digest: String?
    /// The most bytes of an answer that is kept in memory.
    package var limit = 16 << 20

    package init(_ method: String, key: String? = nil, query: String = "") {
        (self.method, self.key, self.query) = (method, key, query)
    }
}

package struct ObjectAnswer: Sendable {
    package let status: Int
    /// Names in lower case.
    var headers: [(name: String, value: String)]
    package let body: [UInt8]
    /// The pause that `Retry-After` asks for, an hour at most; zero without one.
    package let retryAfter: Duration

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    package var isWebPage: Bool { AnswerHead(headers: headers).isWebPage && !body.isEmpty }

    /// The word by which the store names a failure, such as `SlowDown`.
    package var code: String? {
        XMLElement.texts(of: "Code", in: Array(body.prefix(8_192))).first
    }
}

package enum ObjectFailure: Error, Sendable, Equatable {
    /// It may answer another time.
    case unreachable(String)
    /// The answer could not be taken: the disk is full, or it is too long.
    case notTaken(String)
    /// It will not do so unless something changes.
    case unusable(String)

    package var reason: String {
        switch self {
        case .unreachable(let reason), .notTaken(let reason), .unusable(let reason): reason
        }
    }
}

/// Makes single requests to a store, signed as the delivery of an object there is.
///
/// It has a transfer loop of its own, which writes what comes into a file: no take waits for that.
/// From any thread; each call blocks until its answer is complete.
package final class ObjectLink: Sendable {
    private struct State {
        /// With its secrets, once they are known.
        var opened: RecognitionService?
        /// Seconds by which the store's clock goes before ours.
        var clockOffset = 0.0
    }

    /// More than any object has, and far from what arithmetic can hold.
    private static let longestAnswer = 1 << 50
    private let delivery: DeliveryPlan
    private let root: ServiceURL
    private let secrets: SecretKeeper
    private let transport: any Transport
    private let state = Mutex(State())

    /// Names a store by how one object is delivered there; nil when its URL does not end in the key.
    ///
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    package init?(
        _ delivery: DeliveryPlan, secrets: SecretProvider?
    ) throws(SystemError) {
        guard let (root, _) = delivery.service.storeRoot else { return nil }
        (self.delivery, self.root) = (delivery, root)
        self.secrets = SecretKeeper(secrets)
        transport = try TransferLoop(name: "store")
    }

    /// Such as `https://voices.s3.eu-west-1.amazonaws.com`.
    package var place: String { delivery.service.url.origin.description }

    package func shutDown() {
        secrets.shutDown()
        transport.shutDown()
    }

    /// Makes a request, and once more with other secrets or by the store's clock, if it wants that.
    ///
    /// `sink` takes a good answer's bytes in place of memory, on the thread of the transfers; an answer
    /// of false breaks it off.
    package func perform(
        _ request: ObjectRequest, into sink: (@Sendable (Span<UInt8>) -> Bool)? = nil
    ) throws(ObjectFailure) -> ObjectAnswer {
        let service = try opened()
        let answer = try perform(request, by: service, into: sink)
        guard answer.status == 401 || answer.status == 403 || answer.status == 400 else {
            return answer
        }
        switch answer.code {
        case "RequestTimeTooSkewed", "RequestExpired":
            guard let date = answer.header("date").flatMap(HTTPDate.seconds) else { return answer }
            let offset = date - Date().timeIntervalSince1970
            let isNew = state.withLock { state in
                defer { state.clockOffset = offset }
                return abs(state.clockOffset - offset) > 60
            }
            return isNew ? try perform(request, by: service, into: sink) : answer
        case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired",
            "InvalidAccessKeyId", "SignatureDoesNotMatch":
            state.withLock { $0.opened = nil }
            // Where there are no others, the store's own words say more.
            guard let fresh = try? opened(afterRefusalOf: service.credentials) else {
                return answer
            }
            return fresh == service ? answer : try perform(request, by: fresh, into: sink)
        default: return answer
        }
    }

    private func opened(
        afterRefusalOf refused: [Credential]? = nil
    ) throws(ObjectFailure) -> RecognitionService {
        if let opened = state.withLock({ $0.opened }) { return opened }
        let found = blocking { [secrets, delivery] in
            await secrets.credentials(of: delivery.service, afterRefusalOf: refused)
        }
        switch found {
        case .success(let credentials):
            let service = delivery.service.opened(with: credentials)
            state.withLock { $0.opened = service }
            return service
        case .failure(let failure): throw .unusable(failure.reason)
        }
    }

    private func perform(
        _ request: ObjectRequest, by service: RecognitionService,
        into sink: (@Sendable (Span<UInt8>) -> Bool)?
    ) throws(ObjectFailure) -> ObjectAnswer {
        let (taken, end): (ObjectSink, TransferResult)
        do throws(SystemError) {
            (taken, end) = try AwaitedTransfer.perform(
                transfer(request, by: service), into: ObjectSink(request.limit, sink),
                by: transport)
        } catch {
            throw .unusable(error.description)
        }
        if taken.isOver { throw .notTaken("what the store sends cannot be taken") }
        guard end.ending == .answered, let status = end.status else {
            let host = service.url.origin.description
            let failure = TakeFailure.notDelivered(end.ending, host: host).description
            switch end.ending {
            case .insecure, .notTLS, .unprepared, .badResponse: throw .unusable(failure)
            default: throw .unreachable(failure)
            }
        }
        return ObjectAnswer(
            status: status, headers: end.headers, body: taken.body, retryAfter: end.pauseAsked)
    }

    private func transfer(
        _ request: ObjectRequest, by service: RecognitionService
    ) -> TransferRequest {
        var named = service
        if let key = request.key {
            named.moveObject(to: key, below: root)
        } else {
            named.url = root
        }
        var url = named.url
        if !request.query.isEmpty { url = url.appending("?\(request.query)") }
        let offset = state.withLock { $0.clockOffset }
        let headers = service.signed(
            request.headers
                + service.requestHeaders(contentType: "").compactMap {
                    ["content-type", "accept"].contains($0.name.lowercased())
                        ? nil : (name: $0.name, value: $0.value)
                },
            method: request.method, url: url, digest: request.digest, at: Date() + offset)
        var transfer = TransferRequest(
            url: service.opening(url).text,
            headers: headers + [UtterVersion.userAgent],
            body: request.body, deadlines: delivery.deadlines)
        transfer.method = request.method
        transfer.omitsType = !request.headers.contains { $0.name == "Content-Type" }
        transfer.connection = service.connection.reaching(url)
        transfer.leavesConnection = true
        transfer.longestIdleTime = PostOnce.longestIdleTime
        (transfer.isDownload, transfer.keepsCoding) = (true, true)
        transfer.responseLimit = Self.longestAnswer
        return transfer
    }
}

/// Holds an answer, or hands it on.
struct ObjectSink: AnswerSink {
    private let limit: Int
    private let sink: (@Sendable (Span<UInt8>) -> Bool)?
    private(set) var body: [UInt8] = []
    private var isGood = false
    /// It is refused.
    private(set) var isOver = false

    init(_ limit: Int, _ sink: (@Sendable (Span<UInt8>) -> Bool)? = nil) {
        (self.limit, self.sink) = (limit, sink)
    }

    mutating func takeHead(status: Int, headers: [(name: String, value: String)]) {
        isGood = (200..<300).contains(status)
    }

    mutating func take(_ bytes: Span<UInt8>) {
        if let sink, isGood {
            if !sink(bytes) { isOver = true }
        } else if body.count + bytes.count > limit {
            isOver = true
        } else {
            body.append(bytes)
        }
    }
}

/// A file that is sent, from its first byte to the length that it had.
package struct FileBody: BodySource {
    private let file: any JournalFile
    package let byteCount: Int
    package let isComplete = true

    package init(_ file: any JournalFile, byteCount: Int) {
        (self.file, self.byteCount) = (file, byteCount)
    }

    package func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        unsafe try file.read(at: offset, into: buffer)
    }
}
