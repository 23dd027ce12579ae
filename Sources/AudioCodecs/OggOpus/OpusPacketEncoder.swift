// SPDX-License-Identifier: Apache-2.0

internal import COpus

/// A libopus encoder for 16 kHz mono speech.
///
/// Sound because the pointer is created in `init`, never handed out, and destroyed in `deinit`.
@safe struct OpusPacketEncoder: ~Copyable {
    static let framesPerPacket = 320

    /// The longest packet of one Opus frame, in bytes: its head and 1275 (RFC 6716 §3.4).
    static let maximumPacketByteCount = 1_276

    /// Frames by which the decoded audio lags behind; 104 in libopus 1.3.
    let lookahead: Int

    private let encoder: OpaquePointer

    /// How hard the codec tries, of 0 to 10: 5 costs 17 s of CPU per hour of audio, 10 costs 33 s.
    private static let complexity = 5

    /// The bitrate is in bits per second.
    init(bitrate: Int) throws(EncodingError) {
        var code: Int32 = 0
        let created = unsafe opus_encoder_create(16_000, 1, OPUS_APPLICATION_VOIP, &code)
        guard let encoder = unsafe created else {
            throw Self.failure("opus_encoder_create", code)
        }
        let settings = [
            (OPUS_SET_BITRATE_REQUEST, bitrate),
            (OPUS_SET_COMPLEXITY_REQUEST, Self.complexity),
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

    /// Encodes `framesPerPacket` samples, overwrites the first elements of `packet`, and returns how
    /// many; `maximumPacketByteCount` suffice.
    mutating func encode(
        _ frames: [Int16], into packet: inout [UInt8]
    ) throws(EncodingError) -> Int {
        let code = unsafe opus_encode(
            encoder, frames, Int32(frames.count), &packet, Int32(packet.count))
        guard code >= 0 else { throw Self.failure("opus_encode", code) }
        return Int(code)
    }

    static var version: String { unsafe String(cString: opus_get_version_string()) }

    private static func failure(_ operation: String, _ code: Int32) -> EncodingError {
        .codecFailed(operation: operation, reason: unsafe String(cString: opus_strerror(code)))
    }
}
