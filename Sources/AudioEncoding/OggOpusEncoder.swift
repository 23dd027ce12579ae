// SPDX-License-Identifier: Apache-2.0

/// Writes Opus in Ogg.
public final class OggOpusEncoder: AudioEncoder {
    public init() throws(EncodingError) {}
    public func begin(into output: inout [UInt8]) throws(EncodingError) {}
    public func encode(_ frames: Span<Int16>, into output: inout [UInt8]) throws(EncodingError) {}
    public func finish(into output: inout [UInt8]) throws(EncodingError) {}
    public func maximumByteCount(forFrames frames: Int) -> Int { 4096 + 2 * frames }
}
