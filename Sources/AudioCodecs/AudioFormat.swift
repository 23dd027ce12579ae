// SPDX-License-Identifier: Apache-2.0

/// How audio travels to the service.
///
/// The journal of a take is always a file that players open; what is sent is that file from
/// `bodyOffset` on. So raw PCM is the WAV journal without its header.
public enum AudioFormat: String, Sendable, CaseIterable, Codable {
    /// Signed 16-bit little-endian samples at 16 kHz, mono, without a header.
    case pcm
    /// The same samples behind a WAV header of unknown length (`0xFFFFFFFF` in both fields).
    case wav
    /// Opus in Ogg (RFC 6716, RFC 7845).
    case oggOpus = "ogg-opus"

    /// The extension of the journal's file name, without the dot.
    public var fileExtension: String { self == .oggOpus ? "ogg" : "wav" }

    /// The offset in the journal at which the request body begins, in bytes.
    public var bodyOffset: Int { self == .pcm ? WAVEncoder.headerByteCount : 0 }

    /// The `Content-Type` of the request body (RFC 9110 §8.3).
    public var mediaType: String {
        switch self {
        case .pcm: "audio/pcm;rate=16000;channels=1"
        case .wav: "audio/wav"
        case .oggOpus: "audio/ogg;codecs=opus"
        }
    }

    /// The size of a ring that holds 30 s of speech, in bytes.
    public var ringByteCount: Int { self == .oggOpus ? 30 * 8_000 : 30 * 32_000 }

    /// What a second of speech comes to, in bytes; of Opus a generous mean.
    public var nominalByteRate: Int { self == .oggOpus ? 5_000 : 32_000 }

    /// Makes a new encoder for one take.
    ///
    /// - Parameter serialNumber: that of the Ogg stream, if there is one; random unless the same
    ///   bytes are wanted again.
    /// - Returns: the encoder.
    /// - Throws: `EncodingError` when the codec cannot be created.
    package func makeEncoder(
        serialNumber: UInt32 = .random(in: .min ... .max)
    ) throws(EncodingError) -> any AudioEncoder {
        switch self {
        case .pcm, .wav: WAVEncoder()
        case .oggOpus: try OggOpusEncoder(serialNumber: serialNumber)
        }
    }
}
