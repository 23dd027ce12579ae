// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore

/// Turns the bytes of one body into 16 kHz mono while they arrive; used on one thread.
struct BodyDecoder {
    private let decoder: any AudioDecoder
    private var converter: SpeechConverter?
    private var samples: [Int16] = []

    /// What a form says of the answer's format; nil for other bodies.
    var wantedFormat: String? { (decoder as? FormDecoder)?.wantedFormat }

    init(_ mediaType: AudioMediaType) throws(BodyFailure) {
        decoder = mediaType.makeDecoder()
        try makeConverter()
    }

    /// Takes bytes in, cut anywhere, and appends what they decode to.
    mutating func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(BodyFailure) {
        samples.removeAll(keepingCapacity: true)
        do throws(UndecodableAudio) {
            try decoder.decode(bytes, into: &samples)
        } catch {
            throw .notAudio(reason: error.description)
        }
        try convert(into: &output)
    }

    mutating func finish(into output: inout [Int16]) throws(BodyFailure) {
        samples.removeAll(keepingCapacity: true)
        do throws(UndecodableAudio) {
            try decoder.finish(into: &samples)
        } catch {
            throw .notAudio(reason: error.description)
        }
        try convert(into: &output)
        do throws(ConversionError) {
            try converter?.finish(into: &output)
        } catch {
            throw .notAudio(reason: error.description)
        }
    }

    private mutating func makeConverter() throws(BodyFailure) {
        guard converter == nil, let format = decoder.format else { return }
        do throws(ConversionError) {
            converter = try SpeechConverter(from: format)
        } catch {
            throw .notAudio(reason: error.description)
        }
    }

    private mutating func convert(into output: inout [Int16]) throws(BodyFailure) {
        try makeConverter()
        do throws(ConversionError) {
            try converter?.convert(samples.span, into: &output)
        } catch {
            throw .notAudio(reason: error.description)
        }
    }
}

extension AudioMediaType {
    func makeDecoder() -> any AudioDecoder {
        switch self {
        case .pcm(let format, let isBigEndian):
            makePCMDecoder(.int16, format: format, isBigEndian: isBigEndian)
        case .file(let codec): codec.makeDecoder()
        case .form(let boundary): FormDecoder(boundary: boundary)
        }
    }
}
