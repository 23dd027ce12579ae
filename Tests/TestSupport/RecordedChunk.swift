// SPDX-License-Identifier: Apache-2.0

/// One chunk of a chunked request body, as it came.
///
/// For a body with a `Content-Length` each `recv(2)` counts as a chunk.
public struct RecordedChunk: Sendable, Hashable {
    /// Where the chunk's first byte stands in the decoded body.
    public let offset: Int

    /// The chunk's bytes without their framing.
    public let byteCount: Int

    /// When the chunk's first byte was read from the socket.
    public let beganAt: MonotonicTime

    /// When the chunk's last byte was read from the socket.
    public let endedAt: MonotonicTime

    /// What stood behind the size, without the semicolon; empty for every ordinary client.
    public let chunkExtension: String
}
