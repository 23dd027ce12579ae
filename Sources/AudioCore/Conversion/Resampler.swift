// SPDX-License-Identifier: Apache-2.0

internal import CSampleRate

/// One libsamplerate state for one channel at a fixed ratio.
///
/// Sound because the pointer is created in `init`, never handed out, and deleted in `deinit`.
@safe struct Resampler: ~Copyable {
    private let state: OpaquePointer
    private let ratio: Double

    /// Creates a resampler.
    ///
    /// - Parameters:
    ///   - quality: chooses the converter.
    ///   - ratio: output rate divided by input rate; between 1/256 and 256.
    /// - Throws: `ConversionError.resamplerFailed` when there is no memory.
    ///
    /// The corresponding C function is `src_new`.
    init(quality: ResamplingQuality, ratio: Double) throws(ConversionError) {
        let converter =
            switch quality {
            case .live: SRC_SINC_MEDIUM_QUALITY
            case .recording: SRC_SINC_BEST_QUALITY
            }
        var code: Int32 = 0
        guard let state = unsafe src_new(Int32(converter), 1, &code) else {
            throw Self.failure("src_new", code)
        }
        unsafe self.state = state
        self.ratio = ratio
    }

    deinit {
        _ = unsafe src_delete(state)
    }

    /// What one call of `process` did.
    struct Progress {
        /// Frames taken from the input.
        var taken: Int
        /// Frames written to the output.
        var made: Int
    }

    /// Takes as many frames from `input`, and writes as many to `output`, as it can.
    ///
    /// - Parameters:
    ///   - input: what to resample.
    ///   - frames: the part of `input` to take from.
    ///   - output: its elements are overwritten from the first on; its count does not change.
    /// - Returns: how far it came.
    /// - Throws: `ConversionError.resamplerFailed` with the library's reason.
    ///
    /// The corresponding C function is `src_process`.
    mutating func process(
        _ input: [Float], _ frames: Range<Int>, into output: inout [Float]
    ) throws(ConversionError) -> Progress {
        let (state, ratio) = unsafe (state, ratio)
        let (code, progress) = unsafe input.withUnsafeBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                let part = unsafe input[frames]
                var data = unsafe SRC_DATA()
                unsafe data.data_in = UnsafeBufferPointer(rebasing: part).baseAddress
                unsafe data.data_out = output.baseAddress
                unsafe data.input_frames = frames.count
                unsafe data.output_frames = output.count
                unsafe data.src_ratio = ratio
                let code = unsafe src_process(state, &data)
                let progress = unsafe Progress(
                    taken: data.input_frames_used, made: data.output_frames_gen)
                return (code, progress)
            }
        }
        guard code == 0 else { throw Self.failure("src_process", code) }
        return progress
    }

    /// Forgets all input.
    ///
    /// - Throws: `ConversionError.resamplerFailed` with the library's reason.
    ///
    /// The corresponding C function is `src_reset`.
    mutating func reset() throws(ConversionError) {
        let code = unsafe src_reset(state)
        guard code == 0 else { throw Self.failure("src_reset", code) }
    }

    private static func failure(_ operation: String, _ code: Int32) -> ConversionError {
        let reason = unsafe src_strerror(code).map { unsafe String(cString: $0) }
        return .resamplerFailed(operation: operation, reason: reason ?? "error \(code)")
    }
}
