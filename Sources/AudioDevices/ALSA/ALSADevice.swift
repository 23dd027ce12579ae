// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import CALSA
internal import Capture
internal import Glibc
internal import LinuxPlatform

/// An ALSA PCM that captures, opened without blocking.
///
/// Safe because the handle is owned, closed with this value and never handed out, and
/// because every pointer passed to alsa-lib outlives its call. Used by one thread at a time.
@safe struct ALSADevice: ~Copyable {
    let setup: ALSASetup

    private let handle: ALSAHandle
    /// Frames to be converted to 16 bits, or to be thrown away.
    private var scratch: [UInt8]
    /// alsa-lib wants to write to the descriptors it judges.
    private var polled: [pollfd] = []
    /// Their place among those of all.
    private var own = 0..<0
    private static let scratchFrames = 4_096

    /// Does not start the PCM.
    init(opening device: String, period: Duration) throws(CaptureError) {
        utter_alsa_listen()
        let handle: ALSAHandle
        do throws(ALSAError) {
            handle = try ALSAHandle(opening: device)
        } catch {
            let failure = error.opening(device)
            guard case .deviceNotFound(_, let reason?) = failure, ALSADevices.isListed(device)
            else { throw failure }
            // Its name is right: something behind it is missing.
            throw .deviceUnusable(device: device, reason: reason)
        }
        setup = try ALSASetup.agree(with: handle, device: device, period: period)
        self.handle = handle
        let frameBytes = setup.layout.stride * setup.format.channelCount
        scratch = Array(repeating: 0, count: Self.scratchFrames * frameBytes)
        polled.reserveCapacity(8)
    }
}

extension ALSADevice {
    var cardName: String? {
        var allocated: OpaquePointer?
        guard unsafe snd_pcm_info_malloc(&allocated) == 0, let info = unsafe allocated else {
            return nil
        }
        defer { unsafe snd_pcm_info_free(info) }
        guard unsafe snd_pcm_info(handle.pcm, info) == 0 else { return nil }
        let card = unsafe snd_pcm_info_get_card(info)
        return card < 0 ? nil : ALSADevices.cardName(ofIndex: card)
    }

    var details: SourceDetails {
        SourceDetails(
            card: cardName, sampleFormat: setup.layout.name, format: setup.format,
            periodFrames: setup.periodFrames, bufferFrames: setup.bufferFrames)
    }

    /// - Returns: the moment of the first frame by `CLOCK_MONOTONIC`, in ns: the card's own
    ///   timestamp, or the end of the call without one.
    func start() throws(ALSAError) -> Int64 {
        let before = Self.now()
        try ALSAError.check("snd_pcm_start", unsafe snd_pcm_start(handle.pcm))
        let after = Self.now()
        guard unsafe snd_pcm_status(handle.pcm, handle.status) == 0 else { return after }
        var trigger = timespec()
        unsafe snd_pcm_status_get_trigger_htstamp(handle.status, &trigger)
        let stamp = Self.nanoseconds(trigger)
        return (before...after).contains(stamp) ? stamp : after
    }

    /// As `start`, after an overrun: what the ring held is gone.
    func restart() throws(ALSAError) -> Int64 {
        // A device that runs, and delivers nothing, must be stopped first; any other does not mind.
        _ = unsafe snd_pcm_drop(handle.pcm)
        try ALSAError.check("snd_pcm_prepare", unsafe snd_pcm_prepare(handle.pcm))
        return try start()
    }

    /// - Throws: `ALSAError` `EAGAIN` while the card wakes up, `ENOSYS` when it cannot.
    func resume() throws(ALSAError) {
        try ALSAError.check("snd_pcm_resume", unsafe snd_pcm_resume(handle.pcm))
    }

    var state: snd_pcm_state_t { unsafe snd_pcm_state(handle.pcm) }

    /// Captured frames that were not read; more than the ring holds after an overrun.
    ///
    /// - Throws: `ALSAError`; `EPIPE` for an impossible number.
    func available() throws(ALSAError) -> Int {
        let operation: StaticString = "snd_pcm_avail_update"
        let count = try ALSAError.check(operation, unsafe snd_pcm_avail_update(handle.pcm))
        guard count <= Self.mostAvailable else {
            throw ALSAError(operation: operation, code: EPIPE)
        }
        return count
    }

    /// 3 h at the highest rate: a driver that claims more has lost count.
    private static let mostAvailable = Int(Int32.max)

    /// Returns how many frames are at the start of `samples`.
    mutating func read(
        _ count: Int, into samples: inout MutableSpan<Int16>
    ) throws(ALSAError) -> Int {
        guard setup.layout != .s16 else {
            let read = unsafe samples.withUnsafeMutableBufferPointer { [pcm = handle.pcm] buffer in
                unsafe snd_pcm_readi(pcm, buffer.baseAddress, snd_pcm_uframes_t(count))
            }
            // A driver that claims to have delivered more than it was asked for has not.
            return min(count, try ALSAError.check("snd_pcm_readi", read))
        }
        let read = try readScratch(count)
        let sampleCount = read * setup.format.channelCount
        setup.layout.narrow(scratch.span, count: sampleCount, into: &samples)
        return read
    }

    /// Returns how many frames were thrown away.
    mutating func discard(_ count: Int) throws(ALSAError) -> Int { try readScratch(count) }

    private mutating func readScratch(_ count: Int) throws(ALSAError) -> Int {
        let frames = snd_pcm_uframes_t(min(count, Self.scratchFrames))
        let read = unsafe scratch.withUnsafeMutableBytes { [pcm = handle.pcm] bytes in
            unsafe snd_pcm_readi(pcm, bytes.baseAddress, frames)
        }
        return min(Int(frames), try ALSAError.check("snd_pcm_readi", read))
    }

    mutating func addDescriptors(to events: inout PolledDescriptors) {
        let first = events.count
        let count = max(0, Int(unsafe snd_pcm_poll_descriptors_count(handle.pcm)))
        unsafe events.add(count) { [pcm = handle.pcm] in
            unsafe Int(snd_pcm_poll_descriptors(pcm, $0, UInt32(count)))
        }
        own = first..<events.count
    }

    /// Whether the descriptors mean frames or a change of state; a plug-in also handles its own
    /// signals here.
    mutating func isReady(_ events: PolledDescriptors) -> Bool {
        polled.removeAll(keepingCapacity: true)
        polled.append(contentsOf: events.descriptors[own.clamped(to: 0..<events.count)])
        var found: UInt16 = 0
        let count = UInt32(polled.count)
        let code = unsafe polled.withUnsafeMutableBufferPointer { [pcm = handle.pcm] buffer in
            unsafe snd_pcm_poll_descriptors_revents(pcm, buffer.baseAddress, count, &found)
        }
        return code < 0 || found != 0
    }

    /// `CLOCK_MONOTONIC`, in ns; it stands still while the computer sleeps.
    static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return nanoseconds(time)
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// An open PCM and the container for its status.
///
/// Safe because both are made in `init`, released in `deinit`, and used by `ALSADevice`
/// alone, for the length of a call.
@safe struct ALSAHandle: ~Copyable {
    /// Never blocking.
    let pcm: OpaquePointer
    let status: OpaquePointer

    /// Opening needs these for a moment: configuration, plug-ins, the sound server; without them
    /// alsa-lib reports a missing device.
    private static let neededDescriptors = 12

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
}

/// How many frames a card must have captured by now, judged by the system's clock.
///
/// A card that was stopped by an overrun does not say how much it missed; this does. Each time the
/// card's position is known, position and clock together say when frame 0 was captured. A late look
/// at the clock and a coarse position both make that moment seem too late and never too early, so
/// the earliest one counts. It may creep by 100 ppm, more than a crystal drifts. The card's
/// position stays coarse: a frame on most, a few milliseconds on some USB cards.
struct CaptureClock {
    private let sampleRate: Int
    private var origin: Int64
    private var notedAt: Int64

    /// `now` is `CLOCK_MONOTONIC`, in ns.
    init(sampleRate: Int, startedAt now: Int64) {
        self.sampleRate = sampleRate
        origin = now
        notedAt = now
    }

    /// The card had captured `frames` at `now`, in ns.
    mutating func note(frames: Int, at now: Int64) {
        let crept = origin + max(0, now - notedAt) / 10_000
        origin = min(crept, now - duration(frames))
        notedAt = now
    }

    /// `now` in ns.
    func frames(at now: Int64) -> Int {
        let elapsed = max(0, now - origin)
        let seconds = Int(elapsed / 1_000_000_000)
        let rest = Int(elapsed % 1_000_000_000)
        return seconds * sampleRate + (rest * sampleRate + 500_000_000) / 1_000_000_000
    }

    private func duration(_ frames: Int) -> Int64 {
        let seconds = Int64(frames / sampleRate)
        let rest = Int64(frames % sampleRate)
        return seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(sampleRate)
    }
}
