// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import LinuxPlatform
internal import TakeStore
internal import Upload

/// A recording as it is sent: with its length, if its form has a place for that and it was complete
/// before the first request.
struct SentAudio: BodySource {
    let journal: Journal
    private let format: AudioCodec
    /// Samples that the body claims; 0 claims nothing.
    private let frames: Int

    init(_ journal: Journal, as format: AudioCodec, frames: Int) {
        (self.journal, self.format, self.frames) = (journal, format, frames)
    }

    var isSealed: Bool { journal.isSealed }

    var byteCount: Int { journal.byteCount }

    func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let count = unsafe try journal.readBytes(at: offset, into: buffer)
        let read = offset..<(offset + count)
        if frames > 0, let (place, bytes) = format.length, place.overlaps(read) {
            let said = bytes(frames)
            for index in place.clamped(to: read) {
                unsafe buffer[index - offset] = said[index - place.lowerBound]
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
