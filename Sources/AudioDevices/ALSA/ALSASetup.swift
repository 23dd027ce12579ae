// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import CALSA
internal import Capture
internal import Glibc

struct ALSASetup {
    let format: StreamFormat
    let layout: SampleLayout
    let periodFrames: Int
    let bufferFrames: Int

    /// In the order of preference: 16 kHz, its multiples, which convert best, then what keeps all
    /// of a voice.
    private static let wantedRates: [UInt32] = [
        16_000, 32_000, 48_000, 96_000, 192_000, 24_000, 22_050, 44_100, 88_200, 176_400,
    ]

    /// In seconds; behind it is the take's own ring.
    private static let longestBuffer = 8

    /// Agrees on how to capture: 16 kHz mono 16-bit, or what is nearest to it.
    ///
    /// ALSA's own rate conversion is refused. The one that is always installed interpolates
    /// linearly and without a filter, so that hiss above 8 kHz would fold into the voice, and it
    /// converts whole periods only, so that the end of a take would be cut. Channels and sample
    /// formats may be converted, which is exact.
    ///
    /// - Throws: `CaptureError.formatRefused` when the PCM has no 16-, 24- or 32-bit samples;
    ///   `CaptureError.deviceUnusable` and the like when it refuses what it offered.
    static func agree(
        with handle: borrowing ALSAHandle, device: String, period: Duration
    ) throws(CaptureError) -> ALSASetup {
        let agreed: ALSASetup?
        do throws(ALSAError) {
            agreed = try negotiate(with: handle, period)
            try agreed?.applyWakeUps(to: handle)
        } catch {
            throw error.opening(device)
        }
        guard let agreed else {
            throw .formatRefused(device: device, detail: refusal(by: handle))
        }
        return agreed
    }

    /// Agrees with the PCM on format, rate and period; nil when it has no usable sample format.
    private static func negotiate(
        with handle: borrowing ALSAHandle, _ period: Duration
    ) throws(ALSAError) -> ALSASetup? {
        let parameters = try HardwareParameters(of: handle)
        parameters.refuseRateConversion()
        try parameters.setInterleaved()
        guard let layout = SampleLayout.allCases.first(where: { parameters.offers($0.format) })
        else { return nil }
        try parameters.set(layout.format)
        let channelCount = try parameters.setChannels(near: 1)
        let wanted = wantedRates.first { parameters.offers(rate: $0) }
        let sampleRate = try parameters.setRate(near: wanted ?? 16_000)
        let format = StreamFormat(sampleRate: Int(sampleRate), channelCount: Int(channelCount))
        try parameters.setPeriod(near: wantedPeriod(of: format, period))
        let longest = try parameters.longestBuffer()
        try parameters.setBuffer(near: min(longest, longestBuffer * format.sampleRate))
        try parameters.apply()
        return ALSASetup(
            format: format, layout: layout, periodFrames: try parameters.period(),
            bufferFrames: try parameters.buffer())
    }

    /// The period asked for; at least 7 ms less, down to half of it, where the rate is converted.
    ///
    /// The converter's filter looks 2.9 ms ahead. On average a sample waits half a period, so a
    /// period that is shorter by twice as much makes up for it.
    private static func wantedPeriod(of format: StreamFormat, _ period: Duration) -> Int {
        guard format.sampleRate != StreamFormat.speech.sampleRate else {
            return format.frames(in: period)
        }
        return format.frames(in: max(period - .milliseconds(7), period / 2))
    }

    private static func refusal(by handle: borrowing ALSAHandle) -> String {
        var formats: [String] = []
        // A PCM that does not answer any more offers nothing.
        if let parameters = try? HardwareParameters(of: handle) {
            formats = parameters.offeredFormats
        }
        let offered = formats.isEmpty ? "nothing we know" : formats.joined(separator: ", ")
        return "it offers \(offered), not 16-, 24- or 32-bit samples"
    }

    /// Says when the card starts, stops and wakes us.
    ///
    /// It starts when told to and never stops by itself: a ring that is not read is overwritten,
    /// so that an overrun costs what does not fit into the ring rather than all that is in it, and
    /// the card's position still says how much that was. The wake-up comes once a period;
    /// `snd_pcm_sw_params_set_avail_min` raises anything less to a period.
    private func applyWakeUps(to handle: borrowing ALSAHandle) throws(ALSAError) {
        var allocated: OpaquePointer?
        try ALSAError.check(
            "snd_pcm_sw_params_malloc", unsafe snd_pcm_sw_params_malloc(&allocated))
        guard let parameters = unsafe allocated else { return }
        defer { unsafe snd_pcm_sw_params_free(parameters) }
        try ALSAError.check(
            "snd_pcm_sw_params_current", unsafe snd_pcm_sw_params_current(handle.pcm, parameters))
        var boundary: snd_pcm_uframes_t = 0
        try ALSAError.check(
            "snd_pcm_sw_params_get_boundary",
            unsafe snd_pcm_sw_params_get_boundary(parameters, &boundary))
        // Without these two the gaps are measured by the moment of our call instead.
        _ = unsafe snd_pcm_sw_params_set_tstamp_mode(handle.pcm, parameters, SND_PCM_TSTAMP_ENABLE)
        _ = unsafe snd_pcm_sw_params_set_tstamp_type(
            handle.pcm, parameters, SND_PCM_TSTAMP_TYPE_MONOTONIC)
        let period = snd_pcm_uframes_t(periodFrames)
        try ALSAError.check(
            "snd_pcm_sw_params_set_avail_min",
            unsafe snd_pcm_sw_params_set_avail_min(handle.pcm, parameters, period))
        try ALSAError.check(
            "snd_pcm_sw_params_set_start_threshold",
            unsafe snd_pcm_sw_params_set_start_threshold(handle.pcm, parameters, 1))
        try ALSAError.check(
            "snd_pcm_sw_params_set_stop_threshold",
            unsafe snd_pcm_sw_params_set_stop_threshold(handle.pcm, parameters, boundary))
        try ALSAError.check("snd_pcm_sw_params", unsafe snd_pcm_sw_params(handle.pcm, parameters))
    }
}
