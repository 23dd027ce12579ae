// SPDX-License-Identifier: Apache-2.0

package import AudioCore

/// Turns the bytes of one audio file into samples while they come; used by one thread at a time.
///
/// Memory stays below some megabytes whatever comes in.
package protocol AudioDecoder: AnyObject {
    /// The rate and layout of the samples; nil until the file's header has said it.
    var format: StreamFormat? { get }

    /// Whether the file is at its end, as far as it says how long it is.
    var isAtEnd: Bool { get }

    /// Takes bytes in, and appends what they decode to.
    ///
    /// - Parameters:
    ///   - bytes: the next bytes of the file, cut anywhere.
    ///   - output: receives interleaved samples.
    /// - Throws: `UndecodableAudio` when the bytes are not of this form, or damaged; the decoder is
    ///   not to be used any further.
    func decode(_ bytes: Span<UInt8>, into output: inout [Int16]) throws(UndecodableAudio)

    /// Ends the file, and appends what the last bytes decode to; less than a frame is dropped.
    func finish(into output: inout [Int16]) throws(UndecodableAudio)
}

/// Why bytes cannot be decoded.
package struct UndecodableAudio: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with them, in one line without capital and full stop.
    package let description: String

    package init(_ description: String) { self.description = description }
}
