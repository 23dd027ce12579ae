// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import CALSA
internal import Glibc
package import LinuxPlatform

/// A sound card, or a sound server's sink, that plays 16 kHz mono through ALSA.
///
/// Where the card has another rate or layout, ALSA's own "plug" converts, which every usual
/// device name has in it: what is played is for an ear that checks, not for a recogniser. Used by
/// one thread at a time, which must not be one of the cooperative pool.
///
/// Safe because the handle is owned, closed with this value and never handed out, and because
/// every pointer passed to alsa-lib outlives its call.
@safe package struct Loudspeaker: ~Copyable {
    package let name: String

    private let handle: ALSAHandle
    private var descriptors: [pollfd] = []
    private var acceptedFrames = 0

    /// What the ring holds, in frames: half a second bridges a busy machine's worst moments, and
    /// a stop drops it anyway.
    private static let wantedBuffer = StreamFormat.speech.sampleRate / 2

    /// After this many seconds without taking a frame, a device hangs.
    private static let longestWait = 5

    /// While it drains, a device is asked this often whether it has, in milliseconds.
    private static let drainInterval: Int32 = 20

    /// Opens a device by its ALSA name; it begins to play when half of its ring is full.
    ///
    /// - Throws: `deviceNotFound`, `deviceBusy`, `permissionDenied`, `formatRefused`, and
    ///   `deviceUnusable` for anything else.
    package init(opening device: String = "default") throws(PlaybackError) {
        utter_alsa_listen()
        let handle = try Self.open(device)
        guard try Self.agrees(with: handle, device: device) else {
            throw .formatRefused(device: device)
        }
        self.handle = handle
        name = device
    }

    private static func open(_ device: String) throws(PlaybackError) -> ALSAHandle {
        do throws(ALSAError) {
            return try ALSAHandle(opening: device, for: SND_PCM_STREAM_PLAYBACK)
        } catch {
            throw error.openingToPlay(on: device)
        }
    }

    private static func agrees(
        with handle: borrowing ALSAHandle, device: String
    ) throws(PlaybackError) -> Bool {
        do throws(ALSAError) {
            return try agree(with: handle)
        } catch {
            throw error.openingToPlay(on: device)
        }
    }

    /// Agrees on 16 kHz mono 16-bit; false when the device has no such thing.
    private static func agree(with handle: borrowing ALSAHandle) throws(ALSAError) -> Bool {
        let speech = StreamFormat.speech
        let parameters = try HardwareParameters(of: handle)
        try parameters.setInterleaved()
        guard parameters.offers(SND_PCM_FORMAT_S16_LE) else { return false }
        try parameters.set(SND_PCM_FORMAT_S16_LE)
        guard try parameters.setChannels(near: 1) == 1,
            parameters.offers(rate: UInt32(speech.sampleRate))
        else { return false }
        _ = try parameters.setRate(near: UInt32(speech.sampleRate))
        try parameters.setBuffer(near: wantedBuffer)
        try parameters.setPeriod(near: wantedBuffer / 5)
        try parameters.apply()
        try startWhenHalfFull(handle, bufferFrames: try parameters.buffer())
        return true
    }

    /// Keeps the card from starting with the first few frames, only to run out of them.
    private static func startWhenHalfFull(
        _ handle: borrowing ALSAHandle, bufferFrames: Int
    ) throws(ALSAError) {
        var allocated: OpaquePointer?
        try ALSAError.check(
            "snd_pcm_sw_params_malloc", unsafe snd_pcm_sw_params_malloc(&allocated))
        guard let parameters = unsafe allocated else { return }
        defer { unsafe snd_pcm_sw_params_free(parameters) }
        try ALSAError.check(
            "snd_pcm_sw_params_current", unsafe snd_pcm_sw_params_current(handle.pcm, parameters))
        let half = snd_pcm_uframes_t(max(1, bufferFrames / 2))
        try ALSAError.check(
            "snd_pcm_sw_params_set_start_threshold",
            unsafe snd_pcm_sw_params_set_start_threshold(handle.pcm, parameters, half))
        try ALSAError.check("snd_pcm_sw_params", unsafe snd_pcm_sw_params(handle.pcm, parameters))
    }
}

extension Loudspeaker {
    /// Frames that have been heard, as far as the card knows.
    package var heardFrames: Int {
        var waiting: snd_pcm_sframes_t = 0
        guard unsafe snd_pcm_delay(handle.pcm, &waiting) == 0 else { return acceptedFrames }
        return min(max(0, acceptedFrames - max(0, waiting)), acceptedFrames)
    }

    /// Plays samples, after those that were given before.
    ///
    /// Blocks until the card's ring has taken them all, or until `stop` is signalled. A card that
    /// ran out of samples goes on with the next one.
    ///
    /// - Returns: false when `stop` has ended it.
    /// - Throws: `deviceLost`, `deviceStuck`, `deviceFailed`.
    package mutating func play(
        _ samples: Span<Int16>, unless stop: Wakeup
    ) throws(PlaybackError) -> Bool {
        var rest = samples
        while !rest.isEmpty {
            if Self.isSignalled(stop) { return false }
            switch unsafe rest.withUnsafeBufferPointer({ [pcm = handle.pcm] buffer in
                unsafe snd_pcm_writei(pcm, buffer.baseAddress, snd_pcm_uframes_t(buffer.count))
            }) {
            case let count where count > 0:
                acceptedFrames += count
                rest = rest.extracting(droppingFirst: count)
            case 0, snd_pcm_sframes_t(-EAGAIN), snd_pcm_sframes_t(-EINTR):
                guard try waitForRoom(unless: stop) else { return false }
            case let code:
                try recover(ALSAError(operation: "snd_pcm_writei", code: Int32(clamping: -code)))
            }
        }
        return true
    }

    /// Waits until everything has been heard, or until `stop` is signalled.
    ///
    /// - Returns: false when `stop` has ended it.
    /// - Throws: `deviceLost`, `deviceStuck`, `deviceFailed`.
    package mutating func drain(unless stop: Wakeup) throws(PlaybackError) -> Bool {
        let limit = Int32(Self.longestWait) * 1_000 / Self.drainInterval
        for _ in 0..<limit {
            let code = unsafe snd_pcm_drain(handle.pcm)
            // An underrun while draining is the end that was waited for.
            if code == 0 || code == -EPIPE { return true }
            guard code == -EAGAIN || code == -EINTR else {
                let error = ALSAError(operation: "snd_pcm_drain", code: -code)
                throw error.isLoss ? .deviceLost(device: name) : error.playing(on: name)
            }
            if Self.isSignalled(stop, within: Self.drainInterval) { return false }
            if unsafe snd_pcm_state(handle.pcm) != SND_PCM_STATE_DRAINING { return true }
        }
        throw .deviceStuck(device: name, seconds: Self.longestWait)
    }

    /// Prepares a card that ran dry (`EPIPE`) or was suspended (`ESTRPIPE`) to play on.
    private func recover(_ error: ALSAError) throws(PlaybackError) {
        guard error.code == EPIPE || error.code == ESTRPIPE else {
            throw error.isLoss ? .deviceLost(device: name) : error.playing(on: name)
        }
        do throws(ALSAError) {
            try ALSAError.check("snd_pcm_prepare", unsafe snd_pcm_prepare(handle.pcm))
        } catch {
            throw error.isLoss ? .deviceLost(device: name) : error.playing(on: name)
        }
    }

    /// Waits until the card has room, or says something else; false when `stop` is signalled.
    private mutating func waitForRoom(unless stop: Wakeup) throws(PlaybackError) -> Bool {
        descriptors.removeAll(keepingCapacity: true)
        descriptors.append(pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0))
        handle.appendPollDescriptors(to: &descriptors)
        let count = nfds_t(descriptors.count)
        let ready = unsafe poll(&descriptors, count, Int32(Self.longestWait) * 1_000)
        guard ready != 0 else {
            throw .deviceStuck(device: name, seconds: Self.longestWait)
        }
        if descriptors[0].revents != 0 { return false }
        // A plug-in takes its own signals back here.
        var events: UInt16 = 0
        _ = unsafe descriptors.withUnsafeMutableBufferPointer { [pcm = handle.pcm] buffer in
            let own = buffer.extracting(1...)
            return unsafe snd_pcm_poll_descriptors_revents(
                pcm, own.baseAddress, UInt32(own.count), &events)
        }
        return true
    }

    private static func isSignalled(_ stop: Wakeup, within milliseconds: Int32 = 0) -> Bool {
        var descriptor = pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&descriptor, 1, milliseconds) > 0
    }
}
