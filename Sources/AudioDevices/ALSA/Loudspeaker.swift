// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import CALSA
internal import Glibc
package import LinuxPlatform

/// The usual sound card, or a sound server's sink, that plays a short tone in 16 kHz mono by ALSA.
///
/// Used by one thread at a time, which must not be one of the cooperative pool.
///
/// Safe because the handle is owned, closed with this value and never handed out, and because
/// every pointer passed to alsa-lib outlives its call.
@safe package struct Loudspeaker: ~Copyable {
    package struct Failure: Error {
        package let description: String

        init(_ error: ALSAError) { description = error.fullReason }
    }

    private let handle: ALSAHandle

    /// In frames: more than a tone.
    private static let wantedBuffer = StreamFormat.speech.sampleRate / 2
    /// In milliseconds.
    private static let drainInterval: Int32 = 20
    /// 5 s of `drainInterval`.
    private static let drainLimit = 250

    package init() throws(Failure) {
        utter_alsa_listen()
        handle = try Self.open()
    }

    private static func open() throws(Failure) -> ALSAHandle {
        do throws(ALSAError) {
            let handle = try ALSAHandle(opening: "default", for: SND_PCM_STREAM_PLAYBACK)
            let parameters = try HardwareParameters(of: handle)
            try parameters.setInterleaved()
            try parameters.set(SND_PCM_FORMAT_S16_LE)
            let rate = UInt32(StreamFormat.speech.sampleRate)
            guard try parameters.setChannels(near: 1) == 1,
                try parameters.setRate(near: rate) == rate
            else { throw ALSAError(operation: "snd_pcm_hw_params", code: EINVAL) }
            try parameters.setBuffer(near: wantedBuffer)
            try parameters.setPeriod(near: wantedBuffer / 5)
            try parameters.apply()
            return handle
        } catch {
            throw Failure(error)
        }
    }

    /// For a tone shorter than the card's ring; blocks until it was heard, or `stop` is signalled.
    package func play(_ samples: Span<Int16>, unless stop: Wakeup) throws(Failure) {
        do throws(ALSAError) {
            let written = unsafe samples.withUnsafeBufferPointer { [pcm = handle.pcm] buffer in
                unsafe snd_pcm_writei(pcm, buffer.baseAddress, snd_pcm_uframes_t(buffer.count))
            }
            try ALSAError.check("snd_pcm_writei", written)
            for _ in 0..<Self.drainLimit {
                let code = unsafe snd_pcm_drain(handle.pcm)
                // An underrun while draining is the end that was waited for.
                if code == 0 || code == -EPIPE { return }
                if code != -EAGAIN, code != -EINTR { try ALSAError.check("snd_pcm_drain", code) }
                var event = pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0)
                if unsafe poll(&event, 1, Self.drainInterval) > 0 { return }
                if unsafe snd_pcm_state(handle.pcm) != SND_PCM_STATE_DRAINING { return }
            }
        } catch {
            throw Failure(error)
        }
    }
}
