// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore

/// Turns the bytes of one body into 16 kHz mono while they arrive; used on one thread.
struct BodyDecoder {
    private enum Stage {
        case samples(PCMDecoder)
        case wavHeader([UInt8])
        case oggOpus(OggOpusDecoder)
    }

    private var stage: Stage

    /// Creates a decoder for a media type.
    ///
    /// - Throws: `BodyFailure.notAudio` when PCM of this rate or layout cannot be converted.
    init(_ mediaType: AudioMediaType) throws(BodyFailure) {
        switch mediaType {
        case .pcm(let format, let isBigEndian):
            stage = .samples(
                try PCMDecoder(
                    .int16, format: format, byteCount: nil, isBigEndian: isBigEndian))
        case .wav:
            stage = .wavHeader([])
        case .oggOpus:
            stage = .oggOpus(OggOpusDecoder())
        }
    }

    /// Takes bytes in, cut anywhere, and appends what they decode to.
    ///
    /// - Throws: `BodyFailure.notAudio`.
    mutating func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(BodyFailure) {
        switch stage {
        case .samples(var decoder):
            try decoder.decode(bytes, into: &output)
            stage = .samples(decoder)
        case .oggOpus(let decoder):
            do {
                try decoder.decode(bytes, into: &output)
            } catch {
                throw .notAudio(reason: error.description)
            }
        case .wavHeader(var head):
            stage = .wavHeader([])
            for index in bytes.indices { head.append(bytes[index]) }
            try decodeHeader(head, into: &output)
        }
    }

    /// Ends the body, and appends what is still inside.
    ///
    /// - Throws: `BodyFailure.notAudio` when the body ended before its header did.
    mutating func finish(into output: inout [Int16]) throws(BodyFailure) {
        switch stage {
        case .samples(var decoder):
            try decoder.finish(into: &output)
        case .oggOpus(let decoder):
            do {
                try decoder.finish()
            } catch {
                throw .notAudio(reason: error.description)
            }
        case .wavHeader(let head):
            throw .notAudio(reason: "WAV: it ended after \(head.count) bytes, in its header")
        }
    }

    private mutating func decodeHeader(
        _ head: [UInt8], into output: inout [Int16]
    ) throws(BodyFailure) {
        let header: WAVHeader?
        do {
            header = try WAVHeader.parse(head.span)
        } catch {
            throw .notAudio(reason: "WAV: \(error.description)")
        }
        guard let header else {
            stage = .wavHeader(head)
            return
        }
        var decoder = try PCMDecoder(
            header.sampleFormat, format: header.streamFormat, byteCount: header.dataByteCount,
            isBigEndian: false)
        try decoder.decode(head.span.extracting(header.dataOffset...), into: &output)
        stage = .samples(decoder)
    }
}
