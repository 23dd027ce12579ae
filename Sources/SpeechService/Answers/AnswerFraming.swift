// SPDX-License-Identifier: Apache-2.0

/// How the bytes of an answer become the values that mean something.
package enum AnswerFraming: String, Sendable, Hashable, CaseIterable {
    /// By what the service says and sends.
    ///
    /// A JSON type is read as a sequence of values, of which one value is the simplest case: wit.ai
    /// streams its many values as `application/json`. Event streams and subtitles are read as
    /// such. `text/…`, an unknown type and none at all are sniffed: what begins with
    /// `{` is JSON, since no transcript does and many servers send JSON as `text/html`; what begins
    /// like events or subtitles are these; everything else is text (`[` and `"` begin transcripts
    /// such as "[BLANK_AUDIO]"). Sound and images are refused.
    case automatic = "auto"
    case text
    case json
    /// The body is a sequence of JSON values, read while they come.
    case sequence
    /// The body is a stream of server-sent events (WHATWG HTML §9.2), read while they come.
    case events
    case subtitles
    case header
}
