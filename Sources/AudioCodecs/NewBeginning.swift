// SPDX-License-Identifier: Apache-2.0

/// What an audio file has to begin with whose own beginning was lost.
///
/// A power cut may take what was written first, and leave what was written after it. What an
/// encoder of ours writes first is known: it depends on nothing that was said.
package struct NewBeginning: Sendable, Equatable {
    /// The new first bytes.
    package let bytes: [UInt8]
    /// The first bytes of the file that they replace.
    package let replacedByteCount: Int
    /// Frames at 16 kHz of silence within, in the place of audio that was lost.
    package let silentFrames: Int
}
