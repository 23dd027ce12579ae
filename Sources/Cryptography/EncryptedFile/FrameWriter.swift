// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Encrypts what is appended to one file, frame after frame; used by one thread at a time.
final class FrameWriter: @unchecked Sendable {
    private let file: any JournalFile
    private let cipher: AESGCM
    private var number: UInt32 = 0
    private var frames: [UInt8] = []
    private(set) var end: FramePosition
    private var markedEnd: FramePosition?

    init(_ file: any JournalFile, key: [UInt8]) throws(SystemError) {
        self.file = file
        cipher = try AESGCM(key: key.span, encrypts: true)
        end = FramePosition(file: FrameLayout.start, audio: 0)
    }

    /// All or nothing, as far as `end` is concerned.
    func append(_ bytes: Span<UInt8>) throws(SystemError) {
        let start = FrameLayout.frameStart(end.file)
        frames.removeAll(keepingCapacity: true)
        var audio = end.audio
        var rest = bytes
        while !rest.isEmpty {
            let place = FrameLayout.frameStart(start + frames.count)
            frames += repeatElement(0, count: place - start - frames.count)
            let count = FrameLayout.room(at: place) - FrameHeader.overhead
            let part = rest.extracting(first: count)
            rest = rest.extracting(droppingFirst: count)
            try addFrame(part, at: audio)
            audio += part.count
        }
        try write(at: start)
        end = FramePosition(file: start + frames.count, audio: audio)
    }

    /// The next frame replaces the mark.
    func finish() throws(SystemError) {
        guard markedEnd != end else { return }
        frames.removeAll(keepingCapacity: true)
        try addFrame(Span(), at: end.audio)
        try write(at: FrameLayout.frameStart(end.file))
        markedEnd = end
    }

    private func write(at place: Int) throws(SystemError) {
        // A span of a property ends with the access to it.
        let frames = frames
        try file.write(frames.span, at: place)
    }

    private func addFrame(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError) {
        // Not within a year of recording.
        guard number < .max, offset < 1 << 48 else {
            throw SystemError(call: "encrypt", code: EFBIG)
        }
        // Used up from here on, whatever becomes of the write.
        number += 1
        let header = FrameHeader(number: number, length: UInt16(bytes.count), offset: offset)
        let nonce = header.bytes
        frames += nonce
        try cipher.seal(bytes, nonce: nonce.span, onto: &frames)
    }
}
