// SPDX-License-Identifier: Apache-2.0

internal import COpus
internal import Glibc

/// Decodes single Opus packets to 16 kHz mono with libopus.
///
/// The unsafe calls are sound because the C decoder is created and freed here, is never handed
/// out, and writes into memory of the length it is told.
@safe final class OpusPacketDecoder {
    private let decoder: OpaquePointer
    private let factor: Float
    /// Number of the next packet, not counting the headers.
    private var number = 0
    private var samples = [Int16](repeating: 0, count: maximumSampleCount)

    /// The gain is in 1/256 dB.
    init(gain: Int) throws(UndecodableAudio) {
        var code: Int32 = 0
        guard let decoder = unsafe opus_decoder_create(16_000, 1, &code) else {
            throw .codecFailed(reason: Self.reason(code))
        }
        unsafe self.decoder = decoder
        factor = powf(10, Float(gain) / 5120)
    }

    deinit {
        unsafe opus_decoder_destroy(decoder)
    }

    func decode(_ packet: Span<UInt8>, into output: inout [Int16]) throws(UndecodableAudio) {
        // libopus takes an empty packet for a lost one and makes something up.
        guard !packet.isEmpty else { throw .ogg("packet \(number): it is empty") }
        let count = unsafe packet.withUnsafeBufferPointer { bytes in
            unsafe opus_decode(
                decoder, bytes.baseAddress, Int32(bytes.count), &samples,
                Int32(Self.maximumSampleCount), 0)
        }
        guard count >= 0 else { throw .ogg("packet \(number): \(Self.reason(count))") }
        number += 1
        if factor == 1 {
            output.append(contentsOf: samples[..<Int(count)])
        } else {
            output.append(contentsOf: samples[..<Int(count)].lazy.map(amplified))
        }
    }

    private func amplified(_ sample: Int16) -> Int16 {
        Int16(max(-32768, min(32767, (Float(sample) * factor).rounded())))
    }

    private static func reason(_ code: Int32) -> String {
        guard let text = unsafe opus_strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }

    /// The samples of the longest packet: 120 ms at 16 kHz.
    private static let maximumSampleCount = 1920
}
