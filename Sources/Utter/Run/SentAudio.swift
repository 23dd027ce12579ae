// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import LinuxPlatform
internal import TakeStore
internal import Upload

/// A recording as it is sent: with silence where a cue of ours is heard in it, and with its length
/// where its form has a place for it and the recording was complete before its first request.
///
/// The file keeps what was heard. Of audio that is not sample after sample, nothing is replaced.
struct SentAudio: BodySource {
    private static let frameSize = 2

    let journal: Journal
    /// Where the samples begin in the file; nil when it is not sample after sample.
    private let header: Int?
    private let format: AudioCodec
    /// The samples of the recording that the body says it has; 0 says nothing.
    private let frames: Int

    init(_ journal: Journal, as format: AudioCodec, frames: Int) {
        self.journal = journal
        self.format = format
        self.frames = frames
        header = format == .pcm || format == .wav ? AudioCodec.pcm.bodyOffset : nil
    }

    var isSealed: Bool { journal.isSealed }

    var byteCount: Int {
        // Asked first: when it is true, nothing is held back any more.
        let isSealed = journal.isSealed
        let count = journal.byteCount
        guard let header, !isSealed, count > header, !journal.cues.isEmpty else { return count }
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
        let read = offset..<(offset + count)
        // Without a cue, neither lock nor array is wanted.
        for span in journal.cues.isEmpty ? [] : journal.cues.all {
            guard let header else { break }
            let start = header + span.lowerBound * Self.frameSize
            let bytes = start..<(start + span.count * Self.frameSize)
            for index in bytes.clamped(to: read) { unsafe room[index - offset] = 0 }
        }
        if frames > 0, let (place, bytes) = format.length, place.overlaps(read) {
            let said = bytes(frames)
            for index in place.clamped(to: read) {
                unsafe room[index - offset] = said[index - place.lowerBound]
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
