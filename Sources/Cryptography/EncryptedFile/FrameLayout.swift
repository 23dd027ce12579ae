// SPDX-License-Identifier: Apache-2.0

/// Where the frames of an encrypted file may stand.
///
/// Every block begins with a frame, and no frame crosses the end of one. So the next whole frame
/// behind a damaged part, and the frame of any byte of the audio, are found by looking at the
/// beginnings of blocks.
struct FrameLayout: Equatable {
    /// The first byte behind the file's header.
    let start: Int
    /// A page of the disk, 128 ms of PCM; nil in files of version 1, which are one endless block.
    let blockByteCount: Int?

    static let current = FrameLayout(start: EncryptedFileHeader.byteCount, blockByteCount: 4_096)
    static let version1 = FrameLayout(
        start: EncryptedFileHeader.oldByteCount, blockByteCount: nil)

    /// The longest frame that can begin at a place of the file.
    func room(at place: Int) -> Int {
        let longest = FrameHeader.longestFrame + FrameHeader.overhead
        return blockByteCount.map { min($0 - place % $0, longest) } ?? longest
    }

    /// Where the frame begins that follows the one that ends at `place`: in the next block, when
    /// what is left of this one has no room for a byte of audio.
    func frameStart(_ place: Int) -> Int {
        room(at: place) > FrameHeader.overhead ? place : place + room(at: place)
    }

    /// Where the block after that of `place` begins; nil when there is none.
    func nextBlock(after place: Int) -> Int? {
        blockByteCount.map { (place / $0 + 1) * $0 }
    }
}
