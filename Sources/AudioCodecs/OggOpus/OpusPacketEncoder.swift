// SPDX-License-Identifier: Apache-2.0

internal import COpus

/// One libopus encoder for 16 kHz mono speech.
///
/// Sound because the pointer is created in `init`, never handed out, and destroyed in `deinit`.
@safe struct OpusPacketEncoder: ~Copyable {
    /// Frames in one packet, which is 20 ms.
    static let framesPerPacket = 320

    /// The longest packet of one Opus frame, in bytes: its head and 1275 (RFC 6716 §3.4).
    static let maximumPacketByteCount = 1_276

    /// Frames by which the decoded audio lags behind; 104 in libopus 1.3.
    let lookahead: Int

    private let encoder: OpaquePointer

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - bitrate: bits per second that the codec aims at.
    ///   - complexity: 0 to 10.
    /// - Throws: `EncodingError.codecFailed` when there is no memory or a setting is refused.
    ///
    /// The corresponding C function is `opus_encoder_create`.
    init(bitrate: Int, complexity: Int) throws(EncodingError) {
        var code: Int32 = 0
        let created = unsafe opus_encoder_create(16_000, 1, OPUS_APPLICATION_VOIP, &code)
        guard let encoder = unsafe created else {
            throw Self.failure("opus_encoder_create", code)
        }
        let settings = [
            (OPUS_SET_BITRATE_REQUEST, bitrate), (OPUS_SET_COMPLEXITY_REQUEST, complexity),
            (OPUS_SET_SIGNAL_REQUEST, Int(OPUS_SIGNAL_VOICE)), (OPUS_SET_LSB_DEPTH_REQUEST, 16),
        ]
        for (request, value) in settings where code == OPUS_OK {
            code = unsafe utter_opus_encoder_set(encoder, request, Int32(value))
        }
        var frames: Int32 = 0
        if code == OPUS_OK {
            code = unsafe utter_opus_encoder_get(encoder, OPUS_GET_LOOKAHEAD_REQUEST, &frames)
        }
        guard code == OPUS_OK else {
            unsafe opus_encoder_destroy(encoder)
            throw Self.failure("opus_encoder_ctl", code)
        }
        unsafe self.encoder = encoder
        lookahead = Int(frames)
    }

    deinit {
        unsafe opus_encoder_destroy(encoder)
    }

    /// Encodes one packet.
    ///
    /// - Parameters:
    ///   - frames: `framesPerPacket` samples.
    ///   - packet: its elements are overwritten; `maximumPacketByteCount` of them suffice.
    /// - Returns: the packet's length, in bytes.
    /// - Throws: `EncodingError.codecFailed` with the library's reason.
    ///
    /// The corresponding C function is `opus_encode`.
    mutating func encode(
        _ frames: [Int16], into packet: inout [UInt8]
    ) throws(EncodingError) -> Int {
        let code = unsafe opus_encode(
            encoder, frames, Int32(frames.count), &packet, Int32(packet.count))
        guard code >= 0 else { throw Self.failure("opus_encode", code) }
        return Int(code)
    }

    /// The library's name and version, such as "libopus 1.3.1".
    static var version: String { unsafe String(cString: opus_get_version_string()) }

    private static func failure(_ operation: String, _ code: Int32) -> EncodingError {
        .codecFailed(operation: operation, reason: unsafe String(cString: opus_strerror(code)))
    }
}
