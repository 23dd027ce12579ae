// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import CALSA
internal import Capture
internal import Glibc

/// A running capture: reads, counts what is lost, recovers, and knows where it ends.
///
/// `position` counts every frame since the start of the take, whether read or lost, so that it is
/// the place of the next frame in time.
///
/// **Overruns.** The card never stops by itself, so its position says exactly how many frames were
/// overwritten before we came. Those, and a margin that is about to be overwritten, are discarded
/// and counted to the frame. A PCM that stops all the same (`EPIPE`) is started again, and the gap
/// is what `CaptureClock` says.
///
/// **Whole periods.** A card wakes us once a period and goes on counting while we read. Had we
/// taken the few frames that came since its interrupt too, the next one would find less than
/// `avail_min` and not wake us: the double period from which most recorders suffer. So a read ends
/// at the last interrupt. A PCM whose position stands still between its wake-ups (a sound server)
/// has no such frames, and all it has is read. Which kind it is we find out by looking again in the
/// middle of a period: after the first one, and then when the take is twice as old.
struct MicrophoneStream: ~Copyable {
    /// Frames read and frames lost: the place of the next one in time.
    private(set) var position = 0

    private let name: String
    private var device: ALSADevice
    private var clock: CaptureClock
    /// Frames at the far end of the ring that are not safe to read.
    private let margin: Int

    /// Frames lost before `position`, to be reported.
    private var unreportedLoss = 0
    /// Where the card's own count began: 0, or `position` at a restart.
    private var cardStart = 0
    /// Where the take ends, once a stop was requested.
    private var end: Int?
    private var grain = Grain.fine
    /// At the last look.
    private var lastSeen = 0
    /// Where to find out about the grain.
    private var nextProbe = 0
    /// In ns.
    private let startedAt: Int64
    private var isWoken = false
    /// All whole periods were read: the card need not be asked before the next wake-up.
    private var isDrained = false
    /// In ns.
    private var silentSince: Int64
    private var hasBegun = false
    /// Since the last frame; the next restart in ns.
    private var (restarts, nextRestart) = (0, Int64(0))
    /// How often a hanging card was started anew since its last frame.
    private var pushes: Int64 = 0

    /// Whether the card's position moves between two wake-ups.
    private enum Grain {
        /// Has it moved on from this position a quarter of a period later?
        case probing(position: Int)
        case fine
        case coarse
    }

    /// Seconds without a frame after which a running card hangs.
    private static let patience = 5
    /// A card that only ever stops is broken: plug-ins call every failure an overrun.
    private static let mostRestarts = 10
    /// Bluetooth headsets need seconds to begin.
    private static let firstPatience = 10
    private static let second: Int64 = 1_000_000_000

    init(opening name: String, period: Duration) throws(CaptureError) {
        let device = try ALSADevice(opening: name, period: period)
        let started: Int64
        do throws(ALSAError) {
            started = try device.start()
        } catch {
            throw error.opening(name)
        }
        self.name = name
        margin = min(device.setup.periodFrames, device.setup.bufferFrames / 8)
        clock = CaptureClock(sampleRate: device.setup.format.sampleRate, startedAt: started)
        silentSince = started
        startedAt = started
        self.device = device
    }

    var format: StreamFormat { device.setup.format }

    var details: SourceDetails { device.details }

    mutating func addDescriptors(to events: inout PolledDescriptors) {
        device.addDescriptors(to: &events)
    }

    mutating func isReady(_ events: PolledDescriptors) -> Bool {
        isWoken = device.isReady(events)
        return isWoken
    }

    /// As `CaptureSource.isDrained`.
    var leavesNothing: Bool {
        isDrained && position < nextProbe && end == nil && unreportedLoss == 0
    }

    /// As `CaptureSource.requestStop`: the take ends with the last frame that the card has now.
    mutating func requestStop() {
        guard end == nil else { return }
        do throws(ALSAError) {
            end = position + (try device.available())
        } catch {
            // Frames that were lost since the card stopped still belong to the take.
            let now = ALSADevice.now()
            end = error.code == EPIPE ? max(position, clock.frames(at: now)) : position
        }
    }

    /// As `KeptSource.takeBackStop`; not after an error.
    mutating func takeBackStop() { end = nil }

    mutating func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        let wasWoken = isWoken
        isWoken = false
        if isAtEnd { return report() ?? .end }
        let wasDrained = isDrained
        isDrained = false
        if wasDrained, !wasWoken, end == nil, unreportedLoss == 0 {
            return try rest(wasWoken: false)
        }
        let count: Int
        do throws(ALSAError) {
            count = try advance(into: &frames, wasWoken: wasWoken)
        } catch {
            return try recover(from: error)
        }
        if let gap = report() { return gap }
        return count > 0 ? .frames(count) : try rest(wasWoken: wasWoken)
    }
}

// MARK: - Reading

extension MicrophoneStream {
    private var isAtEnd: Bool { end.map { position >= $0 } ?? false }

    /// - Returns: frames read; 0 when there are none, or when some were lost.
    private mutating func advance(
        into frames: inout MutableSpan<Int16>, wasWoken: Bool
    ) throws(ALSAError) -> Int {
        let available = try device.available()
        let now = ALSADevice.now()
        let keepsTime = hasHadTime(for: position + available, by: now)
        // A note that is ahead of time would make every later loss seem longer than it was.
        if keepsTime { clock.note(frames: position + available, at: now) }
        settleGrain(available: available, wasWoken: wasWoken)
        // Only frames about to be overwritten are given up, and then some more, so that there is
        // time to read the next ones: giving up one frame after the other would never end.
        let isFull = available > device.setup.bufferFrames - margin / 2
        guard !isFull || !keepsTime else {
            try discard(available - (device.setup.bufferFrames - margin))
            return 0
        }
        let rest = end.map { $0 - position } ?? .max
        let capacity = frames.count / format.channelCount
        // With little room left the card may write where we read, so that we take little at once.
        let isTight = available > device.setup.bufferFrames / 2
        let most = isTight ? min(capacity, device.setup.periodFrames) : capacity
        let wanted = min(readable(available, wasWoken: wasWoken), rest, most)
        guard wanted > 0 else { return 0 }
        let count = try device.read(wanted, into: &frames)
        // A card that has stopped or gone since does not write any more.
        let left = isTight && keepsTime ? (try? device.available()) ?? 0 : 0
        guard left + count <= device.setup.bufferFrames else {
            lose(count)
            return 0
        }
        position += count
        if case .fine = grain { isDrained = count == wanted && wanted < most }
        hasBegun = true
        silentSince = now
        (restarts, pushes) = (0, 0)
        return count
    }

    /// Whether a card can have captured this many frames since its start, with a quarter to spare.
    ///
    /// A device without a card, such as ALSA's "file" over "null", has a ring that is always full,
    /// and loses nothing.
    private func hasHadTime(for frames: Int, by now: Int64) -> Bool {
        let elapsed = Int((now - startedAt) / 1_000) * format.sampleRate / 1_000_000
        return frames <= elapsed + elapsed / 4 + device.setup.bufferFrames / 4
    }

    private func readable(_ available: Int, wasWoken: Bool) -> Int {
        if case .coarse = grain { return available }
        guard end == nil else { return available }
        let period = device.setup.periodFrames
        let begin = position - cardStart
        let whole = (begin + available) / period * period - begin
        // Woken in the middle of a period: this device does not count as we do.
        return whole <= 0 && wasWoken ? available : whole
    }

    private mutating func settleGrain(available: Int, wasWoken: Bool) {
        switch grain {
        case .probing(let before):
            grain = position + available > before ? .fine : .coarse
        case .coarse where !wasWoken && position + available > lastSeen:
            grain = .fine
        case .fine, .coarse:
            break
        }
        lastSeen = position + available
    }

    private mutating func discard(_ count: Int) throws(ALSAError) {
        var left = min(count, end.map { $0 - position } ?? .max)
        while left > 0 {
            let discarded = try device.discard(left)
            guard discarded > 0 else { return }
            lose(discarded)
            left -= discarded
        }
    }

    private mutating func lose(_ count: Int) {
        position += count
        unreportedLoss += count
    }

    private mutating func report() -> SourceRead? {
        guard unreportedLoss > 0 else { return nil }
        defer { unreportedLoss = 0 }
        return .gap(frames: unreportedLoss)
    }
}

// MARK: - Waiting and recovering

extension MicrophoneStream {
    /// Chooses what to wait for, now that nothing can be read.
    ///
    /// `wasRefused`: the driver did not give the frames that it claims to have.
    private mutating func rest(
        wasWoken: Bool, wasRefused: Bool = false
    ) throws(CaptureError) -> SourceRead {
        guard end == nil else { return .end }
        if wasWoken {
            switch device.state {
            case SND_PCM_STATE_DISCONNECTED:
                throw fail(ALSAError(operation: "snd_pcm_state", code: ENODEV))
            case SND_PCM_STATE_XRUN: return try restart()
            case SND_PCM_STATE_SUSPENDED: return try resume()
            default: break
            }
        }
        let limit = hasBegun ? Self.patience : Self.firstPatience
        let elapsed = ALSADevice.now() - silentSince
        // Was it we who did not come? What waits in the ring is read first.
        if !wasRefused, elapsed >= Self.second, let left = try? device.available(),
            left >= device.setup.periodFrames
        {
            return .wait(.until(.now))
        }
        let remaining = Int64(limit) * Self.second - elapsed
        guard remaining > 0 else {
            end = position
            throw .deviceSilent(device: name, seconds: limit)
        }
        // A card that hangs may go on when it is started anew.
        if hasBegun, elapsed >= (pushes + 1) * Self.second {
            pushes += 1
            return try startAnew()
        }
        // Without an answer nothing is found out, and the next read says why.
        if hasBegun, case .fine = grain, position >= nextProbe, let left = try? device.available() {
            grain = .probing(position: position + left)
            nextProbe = position * 2
            return .wait(.until(.now + quarterPeriod))
        }
        // Woken for nothing: descriptors that stay ready must not make us spin.
        if wasWoken { return .wait(.until(.now + quarterPeriod)) }
        // A driver may forget to say that its first frame is there, or have no way to.
        let untilPush = hasBegun ? (pushes + 1) * Self.second - elapsed : Self.second / 4
        return .wait(.forDescriptorsOrUntil(.now + .nanoseconds(min(remaining, untilPush))))
    }

    private var quarterPeriod: Duration { format.duration(ofFrames: device.setup.periodFrames) / 4 }

    /// Restarts the card; the time in between is counted as lost.
    private mutating func startAnew() throws(CaptureError) -> SourceRead {
        do throws(ALSAError) {
            let started = try device.restart()
            lose(max(0, clock.frames(at: started) - position))
            cardStart = position
        } catch {
            throw fail(error)
        }
        if let gap = report() { return gap }
        return try rest(wasWoken: false)
    }

    private mutating func recover(from error: ALSAError) throws(CaptureError) -> SourceRead {
        switch error.code {
        // Descriptors that stay ready for what is refused must not make us spin.
        case EAGAIN, EINTR: return try rest(wasWoken: true, wasRefused: true)
        case EPIPE: return try restart()
        case ESTRPIPE: return try resume()
        default: throw fail(error)
        }
    }

    /// Restarts a card that has stopped, but not at once again and again.
    private mutating func restart() throws(CaptureError) -> SourceRead {
        if let end {
            lose(max(0, end - position))
            return report() ?? .end
        }
        let now = ALSADevice.now()
        guard restarts == 0 || now >= nextRestart else {
            return .wait(.until(.now + .nanoseconds(nextRestart - now)))
        }
        if restarts == 0 { silentSince = now }
        guard restarts < Self.mostRestarts else {
            end = position
            throw .deviceFailed(
                device: name, operation: "snd_pcm_start",
                reason: "started \(restarts) times in a row without a frame")
        }
        restarts += 1
        nextRestart =
            now + Int64(restarts * device.setup.periodFrames) * Self.second
            / Int64(format.sampleRate)
        return try startAnew()
    }

    /// Wakes a suspended card without waiting for it.
    ///
    /// The rest of its ring, a period at most, is given up: some drivers resume with a ring
    /// that they have forgotten. `CLOCK_MONOTONIC` stands still during the sleep, so the gap
    /// counts only the time in which the machine was awake.
    private mutating func resume() throws(CaptureError) -> SourceRead {
        do throws(ALSAError) {
            try device.resume()
        } catch {
            if error.code == EAGAIN { return try rest(wasWoken: true) }
            if error.isLoss { throw fail(error) }
        }
        return try restart()
    }

    private mutating func fail(_ error: ALSAError) -> CaptureError {
        end = position
        if error.isLoss {
            return .deviceLost(device: name, frames: position, sampleRate: format.sampleRate)
        }
        return .deviceFailed(device: name, operation: "\(error.operation)", reason: error.reason)
    }
}
