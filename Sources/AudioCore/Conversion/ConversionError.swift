// SPDX-License-Identifier: Apache-2.0

/// Why audio could not be converted.
package enum ConversionError: Error, Sendable, Equatable {
    /// The format has no channels, or a rate that is not within 256 times of 16 kHz.
    case unsupportedFormat(sampleRate: Int, channelCount: Int)
    /// A call of the resampler failed; `reason` is the library's word for it.
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
