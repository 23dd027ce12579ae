// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// The encrypted form of a request's body, made where it is read.
///
/// It is an encrypted file, as `EncryptedFileHeader` says, whose key is made of the person's key and
/// of a seed, and whose frames begin every 512 bytes. So it can be read from any byte without being
/// kept, and the same bytes under the same seed have the same form each time. A seed belongs to one
/// body: two bodies that differ have different ones. Usable from any thread.
package final class SealedBody: Sendable {
    package static let mediaType = "application/vnd.utter.encrypted"
    private static let slot = 512

    private let header: [UInt8]
    private let cipher: Mutex<AESGCM>

    /// The seed is any text, and hashed.
    ///
    /// - Throws: `EncryptionError.wrongKey` for a passphrase, which would cost its time for each body.
    package init(key: EncryptionKey, seed: String) throws(EncryptionError) {
        var digest = SHA256()
        digest.update(Array(seed.utf8).span)
        header = EncryptedFileHeader.bytes(seed: digest.bytes)
        cipher = try Mutex(key.cipher(seed: digest.bytes, encrypts: true))
    }

    // MARK: - Offsets

    private static let firstCapacity = slot - EncryptedFileHeader.byteCount - FrameHeader.overhead
    private static let capacity = slot - FrameHeader.overhead

    /// Whole frames among so many bytes.
    private static func frameCount(_ plain: Int) -> Int {
        plain < firstCapacity ? 0 : 1 + (plain - firstCapacity) / capacity
    }

    private static func place(_ frame: Int) -> Int {
        frame == 0 ? EncryptedFileHeader.byteCount : frame * slot
    }

    private static func plainStart(_ frame: Int) -> Int {
        frame == 0 ? 0 : firstCapacity + (frame - 1) * capacity
    }

    /// While more bytes may follow, only whole frames count.
    package static func byteCount(of plain: Int, isWhole: Bool) -> Int {
        isWhole ? markPlace(plain) + FrameHeader.overhead : place(frameCount(plain))
    }

    private static func markPlace(_ plain: Int) -> Int {
        let count = frameCount(plain)
        let rest = plain - plainStart(count)
        return FrameLayout.frameStart(
            rest > 0 ? place(count) + FrameHeader.overhead + rest : place(count))
    }

    /// Bytes whose form ends before an offset of it.
    package static func plainByteCount(at offset: Int) -> Int {
        guard offset > EncryptedFileHeader.byteCount else { return 0 }
        let frame = offset / slot
        let inside = offset - place(frame) - FrameHeader.byteCount
        return plainStart(frame) + max(0, min(inside, frame == 0 ? firstCapacity : capacity))
    }

    // MARK: - Reading

    /// Reads the form of `count` bytes from an offset below its length; `plain` reads them, and fills
    /// its buffer.
    ///
    /// - Returns: the bytes read, perhaps fewer than fit.
    package func read(
        at offset: Int, of count: Int, isWhole: Bool, into buffer: UnsafeMutableRawBufferPointer,
        _ plain: (Int, UnsafeMutableRawBufferPointer) throws(SystemError) -> Void
    ) throws(SystemError) -> Int {
        let whole = Self.frameCount(count)
        var filled = 0
        while filled < buffer.count {
            let place = offset + filled
            let frame = place < Self.slot ? 0 : place / Self.slot
            var (bytes, start) = (header, 0)
            if place >= Self.place(min(frame, whole)) {
                if frame < whole {
                    bytes = try unsafe sealed(frame, Self.plainStart(frame + 1), plain)
                } else if isWhole {
                    bytes = try unsafe end(of: count, plain)
                } else {
                    break
                }
                start = Self.place(min(frame, whole))
            }
            let piece = bytes.dropFirst(place - start).prefix(buffer.count - filled)
            guard !piece.isEmpty else { break }
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                .copyBytes(from: piece)
            filled += piece.count
        }
        return filled
    }

    /// The last frame, unless it would be empty, and the mark of the end.
    private func end(
        of count: Int, _ plain: (Int, UnsafeMutableRawBufferPointer) throws(SystemError) -> Void
    ) throws(SystemError) -> [UInt8] {
        let frame = Self.frameCount(count)
        let isEmpty = Self.plainStart(frame) == count
        var bytes = isEmpty ? [] : try unsafe sealed(frame, count, plain)
        let gap = Self.markPlace(count) - Self.place(frame) - bytes.count
        bytes += [UInt8](repeating: 0, count: gap)
        return bytes
            + (try sealed(
                [], FrameHeader(number: UInt32(frame + (isEmpty ? 1 : 2)), length: 0, offset: count)
            ))
    }

    private func sealed(
        _ frame: Int, _ end: Int,
        _ plain: (Int, UnsafeMutableRawBufferPointer) throws(SystemError) -> Void
    ) throws(SystemError) -> [UInt8] {
        let start = Self.plainStart(frame)
        guard frame < UInt32.max - 2, end < 1 << 48 else {
            throw SystemError(call: "encrypt", code: EFBIG)
        }
        var bytes = [UInt8](repeating: 0, count: end - start)
        let result = unsafe bytes.withUnsafeMutableBytes { bytes in
            Result { () throws(SystemError) in unsafe try plain(start, bytes) }
        }
        try result.get()
        return try sealed(
            bytes,
            FrameHeader(number: UInt32(frame + 1), length: UInt16(bytes.count), offset: start))
    }

    private func sealed(
        _ bytes: [UInt8], _ header: FrameHeader
    ) throws(SystemError) -> [UInt8] {
        let nonce = header.bytes
        var frame = nonce
        try cipher.withLock { cipher throws(SystemError) in
            try cipher.seal(bytes.span, nonce: nonce.span, onto: &frame)
        }
        return frame
    }
}

/// The type and the query of an encrypted body, which stand before its first byte.
package struct SealedHead: Sendable, Equatable {
    private static let end = Array("\r\n\r\n".utf8)
    static let limit = 16 << 10

    /// The type of the body in it.
    package let contentType: String
    /// The query of the request, without secrets; empty for none.
    package let query: String

    package init(contentType: String, query: String) {
        (self.contentType, self.query) = (contentType, query)
    }

    package var bytes: [UInt8] {
        Array("content-type: \(contentType)\r\nquery: \(query)".utf8) + Self.end
    }

    /// Takes the head off the bytes; nil when it is not all there.
    init?(from bytes: inout [UInt8]) {
        guard let end = bytes.firstRange(of: Self.end) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            .split(separator: "\r\n")
        func value(_ name: String) -> String {
            let line = lines.first { $0.hasPrefix(name) }
            return String(line?.dropFirst(name.count) ?? "")
        }
        (contentType, query) = (value("content-type: "), value("query: "))
        bytes.removeFirst(end.upperBound)
    }
}

/// Decrypts a body that comes piece by piece; used on one thread.
package struct SealedBodyReader: ~Copyable {
    private let key: EncryptionKey
    private var cipher: AESGCM?
    private var pending: [UInt8] = []
    /// Bytes of `pending` that are done with.
    private var taken = 0
    /// The place in the file, and in the audio inside it.
    private var position = FramePosition(file: 0, audio: 0)
    private var number: UInt32 = 0
    /// Before the head is whole.
    private var beginning: [UInt8] = []
    package private(set) var head: SealedHead?
    /// The mark of the end has come: nothing was cut off.
    package private(set) var isWhole = false

    package init(key: EncryptionKey) { self.key = key }

    /// Appends what the bytes, cut anywhere, hold behind the head.
    ///
    /// - Throws: `EncryptionError`: `.wrongKey`, `.damaged` when anything was altered, and
    ///   `.laterVersion`.
    package mutating func read(
        _ bytes: Span<UInt8>, into plain: inout [UInt8]
    ) throws(EncryptionError) {
        for index in bytes.indices { pending.append(bytes[index]) }
        while try step() {}
        pending.removeFirst(taken)
        taken = 0
        guard head == nil else {
            plain += beginning
            return beginning.removeAll(keepingCapacity: true)
        }
        head = SealedHead(from: &beginning)
        if head != nil { return try read(Span(), into: &plain) }
        guard beginning.count <= SealedHead.limit else { throw .damaged }
    }

    private mutating func step() throws(EncryptionError) -> Bool {
        if cipher == nil {
            guard rest >= EncryptedFileHeader.byteCount else { return false }
            cipher = try key.cipher(
                seed: try EncryptedFileHeader.seed(in: take(EncryptedFileHeader.byteCount)),
                encrypts: false)
        }
        guard rest > 0 else { return false }
        guard !isWhole else { throw .damaged }
        let gap = FrameLayout.frameStart(position.file) - position.file
        guard rest >= gap + FrameHeader.byteCount else { return false }
        let header = FrameHeader(pending.span.extracting(droppingFirst: taken + gap))
        guard header.number > number, header.offset == position.audio else { throw .damaged }
        guard rest >= gap + header.frameByteCount else { return false }
        _ = take(gap)
        let frame = take(header.frameByteCount)
        var bytes = [UInt8](repeating: 0, count: Int(header.length))
        let isIntact = unsafe bytes.withUnsafeMutableBytes { output in
            unsafe cipher?.open(
                frame.span.extracting(droppingFirst: FrameHeader.byteCount),
                nonce: frame.span.extracting(first: FrameHeader.byteCount), into: output)
        }
        guard isIntact == true else { throw number == 0 ? .wrongKey : .damaged }
        number = header.number
        position.audio += bytes.count
        beginning += bytes
        isWhole = header.isEnd
        return true
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        let bytes = Array(pending[taken..<taken + count])
        taken += count
        position.file += count
        return bytes
    }

    private var rest: Int { pending.count - taken }
}
