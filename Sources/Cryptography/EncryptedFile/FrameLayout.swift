// SPDX-License-Identifier: Apache-2.0

/// Where the frames of an encrypted file may stand.
///
/// Every block begins with a frame, and no frame crosses the end of one. So the next whole frame
/// behind a damaged part, and the frame of any byte of the audio, are found by looking at the
/// beginnings of blocks.
enum FrameLayout {
    /// The first byte behind the file's header.
    static let start = EncryptedFileHeader.byteCount
    /// A page of the disk, 128 ms of PCM.
    static let blockByteCount = 4_096

    /// The longest frame that can begin at a place of the file.
    static func room(at place: Int) -> Int { blockByteCount - place % blockByteCount }

    /// Where the frame begins that follows the one that ends at `place`: in the next block, when
    /// what is left of this one has no room for a byte of audio.
    static func frameStart(_ place: Int) -> Int {
        room(at: place) > FrameHeader.overhead ? place : place + room(at: place)
    }

    /// Where the block after that of `place` begins.
    static func nextBlock(after place: Int) -> Int { (place / blockByteCount + 1) * blockByteCount }
}
