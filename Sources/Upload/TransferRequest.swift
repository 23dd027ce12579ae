// SPDX-License-Identifier: Apache-2.0

package import SpeechService

/// One HTTP request of a take: where to, with what headers, and what body.
package struct TransferRequest: Sendable {
    /// An absolute `http` or `https` URL.
    package var url: String
    /// The request's method; one of GET has an empty body.
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
