// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs
package import AudioCore
internal import Glibc
package import LinuxPlatform

/// The capture loop's part of one take: source → converter → encoder → ring.
///
/// Everything but `init` and the opening of the source happens on the capture thread. After the
/// first second nothing is allocated. Lost frames are owed to the timeline: silence of the same
/// length goes into the encoder before the next frames do.
package final class CaptureStage {
    /// Per channel: 100 ms at 16 kHz.
    private static let framesPerRead = 1_600
    /// Reads in a row before other takes get their turn.
    private static let readsPerTurn = 16

    let opening: SourceOpening
    /// Set for the journal after each write, and at the end.
    let mark: Mark?
    private let source: any CaptureSource
    private let output: EncodedOutput
    private let plan: CapturePlan
    private let control: CaptureControl
    private let account: CaptureAccount
    private let tell: (CaptureEvent) -> Void

    private var phase = CapturePhase.unopened
    private var openingWatch: OpeningWatch
    private var format = StreamFormat.speech
    private var converter: SpeechConverter?
    private let gate = VoiceGate()
    private var watch = SignalWatch(sampleRate: StreamFormat.speech.sampleRate)
    private var details: SourceDetails?
    /// Or when the source was opened.
    private var lastFrame = ContinuousClock.now
    private var tailFrames = 0
    private var hasToldQuiet = false
    private var wait = StageWait.opening
    /// The place of the source's descriptors in the polled array.
    private var polled = 0..<0
    private var isReady = false
    /// Interleaved samples as the source delivers them.
    private var raw: [Int16] = []
    /// 16 kHz mono.
    private var speech: [Int16] = []

    /// The ring is empty and has room for 200 ms at least; `tell` is called on the capture thread,
    /// and last with `ended`.
    package init(
        source: any CaptureSource, encoder: any AudioEncoder, producer: consuming ByteRing.Producer,
        plan: CapturePlan, control: CaptureControl, account: CaptureAccount, mark: Mark? = nil,
        tell: @escaping @Sendable (CaptureEvent) -> Void
    ) {
        output = EncodedOutput(
            encoder: encoder, producer: producer, account: account,
            framesAtOnce: Self.framesPerRead)
        // A smaller ring would make a source wait for room that never comes.
        precondition(output.hasRoom(forFrames: Self.speechFramesPerRead))
        (self.source, self.mark) = (source, mark)
        opening = SourceOpening(source)
        openingWatch = OpeningWatch(isLive: source.isLive, longestFrames: plan.longestFrames)
        self.plan = plan
        self.control = control
        self.account = account
        self.tell = tell
    }

    var didWrite: Bool { output.didWrite }

    /// Nil when the take has ended.
    var pendingWait: StageWait? { if case .ended = phase { nil } else { wait } }

    func appendPollDescriptors(to descriptors: inout [pollfd]) {
        let first = descriptors.count
        source.appendPollDescriptors(to: &descriptors)
        polled = first..<descriptors.count
    }

    func noteReadiness(in descriptors: Span<pollfd>) {
        guard !polled.isEmpty else { return }
        let own = descriptors.extracting(polled)
        for index in own.indices where own[index].revents != 0 {
            isReady = source.isReady(own)
            break
        }
        polled = 0..<0
    }

    func turn(now: ContinuousClock.Instant) {
        output.didWrite = false
        guard isDue(now: now) || phase.heeds(control) || isUnopenedForGood else { return }
        isReady = false
        if case .unopened = phase {
            if let result = opening.result { begin(result, now) } else { awaitOpening(now) }
        }
        obeyControl()
        switch phase {
        case .ended, .unopened: break
        case .closing(let cause): close(cause)
        default: readWhatIsThere(now)
        }
    }

    private func isDue(now: ContinuousClock.Instant) -> Bool {
        if case .unopened = phase, opening.result != nil { return true }
        return switch wait {
        case .opening: openingWatch.due == nil
        case .journal: output.awaitDrain()
        case .source(.until(let instant)): now >= instant
        case .source(.forDescriptors): isReady
        case .source(.forDescriptorsOrUntil(let instant)): isReady || now >= instant
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
        _ opened: Result<StreamFormat, CaptureError>, _ now: ContinuousClock.Instant
    ) {
        // Until it is known better.
        wait = .source(.until(.now))
        do throws(CaptureError) {
            format = try opened.get()
        } catch {
            phase = .closing(.source(error))
            return
        }
        details = source.details
        tell(.opened(format, details))
        watch = SignalWatch(sampleRate: format.sampleRate)
        lastFrame = now
        let samples = Self.framesPerRead * format.sampleRate / StreamFormat.speech.sampleRate
        raw = [Int16](repeating: 0, count: max(samples, 1) * format.channelCount)
        speech.reserveCapacity(2 * Self.framesPerRead)
        do {
            if format != .speech {
                converter = try SpeechConverter(
                    from: format, quality: source.isLive ? .live : .recording)
            }
        } catch {
            phase = .closing(
                .source(.formatRefused(device: source.name, detail: error.description)))
            return
        }
        do throws(EncodingError) {
            try output.begin()
            phase = .running
        } catch {
            phase = .closing(.encoder(error))
        }
    }

    private func obeyControl() {
        if phase.canResume(control), control.takeResume() {
            (phase, tailFrames) = (.running, 0)
            tell(.resumed)
        }
        let next = phase.obeying(control, hasTail: source.isLive && plan.tail != .none)
        switch (phase, next) {
        case (.unopened, .unopened) where isUnopenedForGood: phase = .closing(emptyEnd)
        case (.running, .tail) where isTooShort, (.running, .draining) where isTooShort:
            phase = .closing(.tooShort(frames: account.capturedFrames + account.gapFrames))
        case (.running, .draining), (.tail, .draining): drain()
        default: phase = next
        }
    }

    /// Whether the recording was stopped before it was worth sending.
    private var isTooShort: Bool {
        source.isLive && account.capturedFrames + account.gapFrames < plan.leastFrames
    }

    private func drain() {
        source.requestStop()
        isCut = !source.isLive
        phase = .draining
    }

    private func close(_ cause: CaptureEnd.Cause) {
        phase = .closing(cause)
        let isOurs = opening.close()
        let isSettled = output.settle()
        // A cancelled take ends at once, with what the ring has room for.
        guard isSettled || cause == .cancelled else { return waitForJournal() }
        if case .encoder = cause {
            // What the encoder still holds cannot be had.
        } else if isSettled, account.encodedFrames > 0 || cause == .finished {
            do throws(EncodingError) {
                try finishEncoding()
            } catch {
                return close(.encoder(error))
            }
        }
        guard output.pushOut() || cause == .cancelled else { return waitForJournal() }
        if isOurs, let closing = source.closing { return wait = .source(closing) }
        // Before the ring: a body that ends first might be answered before this is known.
        var end = CaptureEnd(
            cause: hasNothing(cause) ? emptyEnd : cause, gaps: output.gaps,
            warning: isOurs ? source.warning : nil,
            hasVoice: source.isLive ? gate.hasHeardVoice : nil, faults: watch.faults,
            details: details)
        if isCut { end.cut(source.name) }
        tell(.ended(end))
        output.finish()
        phase = .ended
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
        if let converter {
            do {
                try converter.finish(into: &speech)
            } catch {
                throw .codecFailed(operation: "resampling", reason: error.description)
            }
            trimToLimit()
            account.addCaptured(speech.count)
        }
        try output.finishEncoding(speech)
    }

    private func waitForJournal() {
        // It may have everything by now, and would not say so again.
        wait = output.awaitDrain() ? .source(.until(.now)) : .journal
    }

    // MARK: - Reading

    private func readWhatIsThere(_ now: ContinuousClock.Instant) {
        for _ in 0..<Self.readsPerTurn {
            guard mayRead else { return waitForJournal() }
            let read: SourceRead
            do throws(CaptureError) {
                var buffer = raw
                raw = []
                defer { raw = buffer }
                var span = buffer.mutableSpan
                read = try source.read(into: &span)
            } catch {
                return close(.source(error))
            }
            switch read {
            case .frames(let count):
                lastFrame = now
                if let cause = take(frames: count) { return close(cause) }
                // By then the journal mostly has these, and need not say so.
                if let next = source.nextFrames, next > now { return wait = .source(.until(next)) }
            case .gap(let frames): if lose(frames) { return close(.limitReached) }
            case .wait(let reason):
                wait = .source(watching(reason, now))
                return
            case .end: return close(.finished)
            }
        }
        wait = .source(.until(.now))
    }

    /// The wait of a live source, cut at the moment when no frame has come for too long.
    private func watching(
        _ reason: SourceWait, _ now: ContinuousClock.Instant
    ) -> SourceWait {
        guard source.isLive, watch.state != .absent else { return reason }
        let due = lastFrame + SignalWatch.patience
        guard now < due else {
            if let state = watch.miss() { tell(.signal(state)) }
            return reason
        }
        return switch reason {
        case .forDescriptors: .forDescriptorsOrUntil(due)
        case .forDescriptorsOrUntil(let instant): .forDescriptorsOrUntil(min(instant, due))
        case .until: reason
        }
    }

    /// Whether a read may be made: a live source is always read, a file while there is room.
    ///
    /// Of any other, such as a pipe, a killed program loses what it has read and not written; so
    /// the journal must have the last read before the next is made.
    private var mayRead: Bool {
        if source.isLive { return true }
        guard source.isStored else { return output.awaitDrain() }
        return output.hasRoom(forFrames: Self.speechFramesPerRead)
    }

    /// Frames at 16 kHz, with what the converter held back.
    private static let speechFramesPerRead = 2 * framesPerRead

    /// Returns why the take must end now, if it must.
    private func take(frames count: Int) -> CaptureEnd.Cause? {
        speech.removeAll(keepingCapacity: true)
        let samples = count * format.channelCount
        do {
            if let converter {
                let raw = raw
                try converter.convert(raw.span.extracting(first: samples), into: &speech)
            } else {
                speech.append(contentsOf: raw[..<samples])
            }
        } catch {
            return .source(
                .deviceFailed(
                    device: source.name, operation: "resampling", reason: error.description))
        }
        let reachesLimit = trimToLimit()
        let isFirst = account.firstFrame == nil
        account.addCaptured(speech.count)
        if isFirst, account.firstFrame != nil { tell(.began) }
        let level = Level(of: speech.span)
        account.set(level)
        if source.isLive { listen(to: samples) }
        do throws(EncodingError) {
            try output.encodeOrOwe(speech)
        } catch {
            return .encoder(error)
        }
        if reachesLimit { return .limitReached }
        countTail(speech.count)
        return nil
    }

    /// `samples` as delivered, and `speech` after conversion.
    private func listen(to samples: Int) {
        let changed = watch.hear(raw.span.extracting(first: samples), channels: format.channelCount)
        if let changed { tell(.signal(changed)) }
        gate.hear(speech.span)
        guard case .running = phase, let silence = plan.silenceFrames, gate.hasHeardVoice else {
            return
        }
        let isQuiet = gate.silentFrames >= silence
        if isQuiet, !hasToldQuiet { tell(.quiet) }
        hasToldQuiet = isQuiet
    }

    /// Returns whether the take must end now.
    private func lose(_ frames: Int) -> Bool {
        let lost = output.lose(frames, sampleRate: format.sampleRate, most: framesLeft)
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

    /// Cuts `speech` at the plan's limit.
    @discardableResult
    private func trimToLimit() -> Bool {
        let left = framesLeft
        guard speech.count >= left else { return false }
        speech.removeLast(speech.count - left)
        return true
    }
}
