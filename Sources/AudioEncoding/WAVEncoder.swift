// SPDX-License-Identifier: Apache-2.0

/// Writes PCM behind a WAV header of unknown length.
public final class WAVEncoder: AudioEncoder {
    /// The header's length, in bytes.
    public static let headerByteCount = 44
    public init() {}
    public func begin(into output: inout [UInt8]) throws(EncodingError) {}
    public func encode(_ frames: Span<Int16>, into output: inout [UInt8]) throws(EncodingError) {}
    public func finish(into output: inout [UInt8]) throws(EncodingError) {}
    public func maximumByteCount(forFrames frames: Int) -> Int { 44 + 2 * frames }
}
