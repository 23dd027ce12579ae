// SPDX-License-Identifier: Apache-2.0

internal import AudioCore

/// Turns the samples of one body into 16 kHz mono while they arrive; used on one thread.
struct PCMDecoder {
    private let sampleFormat: SampleFormat
    private let isBigEndian: Bool
    private let converter: SpeechConverter
    /// Bytes that still belong to the samples; what follows them is not audio.
    private var remainingByteCount: Int
    /// The beginning of a sample whose end has not come yet.
    private var incomplete: [UInt8] = []
    private var samples: [Int16] = []

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - sampleFormat: how each sample is stored.
    ///   - format: rate and channels of the interleaved frames.
    ///   - byteCount: the length of all samples in bytes; nil when they go on to the end.
    ///   - isBigEndian: whether the bytes of each sample come in the other order.
    /// - Throws: `BodyFailure.notAudio` when this rate or layout cannot be converted.
    init(
        _ sampleFormat: SampleFormat, format: StreamFormat, byteCount: Int?, isBigEndian: Bool
    ) throws(BodyFailure) {
        self.sampleFormat = sampleFormat
        self.isBigEndian = isBigEndian
        remainingByteCount = byteCount ?? .max
        do {
            converter = try SpeechConverter(from: format)
        } catch {
            throw .notAudio(reason: error.description)
        }
    }

    /// Takes bytes in, cut anywhere, and appends what they decode to.
    mutating func decode(
        _ bytes: Span<UInt8>, into output: inout [Int16]
    ) throws(BodyFailure) {
        let taken = bytes.extracting(first: remainingByteCount)
        remainingByteCount -= taken.count
        samples.removeAll(keepingCapacity: true)
        var start = 0
        if !incomplete.isEmpty {
            while start < taken.count, incomplete.count < sampleFormat.byteCount {
                incomplete.append(taken[start])
                start += 1
            }
            guard incomplete.count == sampleFormat.byteCount else { return }
            let whole = incomplete
            incomplete.removeAll(keepingCapacity: true)
            sampleFormat.decode(whole.span, into: &samples)
        }
        let rest = taken.extracting(start...)
        let wholeByteCount = rest.count - rest.count % sampleFormat.byteCount
        sampleFormat.decode(rest.extracting(first: wholeByteCount), into: &samples)
        for index in wholeByteCount..<rest.count { incomplete.append(rest[index]) }
        if isBigEndian {
            for index in samples.indices { samples[index] = samples[index].byteSwapped }
        }
        do {
            try converter.convert(samples.span, into: &output)
        } catch {
            throw .notAudio(reason: error.description)
        }
    }

    /// Appends what the converter holds back; a part of a frame at the end is dropped.
    mutating func finish(into output: inout [Int16]) throws(BodyFailure) {
        do {
            try converter.finish(into: &output)
        } catch {
            throw .notAudio(reason: error.description)
        }
    }
}
