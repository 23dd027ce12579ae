// SPDX-License-Identifier: Apache-2.0

/// How a service learns where the body of a request ends (RFC 9112 §6).
public enum BodyFraming: String, Sendable, CaseIterable, Codable {
    /// Chunked, and with its length for a service that does not take chunks: it answers 411, or
    /// before it has the body.
    case auto
    /// Chunked, while the speaker speaks.
    case chunked
    /// With its length (`Content-Length`), once the recording is complete.
    case length
}
