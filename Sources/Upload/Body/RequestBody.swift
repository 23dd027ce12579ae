// SPDX-License-Identifier: Apache-2.0

package import Cryptography
internal import Glibc
package import LinuxPlatform

/// The body of one request: bytes, a recording from some byte on, and bytes again.
///
/// Such as nothing but the recording, a form around it, or a JSON document in which it stands in
/// base64. It is read at any offset and remembers none: an attempt begins at 0, and each attempt
/// reads the same bytes. *Wire* offsets count bytes of the request, which may be a range of the whole
/// body; *source* offsets count bytes of the recording.
package struct RequestBody: Sendable {
    package enum Transform: Sendable, Equatable {
        case none
        /// RFC 4648 §4, without line breaks.
        case base64
    }

    var prologue: [UInt8]
    var source: any BodySource
    /// The byte of the source at which the body begins to read.
    var sourceStart: Int
    var transform: Transform
    var epilogue: [UInt8]
    /// The byte of the whole body at which the request begins: the service has those before it.
    package var start = 0
    /// The most bytes that the request sends; nil: all.
    package var limit: Int?
    /// Sends `Content-Length` instead of chunks; only for a body whose bytes are all there.
    package var saysLength = false

    package init(
        _ source: any BodySource, from sourceStart: Int = 0, prologue: [UInt8] = [],
        transform: Transform = .none, epilogue: [UInt8] = []
    ) {
        self.source = source
        self.sourceStart = sourceStart
        self.prologue = prologue
        self.transform = transform
        self.epilogue = epilogue
    }

    package init(_ bytes: [UInt8]) {
        self.init(NoSource(), prologue: bytes)
        saysLength = true
    }

    // MARK: - Offsets

    /// In bytes of the whole body, but for the recording's.
    private struct Extent {
        /// The end of the recording's bytes so far.
        let sourceEnd: Int
        let sourceByteCount: Int
        /// The end of the whole body, with the epilogue; nil while the recording grows.
        let wholeEnd: Int?
        /// The end of what the request sends; nil while it is not known.
        let end: Int?
    }

    private var extent: Extent {
        // Asked first: when it is true, the count that is read after it is final.
        let isFinal = source.isComplete
        let count = max(0, source.byteCount - sourceStart)
        let wireCount =
            switch transform {
            case .none: count
            case .base64: isFinal ? Base64.characterCount(of: count) : count / 3 * 4
            }
        let sourceEnd = prologue.count + wireCount
        let wholeEnd = isFinal ? sourceEnd + epilogue.count : nil
        let mostEnd = limit.map { start + $0 } ?? .max
        let end = wholeEnd.map { max(start, min($0, mostEnd)) }
        return Extent(
            sourceEnd: sourceEnd, sourceByteCount: count, wholeEnd: wholeEnd,
            end: end ?? (sourceEnd >= mostEnd ? mostEnd : nil))
    }

    /// The bytes of the whole body that are there, and whether they are all.
    var available: (byteCount: Int, isWhole: Bool) {
        let extent = extent
        return (extent.wholeEnd ?? extent.sourceEnd, extent.wholeEnd != nil)
    }

    /// Bytes on the wire; nil while they are not known.
    var byteCount: Int? { extent.end.map { $0 - start } }

    /// Bytes of the whole body; nil while the recording grows.
    package var wholeByteCount: Int? { extent.wholeEnd }

    /// The length that the request states; nil for a body in chunks.
    var contentLength: Int? { saysLength ? byteCount : nil }

    func isReady(at offset: Int) -> Bool {
        let extent = extent
        return extent.end != nil || start + offset < extent.sourceEnd
    }

    /// Whether the bytes before a wire offset are all.
    package func isWhole(at offset: Int) -> Bool { byteCount.map { offset >= $0 } ?? false }

    /// Whether the bytes before a wire offset show the service that the recording has ended.
    ///
    /// A body in chunks without an epilogue shows it only by its last chunk.
    func tellsEnd(at offset: Int) -> Bool {
        if saysLength, isWhole(at: offset) { return true }
        let extent = extent
        return extent.wholeEnd != nil && start + offset > extent.sourceEnd
    }

    /// Bytes of the source that end before a wire offset, those that the service has before the
    /// request among them.
    func sourceByteCount(at offset: Int) -> Int {
        let wireCount = max(0, start + offset - prologue.count)
        let count =
            switch transform {
            case .none: source.recordingByteCount(at: wireCount)
            // The first character of a group holds no whole byte, each further one one.
            case .base64: wireCount / 4 * 3 + max(0, wireCount % 4 - 1)
            }
        return min(count, source.recordingByteCount(at: extent.sourceByteCount))
    }

    // MARK: - Reading

    package enum Read: Sendable, Equatable {
        /// At least one byte, at the start of the buffer.
        case bytes(Int)
        case nothingYet
        case end
    }

    /// Reads from a wire offset, perhaps less than fits.
    ///
    /// The offset is not beyond what was read before; the buffer is not empty.
    func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Read {
        let extent = extent
        let place = start + offset
        let most = min(buffer.count, (extent.end ?? .max) - place)
        var filled = 0
        while filled < most {
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<most])
            let count = unsafe try readPart(at: place + filled, of: extent, into: room)
            guard count > 0 else { break }
            filled += count
        }
        if filled > 0 { return .bytes(filled) }
        return extent.end.map { place >= $0 } ?? false ? .end : .nothingYet
    }

    /// The offset counts bytes of the whole body.
    private func readPart(
        at offset: Int, of extent: Extent, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        if offset < prologue.count {
            return unsafe buffer.fill(from: prologue[offset...])
        }
        if offset < extent.sourceEnd {
            let room = unsafe UnsafeMutableRawBufferPointer(
                rebasing: buffer[..<min(buffer.count, extent.sourceEnd - offset)])
            let place = offset - prologue.count
            switch transform {
            case .none:
                return unsafe try source.readBytes(at: sourceStart + place, into: room)
            case .base64:
                return unsafe try readBase64(at: place, of: extent.sourceByteCount, into: room)
            }
        }
        guard extent.wholeEnd != nil else { return 0 }
        return unsafe buffer.fill(from: epilogue[(offset - extent.sourceEnd)...])
    }

    /// `place` counts characters of the recording from its first one.
    private func readBase64(
        at place: Int, of sourceByteCount: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let (first, skipped) = place.quotientAndRemainder(dividingBy: 4)
        let groupCount = (skipped + buffer.count + 3) / 4
        let wanted = min(groupCount * 3, sourceByteCount - first * 3)
        var bytes = [UInt8](repeating: 0, count: wanted)
        var found = 0
        // A group is encoded whole, and a source may give less than it was asked for.
        while found < wanted {
            let count = try bytes.fill(from: source, at: sourceStart + first * 3 + found, to: found)
            guard count > 0 else { break }
            found += count
        }
        if found < wanted { bytes.removeSubrange((found / 3 * 3)...) }
        return unsafe buffer.fill(from: Base64.encoded(bytes).dropFirst(skipped))
    }
}

private struct NoSource: BodySource {
    let byteCount = 0
    let isComplete = true

    func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int { 0 }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func fill(from bytes: ArraySlice<UInt8>) -> Int {
        let piece = bytes.prefix(count)
        unsafe copyBytes(from: piece)
        return piece.count
    }
}

extension [UInt8] {
    package mutating func fill(
        from source: any BodySource, at offset: Int, to place: Int
    ) throws(SystemError) -> Int {
        let found = unsafe withUnsafeMutableBytes { bytes in
            Result { () throws(SystemError) in
                unsafe try source.readBytes(
                    at: offset, into: UnsafeMutableRawBufferPointer(rebasing: bytes[place...]))
            }
        }
        return try found.get()
    }
}

extension RequestBody {
    /// The encrypted form of this body, behind a head that says what it is; without a form it cannot
    /// be read.
    package func sealed(_ head: SealedHead, by form: SealedBody?) -> RequestBody {
        var plain = self
        plain.prologue = head.bytes + prologue
        return RequestBody(SealedSource(plain: plain, form: form))
    }
}

private struct SealedSource: BodySource {
    let plain: RequestBody
    let form: SealedBody?

    var isComplete: Bool { plain.available.isWhole }

    var byteCount: Int {
        let available = plain.available
        return SealedBody.byteCount(of: available.byteCount, isWhole: available.isWhole)
    }

    func recordingByteCount(at offset: Int) -> Int {
        plain.sourceByteCount(at: SealedBody.plainByteCount(at: offset))
    }

    func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        guard let form else { throw SystemError(call: "encrypt", code: ENOKEY) }
        let available = plain.available
        return unsafe try form.read(
            at: offset, of: available.byteCount, isWhole: available.isWhole, into: buffer
        ) { start, frame throws(SystemError) in
            var filled = 0
            while filled < frame.count {
                let room = unsafe UnsafeMutableRawBufferPointer(rebasing: frame[filled...])
                guard case .bytes(let count) = unsafe try plain.read(at: start + filled, into: room)
                else { throw SystemError(call: "read the recording", code: EIO) }
                filled += count
            }
        }
    }
}

/// The bytes of a recording, which grow until they are complete.
///
/// From any thread; no call waits for more bytes.
package protocol BodySource: Sendable {
    var byteCount: Int { get }

    /// Once true, `byteCount` is final.
    var isComplete: Bool { get }

    /// The offset is below `byteCount`, and the buffer is not empty.
    ///
    /// - Returns: the bytes at the start of the buffer, perhaps fewer than fit; 0 only when none
    ///   are there.
    func readBytes(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int

    /// Bytes of the recording among those before an offset.
    func recordingByteCount(at offset: Int) -> Int
}

extension BodySource {
    package func recordingByteCount(at offset: Int) -> Int { offset }
}
