// SPDX-License-Identifier: Apache-2.0

internal import CSampleRate

/// A libsamplerate state for one channel at a fixed ratio.
///
/// Sound because the pointer is created in `init`, never handed out, and deleted in `deinit`.
@safe struct Resampler: ~Copyable {
    private let state: OpaquePointer
    private let ratio: Double

    /// The ratio is the output rate divided by the input rate, between 1/256 and 256.
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

    /// Takes as many frames of a part of `input` as it can, and overwrites as many of `output`, whose
    /// count does not change.
    mutating func process(
        _ input: [Float], _ frames: Range<Int>, into output: inout [Float]
    ) throws(ConversionError) -> (taken: Int, made: Int) {
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
                return unsafe (code, (data.input_frames_used, data.output_frames_gen))
            }
        }
        guard code == 0 else { throw Self.failure("src_process", code) }
        return progress
    }

    mutating func reset() throws(ConversionError) {
        let code = unsafe src_reset(state)
        guard code == 0 else { throw Self.failure("src_reset", code) }
    }

    private static func failure(_ operation: String, _ code: Int32) -> ConversionError {
        let reason = unsafe src_strerror(code).map { unsafe String(cString: $0) }
        return .resamplerFailed(operation: operation, reason: reason ?? "error \(code)")
    }
}
