// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
package import AudioCore
internal import LinuxPlatform

/// A take up to the ring: source → converter → encoder → ring.
///
/// It belongs to the capture thread, and while a live source is open to that source's `CardThread`,
/// which can lose it during any call of the source. After the first second nothing is allocated.
/// Lost frames are owed to the timeline: silence of the same length goes into the encoder before the
/// next frames do.
package final class CaptureStage {
    /// Frames of one read for each channel: 100 ms at 16 kHz.
    private static let framesPerRead = 1_600
    /// Reads in a row before other takes get their turn.
    private static let readsPerTurn = 16

    let control: CaptureControl
    let source: StageSource
    private let onWrite: @Sendable (_ isUrgent: Bool) -> Void
    let output: EncodedOutput
    private let plan: CapturePlan
    let account: CaptureAccount
    private let mayReadAhead: Bool
    let tell: (CaptureEvent) -> Void

    var phase = CapturePhase.unopened
    private(set) var openingWatch: OpeningWatch
    private var format = StreamFormat.speech
    var converter: SpeechConverter?
    /// The choice of earlier converters, and the pauses so far.
    var (hasChosenChannel, pauses) = (false, CapturePauses())
    let gate = VoiceGate()
    var watch = SignalWatch(sampleRate: StreamFormat.speech.sampleRate)
    private var details: SourceDetails?
    /// Or when the source was opened.
    var lastFrame = ContinuousClock.now
    private var tailFrames = 0
    /// Whether a frame has come; whether the silence behind the last voice was told.
    var (hasBegun, hasToldQuiet) = (false, false)
    private var isReady = false
    var wait = StageWait.opening
    /// 16 kHz mono.
    var speech: [Int16] = []

    /// The ring is empty and has room for 200 ms at least; `tell` is called on the thread that has the
    /// take, and last with `ended`.
    ///
    /// `onWrite` is called there after the ring has grown or has ended, with whether its consumer should
    /// come at once; it must not block. Without `mayReadAhead` a pipe is read when the ring is empty.
    package init(
        source: any CaptureSource, encoder: any AudioEncoder, producer: consuming ByteRing.Producer,
        plan: CapturePlan, control: CaptureControl, account: CaptureAccount,
        mayReadAhead: Bool = false,
        onWrite: @escaping @Sendable (_ isUrgent: Bool) -> Void = { _ in },
        tell: @escaping @Sendable (CaptureEvent) -> Void
    ) {
        output = EncodedOutput(
            encoder: encoder, producer: producer, account: account,
            framesAtOnce: Self.framesPerRead)
        // A smaller ring would make a source wait for room that never comes.
        precondition(output.hasRoom(forFrames: Self.speechFramesPerRead))
        self.source = StageSource(source)
        openingWatch = OpeningWatch(isLive: source.isLive, longestFrames: plan.longestFrames)
        (self.plan, self.control, self.account) = (plan, control, account)
        (self.mayReadAhead, self.onWrite, self.tell) = (mayReadAhead, onWrite, tell)
    }

    func tellReaders() { onWrite(output.isUrgent) }

    /// Whether a thread of its own has the take, of which the capture thread touches nothing then.
    var isElsewhere: Bool { source.card?.isDriving ?? false }
    var opening: SourceOpening { source.opening }
    var didWrite: Bool { output.didWrite }

    /// The event that the take waits for; nil when it has ended.
    var pendingWait: StageWait? { if case .ended = phase { nil } else { wait } }

    func noteReadiness() { isReady = true }

    func turn(now: ContinuousClock.Instant) {
        output.beginTurn()
        guard isDue(now: now) || phase.heeds(control) || isUnopenedForGood else { return }
        isReady = false
        if case .unopened = phase {
            if let result = opening.result { begin(result, now) } else { awaitOpening(now) }
        }
        guard obeyControl() else { return }
        switch phase {
        case .ended, .unopened: break
        case .closing(let cause): close(cause)
        case .paused: wait = Self.pauseWait
        default: if !source.handOver(self) { readWhatIsThere(now) }
        }
    }

    private func isDue(now: ContinuousClock.Instant) -> Bool {
        if case .unopened = phase, opening.result != nil { return true }
        return switch wait {
        case .opening: openingWatch.due == nil
        case .journal: output.awaitDrain()
        case .source(let wait): isReady || wait.due.map { now >= $0 } ?? false
        }
    }

    // MARK: - Opening and ending

    private func awaitOpening(_ now: ContinuousClock.Instant) {
        switch openingWatch.look(at: now) {
        case .nothing: break
        case .late: tell(.late)
        case .hopeless:
            let seconds = Int(openingWatch.patience / .seconds(1))
            phase = .closing(.source(.deviceHangs(device: source.name, seconds: seconds)))
        }
        wait = openingWatch.due.map { .source(.until($0)) } ?? .opening
    }

    /// Whether the end was requested before the source opened, and the source is not awaited.
    private var isUnopenedForGood: Bool {
        guard case .unopened = phase, control.isStopRequested else { return false }
        return openingWatch.isLate || !control.keepsTail
    }

    /// Why a take without a frame ends; it is not sent.
    private var emptyEnd: CaptureEnd.Cause {
        source.isLive ? .tooShort(frames: 0) : .source(.noSound(name: source.name))
    }

    private func begin(
        _ result: Result<SourceOpening.Opened, CaptureError>, _ now: ContinuousClock.Instant
    ) {
        // Until it is known better.
        wait = .source(.until(.now))
        do throws(CaptureError) {
            (format, details) = try result.get()
        } catch {
            source.release()
            phase = .closing(.source(error))
            return
        }
        tell(.opened(format, details))
        speech.reserveCapacity(2 * Self.framesPerRead)
        source.begin()
        guard adopt(format, now) else { return }
        do throws(EncodingError) {
            try output.begin()
            phase = .running
        } catch {
            phase = .closing(.encoder(error))
        }
    }

    /// Makes ready for what the open source delivers; false when that cannot be used.
    func adopt(_ format: StreamFormat, _ now: ContinuousClock.Instant) -> Bool {
        self.format = format
        watch.listen(at: format.sampleRate)
        lastFrame = now
        let samples = Self.framesPerRead * format.sampleRate / StreamFormat.speech.sampleRate
        source.makeRoom(max(samples, 1) * format.channelCount)
        do {
            converter =
                format == .speech
                ? nil
                : try SpeechConverter(from: format, quality: source.isLive ? .live : .recording)
        } catch {
            phase = .closing(
                .source(.formatRefused(device: source.name, detail: error.description)))
            return false
        }
        return true
    }

    /// - Returns: false when the take has been lost.
    private func obeyControl() -> Bool {
        if phase.canResume(control), control.takeResume() {
            tailFrames = 0
            guard goOn() else { return false }
        }
        let next = phase.obeying(control, hasTail: source.isLive && plan.tail != .none)
        switch (phase, next) {
        case (.unopened, .unopened) where isUnopenedForGood: phase = .closing(emptyEnd)
        case (.paused, .closing(.finished)) where !isTooShort:
            (phase, isCut) = (next, !source.isLive)
        case (.running, .tail) where isTooShort, (.running, .draining) where isTooShort,
            (.paused, .closing(.finished)):
            phase = .closing(.tooShort(frames: account.capturedFrames + account.gapFrames))
        // A file waits where it is.
        case (.running, .draining) where control.isPauseRequested && !source.isLive: rest()
        case (.running, .draining), (.tail, .draining): drain()
        default: phase = next
        }
        // A voice just before the stop counts.
        if case .tail = phase { gate.judge() }
        return true
    }

    /// Whether the recording was stopped before it was worth sending.
    private var isTooShort: Bool {
        source.isLive && !control.isPauseRequested
            && account.capturedFrames + account.gapFrames < plan.leastFrames
    }

    private func drain() {
        source.requestStop()
        isCut = !source.isLive
        phase = .draining(isForPause: control.isPauseRequested)
    }

    private func close(_ cause: CaptureEnd.Cause) {
        phase = .closing(cause)
        let isOut: Bool
        do throws(EncodingError) {
            isOut = try finishOutput(after: cause)
        } catch {
            return close(.encoder(error))
        }
        wait = .source(.until(.now))
        guard source.close(for: self) else { return }
        // A cancelled take ends at once, with what the ring has room for.
        guard isOut || cause == .cancelled else { return waitForJournal() }
        // Before the ring: a body that ends first might be answered before this is known.
        var end = CaptureEnd(
            cause: hasNothing(cause) ? emptyEnd : cause, gaps: output.gaps,
            warning: source.warning, hasVoice: source.isLive ? gate.hasHeardVoice : nil,
            faults: watch.faults, details: details)
        pauses.end()
        end.pauses = pauses.all
        end.judge(account, hasChosenChannel: hasChosenChannel, isLive: source.isLive)
        if isCut { end.cut(source.name) }
        tell(.ended(end))
        output.finish()
        phase = .ended
    }

    /// - Returns: whether all is in the ring.
    private func finishOutput(after cause: CaptureEnd.Cause) throws(EncodingError) -> Bool {
        guard output.settle() else { return false }
        if case .encoder = cause {
            // The frames inside the encoder cannot be had.
        } else if account.encodedFrames > 0 || cause == .finished {
            try finishEncoding()
        }
        return output.pushOut()
    }

    private func hasNothing(_ cause: CaptureEnd.Cause) -> Bool {
        (cause == .finished || cause == .limitReached)
            && account.capturedFrames + account.gapFrames == 0
    }

    /// `isCut`: a source that is not live was stopped.
    private var (isEncodingFinished, isCut) = (false, false)

    private func finishEncoding() throws(EncodingError) {
        guard !isEncodingFinished else { return }
        isEncodingFinished = true
        speech.removeAll(keepingCapacity: true)
        try finishConverting()
        try output.finishEncoding(speech)
    }

    // MARK: - Reading

    private func readWhatIsThere(_ now: ContinuousClock.Instant) {
        for _ in 0..<Self.readsPerTurn {
            guard mayRead else { return waitForJournal() }
            let read: SourceRead
            do throws(CaptureError) {
                guard let next = try source.read() else { return }
                read = next
            } catch {
                return close(.source(error))
            }
            switch read {
            case .frames(let count):
                // A driver may have been late with them: then `now` is long ago.
                lastFrame = source.card == nil ? now : .now
                if let cause = take(frames: count) { return close(cause) }
                if source.isDrained {
                    wait = .source(watching(.forDescriptorsOrUntil(now + Self.longestRest), now))
                    return
                }
                if let next = source.nextFrames, next > now { return wait = .source(.until(next)) }
            case .gap(let frames): if lose(frames) { return close(.limitReached) }
            case .wait(let reason):
                wait = .source(watching(reason, now))
                return
            case .end:
                if case .draining(isForPause: true) = phase, !control.isStopRequested {
                    return pause()
                }
                return close(.finished)
            }
        }
        wait = .source(.until(.now))
    }

    /// After this time a source that has nothing is read all the same.
    private static let longestRest = Duration.seconds(1)

    /// The wait of a live source, cut at the moment when no frame has come for too long.
    private func watching(_ reason: SourceWait, _ now: ContinuousClock.Instant) -> SourceWait {
        guard source.isLive, watch.state != .absent else { return reason }
        let due = lastFrame + SignalWatch.patience
        guard now < due else {
            if let state = watch.miss() { tell(.signal(state)) }
            return reason
        }
        return reason.isForDescriptors ? reason.limited(to: due) : reason
    }

    /// Whether a read may be made: a live source is always read, a file while there is room.
    private var mayRead: Bool {
        if source.isLive { return true }
        if output.owesSilence, !output.settle() { return false }
        // A killed program takes along what it has read from a pipe, unless the ring outlives it.
        guard source.isStored || mayReadAhead else { return output.awaitDrain() }
        return output.hasRoom(forFrames: Self.speechFramesPerRead)
    }

    /// Frames at 16 kHz, with what the converter held back.
    private static let speechFramesPerRead = 2 * framesPerRead

    /// Returns why the take must end now, if it must.
    private func take(frames count: Int) -> CaptureEnd.Cause? {
        speech.removeAll(keepingCapacity: true)
        let raw = source.samples[..<(count * format.channelCount)]
        do {
            if let converter {
                try converter.convert(raw.span, into: &speech)
            } else {
                speech.append(contentsOf: raw)
            }
        } catch {
            return .source(
                .deviceFailed(
                    device: source.name, operation: "resampling", reason: error.description))
        }
        let reachesLimit = trimToLimit()
        account.addCaptured(speech.count)
        if !hasBegun, !speech.isEmpty { tell(.began) }
        hasBegun = hasBegun || !speech.isEmpty
        account.set(Level(of: speech.span))
        if source.isLive { listen(to: raw.span) }
        do throws(EncodingError) {
            try output.encodeOrOwe(speech)
        } catch {
            return .encoder(error)
        }
        if reachesLimit { return .limitReached }
        countTail(speech.count)
        return nil
    }

    /// `raw` is what was delivered, `speech` the same after conversion.
    private func listen(to raw: Span<Int16>) {
        if let changed = watch.hear(raw, channels: format.channelCount) { tell(.signal(changed)) }
        // Once a voice is known, the next question is whether one goes on at the end: `obeyControl`.
        let isRunning = if case .running = phase { true } else { false }
        let matters = !isRunning || !gate.hasHeardVoice || plan.silenceFrames != nil
        gate.hear(speech.span, matters: matters)
        guard isRunning, let silence = plan.silenceFrames, gate.hasHeardVoice else { return }
        let isQuiet = gate.silentFrames >= silence
        if isQuiet, !hasToldQuiet { tell(.quiet) }
        hasToldQuiet = isQuiet
    }

    private func lose(_ frames: Int) -> Bool {
        let cause = source.isLive ? Gap.Cause.overrun : .damaged
        let lost = output.lose(frames, cause, sampleRate: format.sampleRate, most: framesLeft)
        tell(.lost(frames: lost))
        countTail(lost)
        return framesLeft == 0
    }

    private func countTail(_ frames: Int) {
        guard case .tail = phase else { return }
        tailFrames += frames
        if plan.tail.isOver(recorded: tailFrames, silent: gate.silentFrames) { drain() }
    }

    private var framesLeft: Int {
        guard let limit = plan.longestFrames else { return .max }
        return max(0, limit - account.capturedFrames - account.gapFrames)
    }

    @discardableResult
    func trimToLimit() -> Bool {
        let left = framesLeft
        guard speech.count >= left else { return false }
        speech.removeLast(speech.count - left)
        return true
    }
}
