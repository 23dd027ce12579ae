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
