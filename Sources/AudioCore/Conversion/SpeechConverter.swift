// SPDX-License-Identifier: Apache-2.0

/// Turns PCM of any rate and layout into 16 kHz mono, with the same timeline.
///
/// Channels are mixed by `ChannelMixer`. For n frames in, exactly n · 16000 / rate frames come
/// out, rounded to the nearest, the last of them at `finish`; frame k of the output stands
/// where frame k · rate / 16000 of the input stands. Audio at 16 kHz is not resampled, and at
/// 16 kHz mono not touched.
///
/// A converter belongs to one take. Its buffers are allocated when it is created; a call allocates only when `output` grows.
package final class SpeechConverter {
    /// Input frames that are resampled at once; at 48 kHz about a period.
    private static let batchFrameCount = 1_024

    private let format: StreamFormat
    private var resampler: Resampler?
    private var mixer: ChannelMixer

    private var batch: [Float]
    private var batchCount = 0
    private var resampled: [Float]
    private var takenFrameCount = 0
    private var madeFrameCount = 0

    /// A quality has no effect at 16 kHz.
    ///
    /// - Throws: `ConversionError` when the format cannot be converted (a rate below 63 Hz or
    ///   above 4 MHz, no channels) or there is no memory.
    package init(
        from format: StreamFormat, quality: ResamplingQuality = .live
    ) throws(ConversionError) {
        let speechRate = StreamFormat.speech.sampleRate
        guard (63...speechRate * 256).contains(format.sampleRate), format.channelCount > 0 else {
            throw .unsupportedFormat(
                sampleRate: format.sampleRate, channelCount: format.channelCount)
        }
        self.format = format
        mixer = ChannelMixer(format)
        guard format.sampleRate != speechRate else {
            (batch, resampled) = ([], [])
            return
        }
        let ratio = Double(speechRate) / Double(format.sampleRate)
        resampler = try Resampler(quality: quality, ratio: ratio)
        batch = Array(repeating: 0, count: Self.batchFrameCount)
        resampled = Array(
            repeating: 0, count: min(Int(Double(Self.batchFrameCount) * ratio) + 16, 16_384))
    }

    /// Whether a mean would have lost a voice, and the loudest channel took its place.
    package var hasChosenChannel: Bool { mixer.hasChosen }

    /// Takes interleaved samples in, and appends what became ready; a frame may be split between two
    /// calls.
    package func convert(
        _ samples: Span<Int16>, into output: inout [Int16]
    ) throws(ConversionError) {
        if format.channelCount == 1 {
            for index in samples.indices { try take(Int(samples[index]), 1, into: &output) }
        } else {
            try mixer.mix(samples) { sum, count throws(ConversionError) in
                try take(sum, count, into: &output)
            }
        }
        try resampleBatch(into: &output)
    }

    /// Appends what the filter still holds back; an incomplete last frame is left out.
    ///
    /// Afterwards the converter is as new, but for the channel that it takes.
    package func finish(into output: inout [Int16]) throws(ConversionError) {
        try mixer.finish { sum, count throws(ConversionError) in
            try take(sum, count, into: &output)
        }
        try resampleBatch(into: &output)
        let rate = format.sampleRate
        let due = (takenFrameCount * StreamFormat.speech.sampleRate * 2 + rate) / (rate * 2)
        // Silence behind the end pushes out the rest, at the places where it belongs; the
        // library's own end mark is one frame short at some ratios.
        while resampler != nil, madeFrameCount < due {
            for index in batch.indices { batch[index] = 0 }
            batchCount = batch.count
            try resampleBatch(into: &output, upTo: due)
        }
        try resampler?.reset()
        (takenFrameCount, madeFrameCount) = (0, 0)
    }

    /// Takes a frame: a sum, and of how many samples it is.
    private func take(
        _ sum: Int, _ count: Int, into output: inout [Int16]
    ) throws(ConversionError) {
        guard resampler != nil else {
            // The nearest integer, halves going up; the offset keeps division from truncating
            // towards zero.
            let offset = 32_768
            let mean = (2 * (sum + offset * count) + count) / (2 * count) - offset
            output.append(Int16(clamping: mean))
            return
        }
        batch[batchCount] = Float(sum) / Float(count)
        batchCount += 1
        takenFrameCount += 1
        if batchCount == batch.count { try resampleBatch(into: &output) }
    }

    private func resampleBatch(
        into output: inout [Int16], upTo limit: Int = .max
    ) throws(ConversionError) {
        var start = 0
        while start < batchCount {
            let frames = start..<batchCount
            guard let progress = try resampler?.process(batch, frames, into: &resampled) else {
                return
            }
            guard progress.taken > 0 || progress.made > 0 else {
                throw .resamplerFailed(operation: "src_process", reason: "no progress")
            }
            start += progress.taken
            for index in 0..<min(progress.made, limit - madeFrameCount) {
                let value = resampled[index].rounded()
                output.append(Int16(min(max(value, -32_768), 32_767)))
                madeFrameCount += 1
            }
        }
        batchCount = 0
    }
}

/// The delay and the work that resampling may cost.
///
/// Measured with libsamplerate 0.2.2, one channel, on one core of a 2-core virtual machine.
/// Delay is what the filter holds back; of the band, the first frequency is 0.3 dB down and the
/// second 3 dB, for input at 48 kHz; the last column is the correlation of resampled white
/// noise, the hardest input, with what sox makes of it.
///
/// | case | converter | delay 48 kHz / 8 kHz | CPU per hour 48 kHz / 8 kHz | band, kHz | sox |
/// |---|---|---|---|---|---|
/// | — | `SRC_SINC_FASTEST` | 1.2 / 2.5 ms | 9 / 4 s | 5.9, 6.4 | 0.951 |
/// | `live` | `SRC_SINC_MEDIUM_QUALITY` | 2.9 / 5.9 ms | 27 / 8 s | 7.0, 7.2 | 0.989 |
/// | `recording` | `SRC_SINC_BEST_QUALITY` | 8.9 / 18 ms | 94 / 22 s | 7.6, 7.7 | 0.999 |
///
/// All of them keep images and aliases 98 dB below the signal. The fastest converter is not
/// offered: it takes the top of the band, where fricatives live, for a gain of 2 ms.
package enum ResamplingQuality: Sendable, Hashable, CaseIterable {
    /// For a microphone: speech is whole and the delay stays far below a period.
    case live
    /// For files: as good as it gets, where a delay of half a period does no harm.
    case recording
}

package enum ConversionError: Error, Sendable, Equatable {
    case unsupportedFormat(sampleRate: Int, channelCount: Int)
    case resamplerFailed(operation: String, reason: String)
}

extension ConversionError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unsupportedFormat(let sampleRate, let channelCount):
            "cannot convert audio of \(sampleRate) Hz and \(channelCount) channels to 16000 Hz mono"
        case .resamplerFailed(let operation, let reason):
            "resampling failed: \(operation): \(reason)"
        }
    }
}
