// SPDX-License-Identifier: Apache-2.0

extension AudioCodec {
    /// Opus in Ogg (RFC 6716, RFC 7845), as it suits speech.
    public static let oggOpus = oggOpus(OpusSettings())

    /// Opus in Ogg (RFC 6716, RFC 7845).
    ///
    /// - Parameter settings: bit rate, effort, and how much waits for a page; they are checked when
    ///   an encoder is made.
    /// - Returns: the codec.
    static func oggOpus(_ settings: OpusSettings) -> AudioCodec {
        AudioCodec(
            name: "ogg-opus", title: "Ogg Opus", fileExtension: "ogg",
            fileExtensions: ["ogg", "opus", "oga"], mediaType: "audio/ogg;codecs=opus",
            mediaTypes: ["audio/ogg", "application/ogg", "audio/opus"],
            highestByteRate: max(8_000, settings.bitrate / 4), nominalByteRate: 5_000,
            isLossless: false,
            // RFC 7845 §3: the first packet has the first page for itself.
            signature: [(0, Array("OggS".utf8)), (28, Array("OpusHead".utf8))],
            encoder: { serialNumber throws(EncodingError) in
                try OggOpusEncoder(settings: settings, serialNumber: serialNumber)
            },
            makeDecoder: { OggOpusDecoder() }, makeRecoverer: { _ in OggOpusRecoverer() })
    }
}
