// SPDX-License-Identifier: Apache-2.0

package import LinuxPlatform
package import SpeechService

/// Carries requests to services and their answers back.
///
/// It knows no disk and decides no resend: each request is made once at most. `TransferLoop` is
/// the one that ships. Called from any thread.
package protocol Transport: AnyObject, Sendable {
    /// Opens the connection at once, whether there is a body or not.
    ///
    /// It begins after `pause`, or when it is hurried, but not before `atLeast`. The observer is
    /// kept until `transferDidEnd`; after `shutDown` it gets `.cancelled` at once, on the calling
    /// thread.
    func start(
        _ request: TransferRequest, after pause: Duration, atLeast: Duration,
        observer: any TransferObserver
    ) -> TransferID

    func hurry(_ id: TransferID)

    /// Closes the connection without ending the body; the observer gets `.cancelled`, unless the
    /// transfer has ended already.
    func cancel(_ id: TransferID)

    func shutDown()
}

package struct TransferRequest: Sendable {
    package internal(set) var url: String
    package var method = "POST"
    /// In order; names and values were checked.
    var headers: [(name: String, value: String)]
    package internal(set) var body: RequestBody
    /// The body travels in messages over a WebSocket; nil: in a request of HTTP.
    package private(set) var socket: SocketMessages?
    /// libcurl would say that a body without a type is a form's, even an empty one.
    package var omitsType = false
    /// For an interim `100 Continue`, a second at most.
    package var expectsContinue = false
    var deadlines: TransferDeadlines
    package var connection = ConnectionSettings()
    /// Set when the body has grown or is complete; nil for one that is complete.
    package var growth: Mark?
    /// Shared with the other requests of the take; nil shares nothing, cookies included.
    package var session: TransferSession?
    /// Asked for on the transfer thread when the transfer begins.
    package var lateHeaders: @Sendable () -> [(name: String, value: String)] = { [] }
    /// Bytes of the body that are sent in a second; nil: no limit.
    package var bytesPerSecond: Int?
    /// Asked on the transfer thread before the body ends: false breaks the transfer off, for a take
    /// that was cancelled meanwhile.
    package var mayEndBody: @Sendable () -> Bool = { true }
    /// How long a reused connection may have been idle, in whole seconds; nil for a new connection.
    package var longestIdleTime: Duration?
    /// Keeps the connection open for later transfers, once the answer is complete.
    package var leavesConnection = false
    /// Decoded, without heads.
    package var responseLimit = 8 << 20
    /// The answer is a file: its deadline begins anew with each byte.
    package var isDownload = false
    /// The answer's bytes come as they travel, whatever coding its head names.
    package var keepsCoding = false
    /// The answer may end where the connection is closed in order, also over TLS.
    package var endsWithConnection = false
    /// Asked on the transfer thread whether a connection is not to be made: to the 4 or 16 bytes of an
    /// address, or nil for that of a proxy, which looks the name up itself.
    package var avoids: (@Sendable (_ address: [UInt8]?) -> Bool)?
    /// The place of a Unix socket that leads to the service, which this person or root runs; nil: the URL
    /// leads there.
    package private(set) var socketPath: String?

    /// The proxy on the way, by the environment as it is now; nil for none.
    package var proxy: String? {
        socketPath == nil
            ? ProxyRoute.proxy(to: url, by: connection) { Environment[filled: $0] } : nil
    }

    /// Has the request reach the service by a Unix socket; the URL says its Host and its target alone.
    package mutating func travel(by socketPath: String, asking url: String) {
        (self.socketPath, self.url) = (socketPath, url)
    }

    /// Has the body travel in messages over a WebSocket, which is asked for by HTTP/1.1.
    package mutating func speakSocket(_ messages: SocketMessages) {
        socket = messages
        connection.http = .one
        // There is no body in HTTP's sense, and no answer.
        let others = ["content-type", "accept"]
        headers.removeAll { others.contains($0.name.lowercased()) }
    }

    package init(
        url: String, headers: [(name: String, value: String)], body: RequestBody,
        deadlines: TransferDeadlines = TransferDeadlines()
    ) {
        self.url = url
        self.headers = headers
        self.body = body
        self.deadlines = deadlines
    }
}

/// Carries out what waits for the disk.
package typealias DiskWork = @Sendable (@escaping @Sendable () -> Void) -> Void

/// Puts an observer in front of that of one request to a service; `name` is the request's own.
package typealias TransferObserving =
    @Sendable (
        _ request: TransferRequest, _ name: String, _ service: RecognitionService,
        _ observer: any TransferObserver, _ writes: @escaping DiskWork
    ) -> any TransferObserver

/// Told what happens to a transfer, on the transfer thread; must not block.
package protocol TransferObserver: AnyObject, Sendable {
    func transferDidConnect()

    /// The head holds secrets.
    func transferDidSendHead(_ head: String)

    /// `byteCount` is the recording's part so far; `wireByteCount` includes what stands around it.
    func transferDidSend(byteCount: Int, wireByteCount: Int)

    /// An interim response (1xx, RFC 9110 §15.2); field names are in lower case.
    func transferDidReceiveInterim(status: Int, headers: [(name: String, value: String)])

    /// The final response's head, perhaps while the body is still being sent; field names are in
    /// lower case.
    func transferDidReceiveHead(status: Int, headers: [(name: String, value: String)])

    /// Bytes of the final response's body, an error's too, have come.
    func transferDidReceive(_ bytes: Span<UInt8>)

    /// Whether later bytes can say anything.
    ///
    /// Asked after each `transferDidReceive`: a service may leave its answer open at the end.
    var reading: AnswerReading { get }

    /// How often the answer has said something new: one that goes on to do so is not late.
    var newsCount: Int { get }

    func transferDidEnd(_ result: TransferResult)
}

extension TransferObserver {
    package func transferDidSendHead(_ head: String) {}

    package func transferDidReceiveInterim(
        status: Int, headers: [(name: String, value: String)]
    ) {}

    var reading: AnswerReading { .goesOn }

    package var newsCount: Int { 0 }
}
