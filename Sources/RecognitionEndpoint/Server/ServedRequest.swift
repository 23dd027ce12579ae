// SPDX-License-Identifier: Apache-2.0

/// What there is to know about a request when its answer is over, for a log.
///
/// Holds no secret: neither header fields other than the media type, nor the query, nor text.
/// What the client wrote is here as it came, so it is to be made safe before it is printed.
public struct ServedRequest: Sendable, Hashable {
    /// The client's address and port, such as `127.0.0.1:51234`.
    public var peer: String

    /// The request's method; empty when what came was not HTTP.
    public var method = ""

    /// The path without its query; empty when what came was not HTTP.
    public var path = ""

    /// The value of `Content-Type`, or nil without one.
    public var mediaType: String?

    /// How many bytes of the body have come.
    public var byteCount = 0

    /// The length of the audio in seconds; nil when it was not heard to its end.
    public var audioDuration: Double?

    /// The answer's status, or nil when none was sent.
    public var status: Int?

    /// Whether the answer was sent to its end.
    public var isAnswered = false

    /// The time from the request's head to the answer's end, or to the connection's.
    public var duration = Duration.zero
}
