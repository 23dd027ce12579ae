// SPDX-License-Identifier: Apache-2.0

package import SpeechService

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
