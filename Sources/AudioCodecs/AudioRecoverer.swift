// SPDX-License-Identifier: Apache-2.0

/// Finds out how much of an audio file is whole after its writer was cut off.
///
/// Used by one thread; at most one frame or page of the file is kept in memory.
package protocol AudioRecoverer: AnyObject {
    /// Takes the next bytes of the file in; at most a few kilobytes at once.
    func append(_ bytes: Span<UInt8>)

    /// Says what is whole, when all of the file was given.
    func finish() throws(EncodingError) -> IntactAudio
}

package struct IntactAudio: Sendable, Equatable {
    /// The bytes from the start that are whole: up to the last frame or page that vouches for
    /// itself.
    package var byteCount: Int
    /// The frames at 16 kHz in them.
    package var frames: Int
    /// What the file has to begin with; nil when its beginning is whole, or nothing follows it.
    package var beginning: NewBeginning?
}
