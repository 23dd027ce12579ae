// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import LinuxPlatform
internal import Synchronization
internal import TakeStore
internal import Upload

/// A recording as it is sent: with silence where a cue of ours is heard in it, and with its length
/// where its form has a place for it and the recording was complete when that was read.
///
/// The file keeps what was heard. Of audio that is not sample after sample, nothing is replaced.
struct SentAudio: BodySource {
    private static let frameSize = 2

    /// The length that the first read has found, so that all reads of one body find the same.
    private final class StatedLength: Sendable {
        private let frames = Atomic(-1)

        func value(_ find: () -> Int) -> Int {
            let known = frames.load(ordering: .relaxed)
            guard known < 0 else { return known }
            let found = frames.compareExchange(
                expected: -1, desired: find(), ordering: .relaxed)
            return found.exchanged ? frames.load(ordering: .relaxed) : found.original
        }
    }

    let journal: Journal
    /// Where the samples begin in the file; nil when it is not sample after sample.
    private let header: Int?
    private let format: AudioCodec
    /// Samples of the recording; final once the journal is sealed.
    private let frames: @Sendable () -> Int
    private let stated = StatedLength()

    init(_ journal: Journal, as format: AudioCodec, frames: @escaping @Sendable () -> Int) {
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
        // Asked before the bytes are read: a body that says its length is read when it is sealed.
        let length = format.length.flatMap { length in
            offset < length.place.upperBound
                ? (length.place, stated.value { journal.isSealed ? frames() : 0 }, length.bytes)
                : nil
        }
        let count = unsafe try journal.readBytes(at: offset, into: room)
        let read = offset..<(offset + count)
        // Without a cue, neither lock nor array is wanted.
        for span in journal.cues.isEmpty ? [] : journal.cues.all {
            guard let header else { break }
            let start = header + span.lowerBound * Self.frameSize
            let bytes = start..<(start + span.count * Self.frameSize)
            for index in bytes.clamped(to: read) { unsafe room[index - offset] = 0 }
        }
        if let (place, frames, bytes) = length, frames > 0 {
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
