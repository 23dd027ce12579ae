// SPDX-License-Identifier: Apache-2.0

/// Turns 16 kHz mono PCM into the bytes of one audio file, in order, append-only.
///
/// The concatenation of everything appended by `begin`, `encode` and `finish` is a file that
/// any player opens; cut anywhere, what stands before the cut still plays. An encoder belongs
/// to one take and is used on the capture thread alone; after its first second it allocates
/// nothing.
package protocol AudioEncoder: AnyObject, Sendable {
    /// Appends the file's header.
    func begin(into output: inout [UInt8]) throws(EncodingError)

    /// Takes frames in, and appends what became ready: nothing, a part of a page, or several.
    ///
    /// - Parameters:
    ///   - frames: samples at 16 kHz, mono; any count.
    ///   - output: is appended to.
    /// - Throws: `EncodingError` when the codec fails.
    func encode(_ frames: Span<Int16>, into output: inout [UInt8]) throws(EncodingError)

    /// Appends everything that is still inside the encoder and the file's end mark.
    func finish(into output: inout [UInt8]) throws(EncodingError)

    /// What the file would begin with if it had been known before what is known now: how long it is.
    ///
    /// As long as what `begin` has appended, and asked after `finish`; nil when nothing would change.
    var settledHeader: [UInt8]? { get }

    /// The most bytes that encoding `frames` more frames, and finishing, can append.
    func maximumByteCount(forFrames frames: Int) -> Int
}

extension AudioEncoder {
    package var settledHeader: [UInt8]? { nil }
}
