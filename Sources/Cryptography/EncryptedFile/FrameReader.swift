// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Reads and decrypts the frames of one encrypted file, in order or from anywhere.
///
/// Holds 128 KiB of the file and one decrypted frame, so that small reads in order cost a system
/// call each 128 KiB. Used by one thread at a time.
final class FrameReader: @unchecked Sendable {
    private static let windowByteCount = 1 << 17

    private let file: any JournalFile
    private let cipher: AESGCM
    private var window: [UInt8] = []
    private var windowRange = 0..<0
    /// The frame that was last decrypted for a part of it.
    private var frame: [UInt8] = []
    private var frameStart = 0
    private var frameLength = 0
    private var next: FramePosition?

    init(_ file: any JournalFile, key: [UInt8]) throws(SystemError) {
        self.file = file
        cipher = try AESGCM(key: key.span, encrypts: false)
    }

    deinit { frame.clear() }

    /// `start` is a frame that begins there or before; `end` is where its whole frames end in the
    /// file.
    ///
    /// - Returns: the bytes read; 0 at the end.
    /// - Throws: `SystemError` when the disk fails; `EBADMSG` when the frame there was altered.
    func read(
        at offset: Int, from start: FramePosition, end: Int,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        var position: FramePosition
        // If both begin with the same byte, `start` counts: it knows what may lie between them.
        if let next, next.audio <= offset, next.audio > start.audio {
            position = next
        } else {
            position = try seek(offset, from: start, end: end)
        }
        var count = unsafe copyFrame(at: offset, into: buffer)
        while count < buffer.count {
            let wanted = offset + count
            position.file = FrameLayout.frameStart(position.file)
            guard let header = try header(at: position.file, end: end), !header.isEnd else { break }
            guard header.offset == position.audio else { return try partial(count, position) }
            let following = FramePosition(
                file: position.file + header.frameByteCount,
                audio: position.audio + Int(header.length))
            if following.audio > wanted {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                let isWhole = position.audio == wanted && rest.count >= Int(header.length)
                if isWhole {
                    guard unsafe open(header, at: position.file, into: rest) else {
                        return try partial(count, position)
                    }
                    count += Int(header.length)
                } else {
                    guard keepFrame(header, at: position) else {
                        return try partial(count, position)
                    }
                    count += unsafe copyFrame(at: wanted, into: rest)
                }
            }
            position = following
            next = position
        }
        return count
    }

    /// The first frame of the block that holds this byte of the audio.
    private func seek(
        _ offset: Int, from start: FramePosition, end: Int
    ) throws(SystemError) -> FramePosition {
        guard end > start.file else { return start }
        let size = FrameLayout.blockByteCount
        var found = start
        var (low, high) = (start.file / size, (end - 1) / size)
        var bytes = [UInt8](repeating: 0, count: FrameHeader.byteCount)
        while low < high {
            let middle = (low + high + 1) / 2
            let count = unsafe bytes.withUnsafeMutableBytes { bytes in
                Result { () throws(SystemError) in
                    unsafe try file.read(at: middle * size, into: bytes)
                }
            }
            let header = FrameHeader(bytes.span)
            if try count.get() == bytes.count, header.offset <= offset {
                low = middle
                found = FramePosition(file: middle * size, audio: header.offset)
            } else {
                high = middle - 1
            }
        }
        return found
    }

    /// Returns the bytes before an altered frame; the next read throws.
    private func partial(_ count: Int, _ position: FramePosition) throws(SystemError) -> Int {
        guard count == 0 else { return count }
        throw SystemError(call: "decrypt the frame at byte \(position.file)", code: EBADMSG)
    }

    func isIntact(_ header: FrameHeader, at place: Int) -> Bool {
        keepFrame(header, at: FramePosition(file: place, audio: header.offset))
    }

    /// Reads the header at `place`; nil when no whole frame is left in the block, or before `end`.
    ///
    /// True only if the frame turns out to be intact.
    func header(at place: Int, end: Int) throws(SystemError) -> FrameHeader? {
        guard try load(place, FrameHeader.byteCount, end: end) else { return nil }
        let start = place - windowRange.lowerBound
        let header = FrameHeader(
            window.span.extracting(start..<start + FrameHeader.byteCount))
        guard header.frameByteCount <= FrameLayout.room(at: place),
            try load(place, header.frameByteCount, end: end)
        else { return nil }
        return header
    }

    private func open(
        _ header: FrameHeader, at place: Int, into buffer: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let start = place - windowRange.lowerBound
        // A span of a property ends with the access to it.
        let window = window
        let bytes = window.span.extracting(start..<start + header.frameByteCount)
        let isIntact = unsafe cipher.open(
            bytes.extracting(droppingFirst: FrameHeader.byteCount),
            nonce: bytes.extracting(first: FrameHeader.byteCount), into: buffer)
        // Never return plaintext whose tag did not verify.
        if !isIntact { unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0) }
        return isIntact
    }

    private func keepFrame(_ header: FrameHeader, at position: FramePosition) -> Bool {
        if frame.count < FrameHeader.longestFrame {
            frame = [UInt8](repeating: 0, count: FrameHeader.longestFrame)
        }
        frameStart = position.audio
        let isIntact = unsafe frame.withUnsafeMutableBytes { bytes in
            unsafe open(header, at: position.file, into: bytes)
        }
        frameLength = isIntact ? Int(header.length) : 0
        return isIntact
    }

    private func copyFrame(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let start = offset - frameStart
        guard start >= 0, start < frameLength else { return 0 }
        let count = min(frameLength - start, buffer.count)
        unsafe frame.withUnsafeBytes { bytes in
            unsafe buffer.copyMemory(
                from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
        }
        return count
    }

    /// Loads bytes of the file into the window; false when the file ends before.
    private func load(_ place: Int, _ count: Int, end: Int) throws(SystemError) -> Bool {
        guard place + count <= end else { return false }
        if place >= windowRange.lowerBound, place + count <= windowRange.upperBound { return true }
        if window.isEmpty { window = [UInt8](repeating: 0, count: Self.windowByteCount) }
        windowRange = 0..<0
        let wanted = min(window.count, end - place)
        var filled = 0
        while filled < wanted {
            let result = unsafe window.withUnsafeMutableBytes { bytes in
                Result { () throws(SystemError) in
                    try unsafe file.read(
                        at: place + filled,
                        into: UnsafeMutableRawBufferPointer(rebasing: bytes[filled..<wanted]))
                }
            }
            let found = try result.get()
            if found == 0 { break }
            filled += found
        }
        windowRange = place..<place + filled
        return filled >= count
    }
}
