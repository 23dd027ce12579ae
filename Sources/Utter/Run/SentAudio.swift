// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
package import LinuxPlatform
package import TakeStore
internal import Upload

/// A recording as it is sent: with silence where a cue of ours is heard in it.
///
/// The file keeps what was heard. Of audio that is not sample after sample, nothing is replaced.
struct SentAudio: BodySource {
    private static let frameSize = 2

    let journal: Journal
    let header: Int

    /// The bytes of a journal that holds samples; nil of any other.
    init?(_ journal: Journal, as format: AudioCodec) {
        guard format == .pcm || format == .wav else { return nil }
        self.journal = journal
        header = AudioCodec.pcm.bodyOffset
    }

    var isSealed: Bool { journal.isSealed }

    var byteCount: Int {
        // Asked first: when it is true, nothing is held back any more.
        let isSealed = journal.isSealed
        let count = journal.byteCount
        guard !isSealed, count > header, !journal.cues.isEmpty else { return count }
        let frames = (count - header) / Self.frameSize
        let settled = journal.cues.settledFrames(of: frames)
        return settled < frames ? header + settled * Self.frameSize : count
    }

    func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let room = unsafe UnsafeMutableRawBufferPointer(
            rebasing: buffer.prefix(max(0, byteCount - offset)))
        guard unsafe !room.isEmpty else { return 0 }
        let count = unsafe try journal.readBytes(at: offset, into: room)
        if journal.cues.isEmpty { return count }
        for span in journal.cues.all {
            let start = header + span.lowerBound * Self.frameSize
            let bytes = start..<(start + span.count * Self.frameSize)
            for index in bytes.clamped(to: offset..<(offset + count)) {
                unsafe room[index - offset] = 0
            }
        }
        return count
    }
}

extension Journal: BodySource {
    package func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        if case .bytes(let count) = unsafe try read(at: offset, into: buffer) { return count }
        return 0
    }
}
