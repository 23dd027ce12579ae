// SPDX-License-Identifier: Apache-2.0

/// What there is to know about a request when its answer is over, for a log.
///
/// Holds no secret: neither header fields other than the media type, nor the query, nor text.
/// What the client wrote is here as it came, so it is to be made safe before it is printed.
package struct ServedRequest: Sendable, Hashable {
    /// The client's address and port, such as `127.0.0.1:51234`.
    package var peer: String

    /// The request's method; empty when what came was not HTTP.
    package var method = ""

    /// The path without its query; empty when what came was not HTTP.
    package var path = ""

    /// The value of `Content-Type`, or nil without one.
    package var mediaType: String?

    /// How many bytes of the body have come.
    package var byteCount = 0

    /// The length of the audio in seconds; nil when it was not heard to its end.
    package var audioDuration: Double?

    /// The answer's status, or nil when none was sent.
    package var status: Int?

    package var isAnswered = false

    /// The time from the request's head to the answer's end, or to the connection's.
    package var duration = Duration.zero
}
