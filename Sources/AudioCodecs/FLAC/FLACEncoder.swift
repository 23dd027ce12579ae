// SPDX-License-Identifier: Apache-2.0

internal import CFLAC

extension AudioCodec {
    /// FLAC (RFC 9639): the same samples in some 60 % of the bytes.
    ///
    /// It is of the streamable subset (§7): each frame says how to decode it.
    public static let flac = AudioCodec(
        name: "flac", title: "FLAC", fileExtension: "flac", fileExtensions: ["flac"],
        mediaType: "audio/flac", mediaTypes: ["audio/flac", "audio/x-flac"],
        // Noise cannot be compressed, and each frame has a head.
        highestByteRate: 34_000, nominalByteRate: 20_000, isLossless: true,
        length: (FLACHeader.sampleCountPlace, { FLACHeader.sampleCountBytes($0) }),
        encoder: { _, _ throws(EncodingError) in try FLACEncoder() },
        makeDecoder: { FLACDecoder() }, makeRecoverer: { _ in FLACRecoverer() })
}

/// Writes FLAC (RFC 9639) with libFLAC: 16 kHz, mono, 16 bits, in frames of 20 ms.
///
/// The file: `fLaC`, a STREAMINFO block whose totals are unknown (§8.2 has 0 for that), a comment
/// block that names libFLAC, then one frame after the other, each with its number and two
/// checksums. Equal samples make equal bytes, however they are divided among the calls.
///
/// Safe because the pointer is created in `init`, never handed out, and freed in `deinit`, before what
/// its callbacks write to.
@safe final class FLACEncoder: AudioEncoder {
    /// Samples in one frame of the file.
    ///
    /// libFLAC writes a frame when it has one sample more than the frame holds, so that this is a
    /// period of 20 ms and not two. Samples that wait for their frame are delayed, and a killed
    /// program loses them; frames of 40 ms would be 4 % smaller.
    static let samplesPerFrame = 319

    /// libFLAC's 0 to 8; above 3 speech gains less than 1 %.
    private static let compressionLevel: UInt32 = 3

    /// A frame's head and checksums: at most 16 and 2 bytes (RFC 9639 §9.1, §9.3), and its one
    /// subframe's head.
    private static let frameOverhead = 19

    private final class Output {
        var bytes: [UInt8] = []
        var totals: FLAC__StreamMetadata_StreamInfo?
    }

    private let encoder: UnsafeMutablePointer<FLAC__StreamEncoder>
    private let output = Output()
    let header: [UInt8]
    private var samples: [Int32] = []

    init() throws(EncodingError) {
        guard let encoder = unsafe FLAC__stream_encoder_new() else {
            throw .codecFailed(operation: "FLAC__stream_encoder_new", reason: "out of memory")
        }
        unsafe self.encoder = encoder
        unsafe FLAC__stream_encoder_set_channels(encoder, 1)
        unsafe FLAC__stream_encoder_set_bits_per_sample(encoder, 16)
        unsafe FLAC__stream_encoder_set_sample_rate(encoder, 16_000)
        unsafe FLAC__stream_encoder_set_compression_level(encoder, Self.compressionLevel)
        unsafe FLAC__stream_encoder_set_blocksize(encoder, UInt32(Self.samplesPerFrame))
        unsafe FLAC__stream_encoder_set_streamable_subset(encoder, 1)
        let status = unsafe FLAC__stream_encoder_init_stream(
            encoder, { unsafe FLACEncoder.write($1, $2, to: $5) }, nil, nil,
            { unsafe FLACEncoder.settle($1, in: $2) }, Unmanaged.passUnretained(output).toOpaque())
        guard status == FLAC__STREAM_ENCODER_INIT_STATUS_OK else {
            throw unsafe Self.failure("FLAC__stream_encoder_init_stream", of: encoder)
        }
        header = output.bytes
        output.bytes.removeAll(keepingCapacity: true)
    }

    deinit { unsafe FLAC__stream_encoder_delete(encoder) }

    func begin(into output: inout [UInt8]) throws(EncodingError) {
        output.append(contentsOf: header)
    }

    func encode(
        _ frames: Span<Int16>, into output: inout [UInt8]
    ) throws(EncodingError) {
        samples.removeAll(keepingCapacity: true)
        for index in frames.indices { samples.append(Int32(frames[index])) }
        let isDone = unsafe FLAC__stream_encoder_process_interleaved(
            encoder, samples, UInt32(samples.count))
        guard isDone != 0 else {
            throw unsafe Self.failure("FLAC__stream_encoder_process_interleaved", of: encoder)
        }
        hand(to: &output)
    }

    func finish(into output: inout [UInt8]) throws(EncodingError) {
        guard unsafe FLAC__stream_encoder_finish(encoder) != 0 else {
            throw unsafe Self.failure("FLAC__stream_encoder_finish", of: encoder)
        }
        hand(to: &output)
    }

    /// The header with the number of samples, the shortest and the longest frame, and the MD5 of all
    /// samples (RFC 9639 §8.2).
    var settledHeader: [UInt8]? {
        guard let totals = output.totals else { return nil }
        // The block begins behind `fLaC` and four bytes of its own.
        var header = header
        func put(_ value: UInt64, in bytes: Range<Int>) {
            for (place, index) in bytes.reversed().enumerated() {
                header[8 + index] = UInt8(truncatingIfNeeded: value >> (8 * place))
            }
        }
        put(UInt64(totals.min_framesize), in: 4..<7)
        put(UInt64(totals.max_framesize), in: 7..<10)
        header.replaceSubrange(
            FLACHeader.sampleCountPlace,
            with: FLACHeader.sampleCountBytes(Int(clamping: totals.total_samples)))
        unsafe withUnsafeBytes(of: totals.md5sum) { sum in
            for index in 0..<16 { unsafe header[8 + 18 + index] = sum[index] }
        }
        return header
    }

    /// Every frame as long as samples that cannot be compressed make it.
    func maximumByteCount(forFrames frames: Int) -> Int {
        let count = (frames + Self.samplesPerFrame) / Self.samplesPerFrame + 1
        return header.count + count * (Self.frameOverhead + 2 * Self.samplesPerFrame)
    }

    /// A file of its own from frames of another file that follow each other: the same samples.
    static func file(of frames: [UInt8]) throws -> [UInt8] {
        let encoder = try FLACEncoder()
        let info = FLACHeader.streamInfo(in: encoder.header)
        let reader = try FLACReader(streamInfo: info, offset: 0)
        var (body, rest): ([UInt8], Span<UInt8>) = ([], frames.span)
        // Each frame that is read moves all bytes that the reader has behind it.
        while !rest.isEmpty {
            reader.append(rest.extracting(first: pieceByteCount))
            rest = rest.extracting(droppingFirst: pieceByteCount)
            while try reader.nextFrame(isLast: rest.isEmpty) != nil {
                try encoder.encode(reader.samples.span, into: &body)
            }
        }
        try encoder.finish(into: &body)
        return (encoder.settledHeader ?? encoder.header) + body
    }

    private static let pieceByteCount = 4_096

    /// Frames of silence by their numbers, in the place of lost ones; also of the header, if asked for.
    static func silence(
        _ frames: Range<Int>, withHeader: Bool
    ) throws(EncodingError) -> [UInt8] {
        let encoder = try FLACEncoder()
        var (bytes, before): ([UInt8], [UInt8]) = ([], [])
        if withHeader { try encoder.begin(into: &bytes) }
        let silence = [Int16](repeating: 0, count: samplesPerFrame)
        for number in 0..<frames.upperBound {
            // A frame comes with the first sample behind it.
            if number <= frames.lowerBound {
                before = []
                try encoder.encode(silence.span, into: &before)
            } else {
                try encoder.encode(silence.span, into: &bytes)
            }
        }
        if !frames.isEmpty { try encoder.finish(into: &bytes) }
        return bytes
    }

    private func hand(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: output.bytes)
        output.bytes.removeAll(keepingCapacity: true)
    }

    private static func failure(
        _ operation: String, of encoder: UnsafeMutablePointer<FLAC__StreamEncoder>
    ) -> EncodingError {
        let reason = unsafe FLAC__stream_encoder_get_resolved_state_string(encoder)
        return .codecFailed(
            operation: operation, reason: unsafe reason.map { unsafe String(cString: $0) } ?? "")
    }

    private static func write(
        _ bytes: UnsafePointer<FLAC__byte>?, _ count: Int, to output: UnsafeMutableRawPointer?
    ) -> FLAC__StreamEncoderWriteStatus {
        guard let output = unsafe output else {
            return FLAC__STREAM_ENCODER_WRITE_STATUS_FATAL_ERROR
        }
        unsafe Unmanaged<Output>.fromOpaque(output).takeUnretainedValue().bytes
            .append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
        return FLAC__STREAM_ENCODER_WRITE_STATUS_OK
    }

    private static func settle(
        _ metadata: UnsafePointer<FLAC__StreamMetadata>?, in output: UnsafeMutableRawPointer?
    ) {
        guard let metadata = unsafe metadata?.pointee, let output = unsafe output,
            unsafe metadata.type == FLAC__METADATA_TYPE_STREAMINFO
        else { return }
        let totals = unsafe metadata.data.stream_info
        unsafe Unmanaged<Output>.fromOpaque(output).takeUnretainedValue().totals = totals
    }
}
