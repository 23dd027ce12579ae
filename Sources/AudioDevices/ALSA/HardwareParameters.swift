// SPDX-License-Identifier: Apache-2.0

internal import CALSA
internal import Glibc

/// The configurations that a PCM still offers; each setting narrows them.
///
/// Safe because the container is allocated here, freed here and never handed out, and because the
/// PCM outlives it: both live in one function's body.
@safe struct HardwareParameters: ~Copyable {
    private let pcm: OpaquePointer
    private let parameters: OpaquePointer

    init(of handle: borrowing ALSAHandle) throws(ALSAError) {
        var allocated: OpaquePointer?
        let code = unsafe snd_pcm_hw_params_malloc(&allocated)
        guard code == 0, let allocated = unsafe allocated else {
            throw ALSAError(operation: "snd_pcm_hw_params_malloc", code: ENOMEM)
        }
        let filled = unsafe snd_pcm_hw_params_any(handle.pcm, allocated)
        guard filled >= 0 else {
            unsafe snd_pcm_hw_params_free(allocated)
            throw ALSAError(operation: "snd_pcm_hw_params_any", code: -filled)
        }
        unsafe pcm = unsafe handle.pcm
        unsafe parameters = unsafe allocated
    }

    deinit { unsafe snd_pcm_hw_params_free(parameters) }

    /// Keeps a "plug" from converting rates; an error does no harm.
    func refuseRateConversion() {
        _ = unsafe snd_pcm_hw_params_set_rate_resample(pcm, parameters, 0)
    }

    func setInterleaved() throws(ALSAError) {
        try ALSAError.check(
            "snd_pcm_hw_params_set_access",
            unsafe snd_pcm_hw_params_set_access(pcm, parameters, SND_PCM_ACCESS_RW_INTERLEAVED))
    }

    func offers(_ format: snd_pcm_format_t) -> Bool {
        unsafe snd_pcm_hw_params_test_format(pcm, parameters, format) == 0
    }

    var offeredFormats: [String] {
        (0...SND_PCM_FORMAT_LAST.rawValue).compactMap { number in
            let format = snd_pcm_format_t(rawValue: number)
            guard offers(format), let name = unsafe snd_pcm_format_name(format) else { return nil }
            return unsafe String(cString: name)
        }
    }

    func set(_ format: snd_pcm_format_t) throws(ALSAError) {
        try ALSAError.check(
            "snd_pcm_hw_params_set_format",
            unsafe snd_pcm_hw_params_set_format(pcm, parameters, format))
    }

    func setChannels(near wanted: UInt32) throws(ALSAError) -> UInt32 {
        var count = wanted
        try ALSAError.check(
            "snd_pcm_hw_params_set_channels_near",
            unsafe snd_pcm_hw_params_set_channels_near(pcm, parameters, &count))
        return count
    }

    func channels() throws(ALSAError) -> ClosedRange<Int> {
        var (fewest, most) = (UInt32(0), UInt32(0))
        try ALSAError.check(
            "snd_pcm_hw_params_get_channels_min",
            unsafe snd_pcm_hw_params_get_channels_min(parameters, &fewest))
        try ALSAError.check(
            "snd_pcm_hw_params_get_channels_max",
            unsafe snd_pcm_hw_params_get_channels_max(parameters, &most))
        return Int(fewest)...max(Int(fewest), Int(min(most, 1_024)))
    }

    func offers(rate: UInt32) -> Bool {
        unsafe snd_pcm_hw_params_test_rate(pcm, parameters, rate, 0) == 0
    }

    func setRate(near wanted: UInt32) throws(ALSAError) -> UInt32 {
        var rate = wanted
        try ALSAError.check(
            "snd_pcm_hw_params_set_rate_near",
            unsafe snd_pcm_hw_params_set_rate_near(pcm, parameters, &rate, nil))
        return rate
    }

    func setPeriod(near wanted: Int) throws(ALSAError) {
        var frames = snd_pcm_uframes_t(wanted)
        try ALSAError.check(
            "snd_pcm_hw_params_set_period_size_near",
            unsafe snd_pcm_hw_params_set_period_size_near(pcm, parameters, &frames, nil))
    }

    func longestBuffer() throws(ALSAError) -> Int {
        try frames("snd_pcm_hw_params_get_buffer_size_max") {
            unsafe snd_pcm_hw_params_get_buffer_size_max(parameters, &$0)
        }
    }

    func setBuffer(near wanted: Int) throws(ALSAError) {
        var frames = snd_pcm_uframes_t(wanted)
        try ALSAError.check(
            "snd_pcm_hw_params_set_buffer_size_near",
            unsafe snd_pcm_hw_params_set_buffer_size_near(pcm, parameters, &frames))
    }

    /// Picks one of the remaining configurations, and prepares the PCM.
    func apply() throws(ALSAError) {
        try ALSAError.check("snd_pcm_hw_params", unsafe snd_pcm_hw_params(pcm, parameters))
    }

    func period() throws(ALSAError) -> Int {
        try frames("snd_pcm_hw_params_get_period_size") {
            unsafe snd_pcm_hw_params_get_period_size(parameters, &$0, nil)
        }
    }

    func buffer() throws(ALSAError) -> Int {
        try frames("snd_pcm_hw_params_get_buffer_size") {
            unsafe snd_pcm_hw_params_get_buffer_size(parameters, &$0)
        }
    }

    private func frames(
        _ operation: StaticString, _ get: (inout snd_pcm_uframes_t) -> Int32
    ) throws(ALSAError) -> Int {
        var frames: snd_pcm_uframes_t = 0
        try ALSAError.check(operation, get(&frames))
        return Int(frames)
    }
}
