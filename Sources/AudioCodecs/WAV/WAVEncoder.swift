// SPDX-License-Identifier: Apache-2.0

extension AudioCodec {
    /// Signed 16-bit little-endian samples at 16 kHz, mono, without a header: a WAV file's body.
    public static let pcm = AudioCodec(
        name: "pcm", mediaType: "audio/pcm;rate=16000;channels=1", mediaTypes: [],
        bodyOffset: WAVEncoder.headerByteCount)

    /// The same samples behind a WAV header of unknown length (`0xFFFFFFFF` in both fields).
    public static let wav = AudioCodec(
        name: "wav", mediaType: "audio/wav",
        mediaTypes: ["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"], bodyOffset: 0,
        storedLength: (0..<WAVEncoder.headerByteCount, WAVEncoder.storedHeader(frames:)))

    package static func makeWAVEncoder() -> any AudioEncoder { WAVEncoder() }

    private init(
        name: String, mediaType: String, mediaTypes: [String], bodyOffset: Int,
        storedLength: Length? = nil
    ) {
        self.init(
            name: name, title: "WAV", fileExtension: "wav", fileExtensions: ["wav"],
            mediaType: mediaType, mediaTypes: mediaTypes, header: WAVEncoder.header,
            bodyOffset: bodyOffset, highestByteRate: 32_000, nominalByteRate: 32_000,
            isLossless: true, storedLength: storedLength,
            encoder: { WAVEncoder(frames: $1) }, makeDecoder: { WAVDecoder() },
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
///
/// The header of a file of more than 4 GiB has room for 64-bit sizes before `fmt `: a chunk `JUNK`
/// of 28 bytes, which becomes `ds64` of an RF64 file when the sizes are known (EBU Tech 3306).
final class WAVEncoder: AudioEncoder {
    static let header = makeHeader(byteCount: nil)
    static let headerByteCount = 44

    private let isLong: Bool
    private var byteCount = 0

    /// - Parameter frames: how many will come, as far as is known.
    init(frames: Int = 0) {
        isLong = Self.isLong(byteCount: 2 * frames)
    }

    func begin(into output: inout [UInt8]) throws(EncodingError) {
        output.append(contentsOf: Self.makeHeader(isLong: isLong, byteCount: nil))
    }

    func encode(
        _ frames: Span<Int16>, into output: inout [UInt8]
    ) throws(EncodingError) {
        byteCount += 2 * frames.count
        // Every machine that Swift runs on keeps its samples as the file does: little-endian.
        unsafe frames.withUnsafeBytes { unsafe output.append(contentsOf: $0) }
    }

    func finish(into output: inout [UInt8]) throws(EncodingError) {}

    /// The header with the lengths; a file that grew longer than was known keeps the unknown ones.
    var settledHeader: [UInt8]? {
        guard isLong || !Self.isLong(byteCount: byteCount) else { return nil }
        return Self.makeHeader(isLong: isLong, byteCount: byteCount)
    }

    func maximumByteCount(forFrames frames: Int) -> Int {
        Self.headerByteCount + 2 * frames
    }

    /// The header of a file with this many samples; empty for one that needs more than 32 bits.
    static func storedHeader(frames: Int) -> [UInt8] {
        isLong(byteCount: 2 * frames) ? [] : makeHeader(byteCount: 2 * frames)
    }

    /// Whether 32 bits cannot hold the size of a file with this many bytes of samples.
    private static func isLong(byteCount: Int) -> Bool {
        byteCount + headerByteCount >= longestByteCount
    }

    /// Readers, ours too, take greater sizes for unknown ones.
    private static let longestByteCount = 0xFFFF_F000

    /// Makes the header for this many bytes of samples; nil: their number is unknown.
    static func makeHeader(isLong: Bool = false, byteCount: Int?) -> [UInt8] {
        let unknown = 0xFFFF_FFFF
        let room = 28
        let size = byteCount.map { $0 + headerByteCount - 8 + (isLong ? 8 + room : 0) } ?? unknown
        let isRF64 = isLong && byteCount != nil && size >= longestByteCount
        var bytes: [UInt8] = []
        func put(_ name: String) { bytes += Array(name.utf8) }
        func put(_ value: Int, _ count: Int) {
            for place in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * place))) }
        }
        put(isRF64 ? "RF64" : "RIFF")
        put(isRF64 ? unknown : size, 4)
        put("WAVE")
        if isLong {
            put(isRF64 ? "ds64" : "JUNK")
            put(room, 4)
            let samples = isRF64 ? byteCount ?? 0 : 0
            for value in [isRF64 ? size : 0, samples, samples / 2] { put(value, 8) }
            // No other chunk is as long.
            put(0, 4)
        }
        put("fmt ")
        for (value, count) in [(16, 4), (1, 2), (1, 2), (16_000, 4), (32_000, 4), (2, 2), (16, 2)] {
            put(value, count)
        }
        put("data")
        put(isRF64 ? unknown : byteCount ?? unknown, 4)
        return bytes
    }
}
