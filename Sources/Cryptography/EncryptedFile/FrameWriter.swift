// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform

/// Encrypts what is appended to one file, frame after frame.
///
/// Used by one thread at a time.
final class FrameWriter: @unchecked Sendable {
    private let file: any JournalFile
    private let cipher: AESGCM
    private var number: UInt32 = 0
    /// As large as the longest frame yet; each is made at its start.
    private var frame: [UInt8] = []
    /// Where the next frame begins.
    private(set) var end: FramePosition
    /// Where the mark of the end stands.
    private var markedEnd: FramePosition?

    /// Prepares to append to a file that ends after its header.
    init(_ file: any JournalFile, key: [UInt8]) throws(SystemError) {
        self.file = file
        cipher = try AESGCM(key: key.span, encrypts: true)
        end = FramePosition(file: EncryptedFileHeader.byteCount, audio: 0)
    }

    /// Appends audio, whole or not at all as far as `end` is concerned.
    ///
    /// - Returns: where its frames begin, in order.
    func append(_ bytes: Span<UInt8>) throws(SystemError) -> [FramePosition] {
        var position = end
        var positions: [FramePosition] = []
        var rest = bytes
        while !rest.isEmpty {
            let part = rest.extracting(first: FrameHeader.longestFrame)
            rest = rest.extracting(droppingFirst: FrameHeader.longestFrame)
            let count = try write(part, at: position)
            positions.append(position)
            position.file += count
            position.audio += part.count
        }
        end = position
        return positions
    }

    /// Writes the mark of the end, which the next frame replaces.
    func finish() throws(SystemError) {
        guard markedEnd != end else { return }
        _ = try write(Span(), at: end)
        markedEnd = end
    }

    private func write(_ bytes: Span<UInt8>, at position: FramePosition) throws(SystemError) -> Int
    {
        // Not within a year of recording.
        guard number < .max, position.audio < 1 << 48 else {
            throw SystemError(call: "encrypt", code: EFBIG)
        }
        // Used up from here on, whatever becomes of the write.
        number += 1
        let header = FrameHeader(
            number: number, length: UInt16(bytes.count), offset: position.audio
        )
        let count = header.frameByteCount
        if frame.count < count { frame = [UInt8](repeating: 0, count: count) }
        let nonce = header.bytes
        let isSealed = unsafe frame.withUnsafeMutableBytes { frame in
            unsafe frame.copyBytes(from: nonce)
            return unsafe cipher.seal(
                bytes, nonce: nonce.span,
                into: UnsafeMutableRawBufferPointer(rebasing: frame[nonce.count..<count]))
        }
        guard isSealed else { throw AESGCM.failure }
        // A span of a property ends with the access to it.
        let frame = frame
        try file.write(frame.span.extracting(first: count), at: position.file)
        return count
    }
}
