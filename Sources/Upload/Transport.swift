// SPDX-License-Identifier: Apache-2.0

package import SpeechService

/// Carries requests to services and their answers back.
///
/// It knows no disk and decides no resend: each request is made once at most. `TransferLoop` is
/// the one that ships. Called from any thread.
package protocol Transport: AnyObject, Sendable {
    /// Starts a transfer: the connection is opened at once, whether there is a body or not.
    ///
    /// It begins after `pause`, unless it is hurried, and `atLeast` so late even then. The observer is
    /// kept until `transferDidEnd`; after `shutDown` it is told `.cancelled` at once, on the calling
    /// thread.
    func start(
        _ request: TransferRequest, after pause: Duration, atLeast: Duration,
        observer: any TransferObserver
    ) -> TransferID

    func hurry(_ id: TransferID)

    /// Breaks a transfer off: the connection is closed without an end of the body.
    ///
    /// The observer is told `.cancelled`, unless it has ended already.
    func cancel(_ id: TransferID)

    /// Cancels what still runs, and waits for the end.
    func shutDown()
}

extension Transport {
    package func start(
        _ request: TransferRequest, observer: any TransferObserver
    ) -> TransferID {
        start(request, after: .zero, atLeast: .zero, observer: observer)
    }
}

/// One HTTP request of a take: where to, with what headers, and what body.
package struct TransferRequest: Sendable {
    package var url: String
    package var method = "POST"
    /// Header fields in order; names and values have been checked.
    package var headers: [(name: String, value: String)]
    package var body: RequestBody
    /// Whether the body waits for an interim `100 Continue`, a second at most.
    package var expectsContinue = false
    package var deadlines: TransferDeadlines
    package var connection = ConnectionSettings()
    /// What it shares with the other requests of its take; nil for nothing, cookies included.
    package var session: TransferSession?
    /// More header fields, asked for on the transfer thread when the transfer begins.
    package var lateHeaders: @Sendable () -> [(name: String, value: String)] = { [] }
    /// The most bytes of the body a second, or nil for as many as the line takes.
    package var bytesPerSecond: Int?
    /// Asked on the transfer thread before the body is ended: false breaks the transfer off
    /// instead, for a take that was cancelled after the loop last looked.
    package var mayEndBody: @Sendable () -> Bool = { true }
    /// How long a connection that an earlier transfer has left may have been idle to carry it, in
    /// whole seconds; nil for a connection of its own.
    package var longestIdleTime: Duration?
    /// Whether its connection stays open for a later transfer, once the answer is complete.
    package var leavesConnection = false
    /// The most response bytes that are read, decoded, heads excluded.
    var responseLimit = 8 << 20

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

/// Who wants to know what happens to a transfer.
///
/// Called on the transfer thread; must not block.
package protocol TransferObserver: AnyObject, Sendable {
    /// The connection stands and the request is about to be sent.
    func transferDidConnect()

    /// The head of the request has been handed to the connection; it holds secrets.
    func transferDidSendHead(_ head: String)

    /// The connection has taken this many bytes of the recording, in all; what stands around it
    /// in the body is not counted, and is in `wireByteCount`.
    func transferDidSend(byteCount: Int, wireByteCount: Int)

    /// The head of the final response has been read, perhaps while the body is still being sent.
    ///
    /// Names of its fields are in lower case.
    func transferDidReceiveHead(status: Int, headers: [(name: String, value: String)])

    /// Bytes of the final response's body have been read; an error body's too.
    func transferDidReceive(_ bytes: Span<UInt8>)

    /// Whether the bytes that follow can say anything.
    ///
    /// Asked after each `transferDidReceive`: a service may leave its answer open at the end.
    var reading: AnswerReading { get }

    func transferDidEnd(_ result: TransferResult)
}

extension TransferObserver {
    package func transferDidSendHead(_ head: String) {}

    package var reading: AnswerReading { .goesOn }
}
