// SPDX-License-Identifier: Apache-2.0

/// What a `RecordingServer` does next with one request.
///
/// The steps of a request run in order on the connection's own thread, and bytes are read only
/// by the steps that say so: everything else leaves the client's bytes in the socket. When the
/// steps are over and the connection is open, the rest of the body is read and recorded, and the
/// next request on the connection gets the next list of steps.
package enum ServerStep: Sendable {
    /// Reads up to the blank line after the header fields.
    case readHead

    /// Reads until at least this many bytes of the body have come in all, or the body has ended.
    case readBody(bytes: Int)

    case readBodyToEnd

    /// Reads until the client closes its side, and drops what comes after the body.
    case readOn

    /// Sends a whole response; `Content-Length` is added unless a framing field is given.
    case respond(status: Int, headers: [HeaderField] = [], body: [UInt8] = [])

    /// Sends the response that the test makes of what has come, on the connection's thread.
    case respondBy(@Sendable (RecordedRequest) -> ServerAnswer)

    /// Sends the head of a response with a chunked body.
    case beginResponse(status: Int, headers: [HeaderField] = [])

    /// Sends one chunk of a response that `beginResponse` began; not empty.
    case sendBodyChunk([UInt8])

    /// Sends the last chunk of a response that `beginResponse` began.
    case endResponse

    case sendRaw([UInt8])

    /// Sends the bytes that the test makes of what has come, on the connection's thread.
    case sendRawBy(@Sendable (RecordedRequest) -> [UInt8])

    /// Sends the same bytes so many times, or until the client has closed.
    case sendAgainAndAgain([UInt8], times: Int)

    /// Neither reads nor sends for a while.
    case stall(Duration)

    /// Neither reads nor sends until the gate opens.
    case stallUntil(Gate)

    case open(Gate)

    /// Calls the test back with what has come so far, on the connection's thread.
    case perform(@Sendable (RecordedRequest) -> Void)

    /// Closes the sending side (FIN); reading still works.
    case halfClose

    /// Closes the connection: FIN, or RST when received bytes were not read.
    case close

    /// Resets the connection (RST) and throws away what was not sent yet.
    case reset

    /// Sends a whole response with a body of text.
    package static func respond(
        status: Int, headers: [HeaderField] = [], text: String
    ) -> ServerStep {
        .respond(status: status, headers: headers, body: Array(text.utf8))
    }

    package static func sendBodyChunk(text: String) -> ServerStep {
        .sendBodyChunk(Array(text.utf8))
    }
}

extension [ServerStep] {
    /// Reads the whole request, then answers.
    package static func answer(
        status: Int = 200, headers: [HeaderField] = [], text: String
    ) -> [ServerStep] {
        [.readHead, .readBodyToEnd, .respond(status: status, headers: headers, text: text)]
    }

    /// Reads the whole request, then begins an answer whose body comes in pieces, with a pause behind
    /// each.
    package static func trickle(
        _ piece: String, times: Int, every pause: Duration, status: Int = 200
    ) -> [ServerStep] {
        [.readHead, .readBodyToEnd, .beginResponse(status: status)]
            + (0..<times).flatMap { _ in [.sendBodyChunk(text: piece), .stall(pause)] }
    }
}

/// A response that a test makes while it runs.
package struct ServerAnswer: Sendable, Hashable {
    /// The status (RFC 9110 §15).
    package var status: Int
    /// The fields beside `Content-Length`.
    package var headers: [HeaderField]
    package var text: String

    package init(status: Int = 200, headers: [HeaderField] = [], text: String) {
        self.status = status
        self.headers = headers
        self.text = text
    }
}
