// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
package import LinuxPlatform
package import TakeStore
internal import Upload

/// A recording as it is sent: with its length where its form has a place for it and the recording was
/// complete before its first request.
struct SentAudio: BodySource {
    let journal: Journal
    /// Where the body says how many samples it has, and how; no bytes say nothing.
    private let length: (place: Range<Int>, bytes: [UInt8])

    /// A body that says it has 0 frames says nothing.
    init(_ journal: Journal, as format: AudioCodec, frames: Int, isStored: Bool = false) {
        self.journal = journal
        let length = isStored ? format.storedLength ?? format.length : format.length
        self.length = (length?.place ?? 0..<0, frames > 0 ? length?.bytes(frames) ?? [] : [])
    }

    var isComplete: Bool { journal.isComplete }

    var byteCount: Int { journal.byteCount }

    func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let count = unsafe try journal.readBytes(at: offset, into: buffer)
        let read = offset..<(offset + count)
        if !length.bytes.isEmpty, length.place.overlaps(read) {
            for index in length.place.clamped(to: read) {
                unsafe buffer[index - offset] = length.bytes[index - length.place.lowerBound]
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
