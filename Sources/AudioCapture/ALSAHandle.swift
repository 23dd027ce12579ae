// SPDX-License-Identifier: Apache-2.0

internal import CALSA

/// An open PCM and the container for its status.
///
/// Safe because both are made in `init`, released in `deinit`, and used by `ALSADevice` alone, for
/// the length of a call.
@safe struct ALSAHandle: ~Copyable {
    /// The PCM; opened for capture, never blocking.
    let pcm: OpaquePointer

    /// A `snd_pcm_status_t`.
    let status: OpaquePointer

    /// Opens a PCM by its ALSA name.
    ///
    /// - Throws: `CaptureError` of opening, see `CaptureSource.open`.
    init(opening device: String) throws(CaptureError) {
        var opened: OpaquePointer?
        var allocated: OpaquePointer?
        var code = unsafe snd_pcm_status_malloc(&allocated)
        if code == 0 {
            code = unsafe snd_pcm_open(
                &opened, device, SND_PCM_STREAM_CAPTURE, Int32(SND_PCM_NONBLOCK))
        }
        guard code == 0, let pcm = unsafe opened, let status = unsafe allocated else {
            unsafe snd_pcm_status_free(allocated)
            throw ALSAError(operation: "snd_pcm_open", code: -code).opening(device)
        }
        unsafe self.pcm = unsafe pcm
        unsafe self.status = unsafe status
    }

    deinit {
        // Dropping and closing cannot fail in a way that leaves something to be done.
        _ = unsafe snd_pcm_drop(pcm)
        _ = unsafe snd_pcm_close(pcm)
        unsafe snd_pcm_status_free(status)
    }
}
