// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore

/// The pauses of a take, in order; those behind the thousandth are not told apart.
struct CapturePauses {
    private static let limit = 1_000

    private(set) var all: [CapturePause] = []
    private var began: ContinuousClock.Instant?

    mutating func begin(at frame: Int) {
        began = .now
        if all.count < Self.limit { all.append(CapturePause(start: frame)) }
    }

    mutating func end() {
        if let began, !all.isEmpty { all[all.count - 1].length = .now - began }
        began = nil
    }
}

// While a take pauses, its live source is closed, so that nothing can be heard. The encoder keeps the
// sound before the pause, and the sound behind it belongs to the same recording.
extension CaptureStage {
    /// A request ends the pause; the clock does not.
    static var pauseWait: StageWait { .source(.until(.now + .seconds(3_600))) }

    /// The source has given its last frame before the pause.
    func pause() {
        do throws(EncodingError) {
            speech.removeAll(keepingCapacity: true)
            try finishConverting()
            try output.encodeOrOwe(speech)
        } catch {
            phase = .closing(.encoder(error))
            return wait = .source(.until(.now))
        }
        if source.pause() { rest() }
    }

    /// Nothing is read before a request.
    func rest() {
        (phase, wait) = (.paused, Self.pauseWait)
        let frame = account.capturedFrames + account.gapFrames
        pauses.begin(at: frame)
        tell(.paused(frame: frame))
        // A request that has come meanwhile is not told again.
        if phase.heeds(control) { wait = .source(.until(.now)) }
    }

    /// Goes on inside the tail, or opens the source again; false when the take has been lost.
    func goOn() -> Bool {
        if case .paused = phase {
            pauses.end()
            wait = .source(.until(.now))
            gate.beginAnew()
            hasToldQuiet = false
        }
        if case .paused = phase, source.isLive {
            do throws(CaptureError) {
                guard let format = try source.resume() else { return false }
                guard adopt(format, .now) else { return true }
            } catch {
                phase = .closing(.source(error.afterPause(of: source.name)))
                return true
            }
        }
        phase = .running
        tell(.resumed)
        return true
    }

    /// The source is left to its thread, which has not come back from a call.
    func loseSource(after patience: Duration) {
        source.leave()
        wait = .source(.until(.now))
        if case .closing = phase { return }
        let seconds = Int(patience / .seconds(1))
        phase = .closing(
            control.isCancelRequested
                ? .cancelled : .source(.deviceHangs(device: source.name, seconds: seconds)))
    }

    /// The driver has not come back for a second.
    func missFrames() {
        if case .closing = phase { return }
        if let state = watch.miss() { tell(.signal(state)) }
    }

    func waitForJournal() {
        // It may have everything by now, and would not say so again.
        wait = output.callForDrain() ? .source(.until(.now)) : .journal
    }

    /// Takes what the converter has held back; it is done with then.
    func finishConverting() throws(EncodingError) {
        guard let converter else { return }
        do {
            try converter.finish(into: &speech)
        } catch {
            throw .codecFailed(operation: "resampling", reason: error.description)
        }
        hasChosenChannel = hasChosenChannel || converter.hasChosenChannel
        self.converter = nil
        trimToLimit()
        account.addCaptured(speech.count)
    }
}

extension CaptureError {
    fileprivate func afterPause(of device: String) -> CaptureError {
        var reason = description
        if reason.hasPrefix("cannot record from '\(device)': ") {
            reason.removeFirst("cannot record from '\(device)': ".count)
        }
        return .deviceFailed(
            device: device, operation: "opening it after the pause", reason: reason)
    }
}
