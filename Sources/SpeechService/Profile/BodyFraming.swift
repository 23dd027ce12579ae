// SPDX-License-Identifier: Apache-2.0

/// How a service learns where the body of a request ends (RFC 9112 §6).
public enum BodyFraming: String, Sendable, CaseIterable, Codable {
    /// Chunked while the recording is being made, and with its length when it is complete as an
    /// attempt begins, or for a service that takes no chunks: it answers 411, or too early.
    case auto
    /// Chunked, while the speaker speaks.
    case chunked
    /// With its length (`Content-Length`), once the recording is complete.
    case length
}
