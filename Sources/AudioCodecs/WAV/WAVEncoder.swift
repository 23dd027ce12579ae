// SPDX-License-Identifier: Apache-2.0

extension AudioCodec {
    /// Signed 16-bit little-endian samples at 16 kHz, mono, without a header: a WAV file's body.
    public static let pcm = AudioCodec(
        name: "pcm", mediaType: "audio/pcm;rate=16000;channels=1", mediaTypes: [],
        bodyOffset: WAVEncoder.headerByteCount)

    /// The same samples behind a WAV header of unknown length (`0xFFFFFFFF` in both fields).
    public static let wav = AudioCodec(
        name: "wav", mediaType: "audio/wav",
        mediaTypes: ["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"], bodyOffset: 0)

    package static func makeWAVEncoder() -> any AudioEncoder { WAVEncoder() }

    private init(name: String, mediaType: String, mediaTypes: [String], bodyOffset: Int) {
        self.init(
            name: name, title: "WAV", fileExtension: "wav", fileExtensions: ["wav"],
            mediaType: mediaType, mediaTypes: mediaTypes, header: WAVEncoder.header,
            bodyOffset: bodyOffset, highestByteRate: 32_000, nominalByteRate: 32_000,
            isLossless: true,
            encoder: { _ in WAVEncoder() }, makeDecoder: { WAVDecoder() },
            makeRecoverer: { WAVRecoverer(dropsEmptyTail: $0) })
    }
}

/// Writes PCM behind a WAV header of unknown length.
///
/// The header, offset and bytes, little-endian: 0 `RIFF`; 4 the size `0xFFFFFFFF`; 8 `WAVE`;
/// 12 `fmt `; 16 its size 16; 20 format tag 1 (PCM); 22 channels 1; 24 rate 16000 Hz; 28 bytes
/// per second 32000; 32 bytes per frame 2; 34 bits per sample 16; 36 `data`; 40 the size
/// `0xFFFFFFFF`; 44 signed 16-bit samples to the end of the file. Both sizes stand for
/// "unknown": it is the only pair that sox, ffmpeg and Python's `wave` all read to the end.
final class WAVEncoder: AudioEncoder {
    static let headerByteCount = 44

    static let header: [UInt8] =
        Array("RIFF".utf8) + [0xFF, 0xFF, 0xFF, 0xFF] + Array("WAVEfmt ".utf8)
        + [16, 0, 0, 0, 1, 0, 1, 0, 0x80, 0x3E, 0, 0, 0x00, 0x7D, 0, 0, 2, 0, 16, 0]
        + Array("data".utf8) + [0xFF, 0xFF, 0xFF, 0xFF]

    private var byteCount = 0

    init() {}

    func begin(into output: inout [UInt8]) throws(EncodingError) {
        output.append(contentsOf: Self.header)
    }

    func encode(
        _ frames: Span<Int16>, into output: inout [UInt8]
    ) throws(EncodingError) {
        byteCount += 2 * frames.count
        // Every machine that Swift runs on keeps its samples as the file does: little-endian.
        unsafe frames.withUnsafeBytes { unsafe output.append(contentsOf: $0) }
    }

    func finish(into output: inout [UInt8]) throws(EncodingError) {}

    /// The header with the two lengths; a longer file than they can say keeps the unknown ones.
    var settledHeader: [UInt8]? {
        guard byteCount < 0xFFFF_FFFF - Self.headerByteCount else { return nil }
        var header = Self.header
        for (offset, length) in [(4, byteCount + Self.headerByteCount - 8), (40, byteCount)] {
            for index in 0..<4 { header[offset + index] = UInt8(length >> (8 * index) & 0xFF) }
        }
        return header
    }

    func maximumByteCount(forFrames frames: Int) -> Int {
        Self.headerByteCount + 2 * frames
    }
}
