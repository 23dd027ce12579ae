// SPDX-License-Identifier: Apache-2.0

internal import CALSA
internal import Glibc
internal import LinuxPlatform

/// An open PCM and the container for its status.
///
/// Safe because both are made in `init`, released in `deinit`, and used by `ALSADevice`
/// alone, for the length of a call.
@safe struct ALSAHandle: ~Copyable {
    /// The PCM; never blocking.
    let pcm: OpaquePointer

    let status: OpaquePointer

    /// Opening needs these for a moment: configuration, plug-ins, the sound server; without them
    /// alsa-lib reports a missing device.
    private static let neededDescriptors = 12

    /// Opens a PCM by its ALSA name, to capture.
    ///
    /// - Throws: `ALSAError` of `snd_pcm_open`; `EMFILE` when a failure may be due to that.
    init(opening device: String) throws(ALSAError) {
        var opened: OpaquePointer?
        var allocated: OpaquePointer?
        var code = unsafe snd_pcm_status_malloc(&allocated)
        if code == 0 {
            code = unsafe snd_pcm_open(
                &opened, device, SND_PCM_STREAM_CAPTURE, Int32(SND_PCM_NONBLOCK))
        }
        guard code == 0, let pcm = unsafe opened, let status = unsafe allocated else {
            unsafe snd_pcm_status_free(allocated)
            let isPoor = !ProcessLimits.areDescriptorsLeft(Self.neededDescriptors)
            throw ALSAError(operation: "snd_pcm_open", code: isPoor ? EMFILE : -code)
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

    func appendPollDescriptors(to descriptors: inout [pollfd]) {
        let count = Int(unsafe snd_pcm_poll_descriptors_count(pcm))
        guard count > 0 else { return }
        let first = descriptors.count
        descriptors.append(contentsOf: repeatElement(pollfd(), count: count))
        let filled = unsafe descriptors.withUnsafeMutableBufferPointer { buffer in
            let own = buffer.extracting(first...)
            return unsafe snd_pcm_poll_descriptors(pcm, own.baseAddress, UInt32(count))
        }
        descriptors.removeLast(count - max(0, min(count, Int(filled))))
    }
}
