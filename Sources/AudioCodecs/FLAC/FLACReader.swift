// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import CFLAC

/// Cuts a stream of bytes into FLAC frames and decodes them (RFC 9639), with libFLAC.
///
/// A frame does not say how long it is: libFLAC is given the bytes that are there, and again when
/// there are more, if they were not a whole one. It starts at the frame's first byte each time, so
/// that a frame is whole, with the right checksum, or it is not there. Memory is bounded by the
/// longest frame. Used by one thread at a time.
///
/// Sound because the C decoder is created and freed here, is never handed out, and its callbacks
/// are called within `nextFrame` only and use no pointer later.
@safe final class FLACReader {
    struct Frame: Equatable {
        var offset: Int
        var byteCount: Int
        var firstSample: Int
        var sampleCount: Int
        var format: StreamFormat
    }

    /// Bytes that libFLAC is given at once: what is not a frame is copied in vain.
    private static let pieceByteCount = 512

    /// The first bytes of a file.
    private static let magic = Array("fLaC".utf8)

    /// No frame is shorter, nor the name of a tag.
    private static let leastByteCount = 8

    /// No frame is longer: 65,535 samples in 8 channels of 32 bits, and what is around them.
    private static let longestFrame = 65_535 * 8 * 4 + 4_096

    private final class Exchange {
        /// Bytes from the first one of the frame that is being read.
        var bytes: [UInt8] = []
        var given = 0
        var isStarved = false
        var error: FLAC__StreamDecoderErrorStatus?
        var head: FLAC__FrameHeader?
        /// Its samples, interleaved, as 16 bits.
        var samples: [Int16] = []
    }

    private let decoder: UnsafeMutablePointer<FLAC__StreamDecoder>
    private let exchange = Exchange()
    /// Bytes that there must be before the next try is worth while.
    private var wantedByteCount = leastByteCount
    /// Bytes that have come, and those that libFLAC has read in vain: it may read far before it finds
    /// that something is not a frame.
    private var (byteCount, vainByteCount) = (0, 0)

    /// Where the next frame begins, in bytes from the start of the file.
    private(set) var offset: Int

    var samples: [Int16] { exchange.samples }

    var rest: [UInt8] { exchange.bytes }

    /// Whether bytes that only look like frames cost too much time to go on.
    var isHopeless: Bool { vainByteCount > 1 << 26 && vainByteCount / 64 > byteCount }

    /// Begins with the 34 bytes of the STREAMINFO block, and the offset of the first frame.
    init(streamInfo: [UInt8], offset: Int) throws(UndecodableAudio) {
        self.offset = offset
        guard let decoder = unsafe FLAC__stream_decoder_new() else {
            throw UndecodableAudio("FLAC: out of memory")
        }
        unsafe self.decoder = decoder
        let status = unsafe FLAC__stream_decoder_init_stream(
            decoder, { unsafe FLACReader.give($1, $2, $3) }, nil,
            { unsafe FLACReader.tell($1, $2) }, nil, nil, { unsafe FLACReader.take($1, $2, $3) },
            nil, { unsafe FLACReader.note($1, $2) }, Unmanaged.passUnretained(exchange).toOpaque())
        guard status == FLAC__STREAM_DECODER_INIT_STATUS_OK else {
            throw UndecodableAudio("FLAC: no decoder can be made")
        }
        try read(streamInfo)
    }

    /// Has libFLAC read the frames that follow by this STREAMINFO block.
    private func read(_ streamInfo: [UInt8]) throws(UndecodableAudio) {
        // The last block, of this type and length (RFC 9639 §8.1). Where two sizes of frames are
        // named, libFLAC would refuse all that have numbers instead of positions.
        let head = Self.magic + [0x80, 0, 0, 34] + streamInfo[2..<4] + streamInfo[2...]
        exchange.bytes = head + exchange.bytes
        offset -= head.count
        guard unsafe FLAC__stream_decoder_process_until_end_of_metadata(decoder) != 0,
            exchange.error == nil
        else { throw UndecodableAudio("FLAC: its first block is damaged") }
        begin(at: head.count)
    }

    /// Goes behind the STREAMINFO block with which a further file begins: its frames are numbered by the
    /// sizes that are named there.
    ///
    /// - Returns: false where no file begins; nil when more bytes are needed.
    func beginFile() throws(UndecodableAudio) -> Bool? {
        let block = Self.magic.count + 4..<Self.magic.count + 4 + 34
        let head = rest.prefix(block.lowerBound)
        guard head.count == block.lowerBound, head.starts(with: Self.magic),
            head[4] & 0x7F == 0, head[5...] == [0, 0, 34]
        else { return false }
        guard rest.count >= block.upperBound else { return nil }
        let streamInfo = Array(rest[block])
        begin(at: block.upperBound)
        exchange.error = nil
        unsafe FLAC__stream_decoder_reset(decoder)
        try read(streamInfo)
        return true
    }

    deinit { unsafe FLAC__stream_decoder_delete(decoder) }

    func append(_ bytes: Span<UInt8>) {
        for index in bytes.indices { exchange.bytes.append(bytes[index]) }
        byteCount += bytes.count
    }

    /// Reads the next frame, and makes its samples the ones of `samples`; nil when more bytes are
    /// needed.
    func nextFrame(isLast: Bool = false) throws(UndecodableAudio) -> Frame? {
        guard !rest.isEmpty, isLast || exchange.bytes.count >= wantedByteCount else { return nil }
        exchange.samples.removeAll(keepingCapacity: true)
        (exchange.head, exchange.error) = (nil, nil)
        let isRead = unsafe FLAC__stream_decoder_process_single(decoder) != 0
        if let error = exchange.error { throw damage(Self.reason(error)) }
        guard isRead, let head = exchange.head else {
            guard exchange.isStarved else { throw damage("it cannot be read") }
            guard exchange.bytes.count < Self.longestFrame else { throw damage("it has no end") }
            // Each byte alone would be too little to try again for.
            wantedByteCount = exchange.bytes.count + max(1, exchange.bytes.count / 8)
            vainByteCount += exchange.given
            rewind()
            return nil
        }
        var end: UInt64 = 0
        guard unsafe FLAC__stream_decoder_get_decode_position(decoder, &end) != 0 else {
            throw damage("its end is not known")
        }
        let frame = unsafe Frame(
            offset: offset, byteCount: Int(end), firstSample: Int(head.number.sample_number),
            sampleCount: Int(head.blocksize),
            format: StreamFormat(
                sampleRate: Int(head.sample_rate), channelCount: Int(head.channels)))
        begin(at: Int(end))
        return frame
    }

    /// Goes behind the byte at which no frame begins, to where the next one or a file may; false when
    /// no byte that is there looks like it.
    func skip() -> Bool {
        let bytes = exchange.bytes
        // Fourteen bits that are set, and one that is not (RFC 9639 §9.1).
        let next = bytes.indices.dropFirst().first {
            bytes[$0] == 0xFF && ($0 + 1 == bytes.count || bytes[$0 + 1] & 0xFE == 0xF8)
                || bytes[$0] == Self.magic[0] && Self.magic.starts(with: bytes[$0...].prefix(4))
        }
        begin(at: next ?? bytes.count)
        return next != nil
    }

    private func begin(at index: Int) {
        offset += index
        exchange.bytes.removeFirst(index)
        wantedByteCount = Self.leastByteCount
        rewind()
    }

    private func rewind() {
        exchange.given = 0
        exchange.isStarved = false
        unsafe FLAC__stream_decoder_flush(decoder)
    }

    private func damage(_ reason: String) -> UndecodableAudio {
        vainByteCount += exchange.given
        rewind()
        return UndecodableAudio("FLAC: no intact frame begins at byte \(offset): \(reason)")
    }

    private static func reason(_ error: FLAC__StreamDecoderErrorStatus) -> String {
        switch error {
        case FLAC__STREAM_DECODER_ERROR_STATUS_FRAME_CRC_MISMATCH: "its checksum is wrong"
        case FLAC__STREAM_DECODER_ERROR_STATUS_BAD_HEADER: "its head is damaged"
        default: "something else is there"
        }
    }
}

// MARK: - Called by libFLAC

extension FLACReader {
    private static func exchange(_ data: UnsafeMutableRawPointer?) -> Exchange? {
        unsafe data.map { unsafe Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func give(
        _ buffer: UnsafeMutablePointer<FLAC__byte>?, _ count: UnsafeMutablePointer<Int>?,
        _ data: UnsafeMutableRawPointer?
    ) -> FLAC__StreamDecoderReadStatus {
        guard let exchange = unsafe exchange(data), let buffer = unsafe buffer,
            let count = unsafe count
        else { return FLAC__STREAM_DECODER_READ_STATUS_ABORT }
        let rest = exchange.bytes.count - exchange.given
        guard rest > 0 else {
            exchange.isStarved = true
            unsafe count.pointee = 0
            return FLAC__STREAM_DECODER_READ_STATUS_ABORT
        }
        unsafe count.pointee = min(count.pointee, rest, pieceByteCount)
        for index in 0..<(unsafe count.pointee) {
            unsafe buffer[index] = exchange.bytes[exchange.given + index]
        }
        exchange.given += unsafe count.pointee
        return FLAC__STREAM_DECODER_READ_STATUS_CONTINUE
    }

    private static func tell(
        _ offset: UnsafeMutablePointer<UInt64>?, _ data: UnsafeMutableRawPointer?
    ) -> FLAC__StreamDecoderTellStatus {
        guard let exchange = unsafe exchange(data), let offset = unsafe offset else {
            return FLAC__STREAM_DECODER_TELL_STATUS_ERROR
        }
        unsafe offset.pointee = UInt64(exchange.given)
        return FLAC__STREAM_DECODER_TELL_STATUS_OK
    }

    private static func take(
        _ frame: UnsafePointer<FLAC__Frame>?,
        _ channels: UnsafePointer<UnsafePointer<FLAC__int32>?>?, _ data: UnsafeMutableRawPointer?
    ) -> FLAC__StreamDecoderWriteStatus {
        guard let exchange = unsafe exchange(data), let head = unsafe frame?.pointee.header,
            let channels = unsafe channels
        else { return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT }
        exchange.head = head
        let shift = Int(head.bits_per_sample) - 16
        for sample in 0..<Int(head.blocksize) {
            for channel in 0..<Int(head.channels) {
                let value = unsafe Int(channels[channel]?[sample] ?? 0)
                exchange.samples.append(rounded(value, shift: shift))
            }
        }
        return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE
    }

    /// The nearest 16-bit value of one that has `shift` bits more, or fewer; halves go up.
    private static func rounded(_ value: Int, shift: Int) -> Int16 {
        guard shift > 0 else { return Int16(clamping: value << -shift) }
        return Int16(clamping: (value + 1 << (shift - 1)) >> shift)
    }

    private static func note(
        _ error: FLAC__StreamDecoderErrorStatus, _ data: UnsafeMutableRawPointer?
    ) {
        unsafe exchange(data)?.error = error
    }
}
