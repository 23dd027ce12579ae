// SPDX-License-Identifier: Apache-2.0

/// One chunk of a chunked request body, as it came.
///
/// For a body with a `Content-Length` each `recv(2)` counts as a chunk.
package struct RecordedChunk: Sendable, Hashable {
    /// Where the chunk's first byte stands in the decoded body.
    package let offset: Int

    /// The chunk's bytes without their framing.
    package let byteCount: Int

    /// When the chunk's first byte was read from the socket.
    package let beganAt: MonotonicTime

    /// When the chunk's last byte was read from the socket.
    package let endedAt: MonotonicTime

    /// What stood behind the size, without the semicolon; empty for every ordinary client.
    package let chunkExtension: String
}
