// SPDX-License-Identifier: Apache-2.0

/// What resampling may cost in delay and work.
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
