// SPDX-License-Identifier: Apache-2.0

internal import CALSA
internal import AudioConversion
public import AudioCore
public import AudioEncoding
internal import Glibc

/// The capture loop's part of one take: source → converter → encoder → ring.
///
/// Everything but `init` happens on the capture thread. After the first second nothing is
/// allocated. Lost frames are owed to the timeline: silence of the same length goes into the
/// encoder before the next frames do.
public final class CaptureStage {
    /// The most frames that one read asks for, per channel: 100 ms at 16 kHz.
    private static let framesPerRead = 1_600
    /// Reads in a row before other takes get their turn.
    private static let readsPerTurn = 16
    /// How long to wait for the journal when the ring is full, a tenth of a period.
    private static let roomInterval = Duration.milliseconds(2)

    private let source: any CaptureSource
    private let encoder: any AudioEncoder
    private let producer: ByteRing.Producer
    private let plan: CapturePlan
    private let control: CaptureControl
    private let account: CaptureAccount
    private let onOpen: (StreamFormat) -> Void
    private let onEnd: (CaptureEnd) -> Void

    private var phase = Phase.unopened
    private var format = StreamFormat.speech
    private var converter: SpeechConverter?
    private var gate = VoiceGate()
    private var gaps: [Gap] = []
    /// Frames at 16 kHz that were lost and have not yet been replaced by silence.
    private var owedSilence = 0
    private var tailFrames = 0
    private var wait = SourceWait.until(.now)
    /// Where the source's descriptors stand among those polled now.
    private var polled = 0..<0
    private var isReady = false
    /// Interleaved samples as the source delivers them.
    private var raw: [Int16] = []
    /// The same as 16 kHz mono.
    private var speech: [Int16] = []
    private var encoded: [UInt8] = []
    private let silence = [Int16](repeating: 0, count: CaptureStage.framesPerRead)

    private enum Phase {
        case unopened, running, tail, draining
        case closing(CaptureEnd.Cause)
        case ended
    }

    /// Joins the parts of one take.
    ///
    /// - Parameters:
    ///   - onOpen: called once on the capture thread, with what the source delivers.
    ///   - onEnd: called once on the capture thread, after the last byte went into the ring.
    public init(
        source: any CaptureSource, encoder: any AudioEncoder, producer: consuming ByteRing.Producer,
        plan: CapturePlan, control: CaptureControl, account: CaptureAccount,
        onOpen: @escaping @Sendable (StreamFormat) -> Void,
        onEnd: @escaping @Sendable (CaptureEnd) -> Void
    ) {
        self.source = source
        self.encoder = encoder
        self.producer = producer
        self.plan = plan
        self.control = control
        self.account = account
        self.onOpen = onOpen
        self.onEnd = onEnd
        gaps.reserveCapacity(16)
    }

    /// Whether bytes went into the ring in the last turn.
    private(set) var didWrite = false

    /// What the next turn waits for, or nil when the take has ended.
    var pendingWait: SourceWait? { if case .ended = phase { nil } else { wait } }

    /// Adds the source's descriptors, when it waits for them.
    func appendPollDescriptors(to descriptors: inout [pollfd]) {
        let first = descriptors.count
        source.appendPollDescriptors(to: &descriptors)
        polled = first..<descriptors.count
    }

    /// Takes note of what the poll marked.
    func noteReadiness(in descriptors: Span<pollfd>) {
        guard !polled.isEmpty else { return }
        let own = descriptors.extracting(polled)
        for index in own.indices where own[index].revents != 0 {
            isReady = source.isReady(own)
            break
        }
        polled = 0..<0
    }

    /// Carries everything that is there into the ring.
    func turn(now: ContinuousClock.Instant) {
        didWrite = false
        guard isDue(now: now) || controlAsks else { return }
        isReady = false
        if case .unopened = phase { open() }
        applyControl()
        switch phase {
        case .ended: break
        case .closing(let cause): close(cause)
        default: readWhatIsThere(now: now)
        }
    }

    private func isDue(now: ContinuousClock.Instant) -> Bool {
        switch wait {
        case .until(let instant): now >= instant
        case .forDescriptors: isReady
        case .forDescriptorsOrUntil(let instant): isReady || now >= instant
        }
    }

    // MARK: - Opening and ending

    private var controlAsks: Bool {
        switch phase {
        case .running: control.isStopRequested || control.isCancelRequested
        case .tail, .draining: control.isCancelRequested
        default: false
        }
    }

    private func open() {
        do throws(CaptureError) {
            format = try source.open()
        } catch {
            phase = .closing(.source(error))
            return
        }
        onOpen(format)
        let samples = Self.framesPerRead * format.sampleRate / StreamFormat.speech.sampleRate
        raw = [Int16](repeating: 0, count: max(samples, 1) * format.channelCount)
        speech.reserveCapacity(2 * Self.framesPerRead)
        encoded.reserveCapacity(
            encoder.maximumByteCount(forFrames: 2 * Self.framesPerRead))
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
            try encoder.begin(into: &encoded)
            phase = .running
        } catch {
            phase = .closing(.encoder(error))
        }
    }

    private func applyControl() {
        if control.isCancelRequested {
            switch phase {
            case .running, .tail, .draining: phase = .closing(.cancelled)
            default: break
            }
        }
        guard case .running = phase, control.isStopRequested else { return }
        if source.isLive && control.keepsTail && plan.tail != .none {
            phase = .tail
        } else {
            drain()
        }
    }

    /// Takes what the device still holds; the source then says `end`.
    private func drain() {
        source.requestStop()
        phase = .draining
    }

    private func close(_ cause: CaptureEnd.Cause) {
        source.close()
        guard pushOut(), settleSilence() else { return waitForRoom() }
        if case .encoder = cause {
            // What the encoder still holds cannot be had.
        } else if account.capturedFrames > 0 || cause == .finished {
            do throws(EncodingError) {
                try finishEncoding()
            } catch {
                phase = .closing(.encoder(error))
                return close(.encoder(error))
            }
        }
        guard pushOut() else {
            phase = .closing(cause)
            return waitForRoom()
        }
        producer.finish()
        phase = .ended
        onEnd(CaptureEnd(cause: cause, gaps: gaps, warning: source.warning))
    }

    private var isEncodingFinished = false

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
            try encode(speech, first: speech.count)
        }
        try encoder.finish(into: &encoded)
    }

    private func waitForRoom() {
        wait = .until(.now + Self.roomInterval)
    }

    // MARK: - Reading

    private func readWhatIsThere(now: ContinuousClock.Instant) {
        for _ in 0..<Self.readsPerTurn {
            guard hasRoom else { return waitForRoom() }
            let read: SourceRead
            do throws(CaptureError) {
                var buffer = raw
                raw = []
                defer { raw = buffer }
                var span = buffer.mutableSpan
                read = try source.read(into: &span)
            } catch {
                phase = .closing(.source(error))
                return close(.source(error))
            }
            switch read {
            case .frames(let count):
                if let cause = take(frames: count) {
                    phase = .closing(cause)
                    return close(cause)
                }
            case .gap(let frames):
                owe(
                    frames * StreamFormat.speech.sampleRate / format.sampleRate, cause: .overrun)
            case .wait(let reason):
                wait = reason
                return
            case .end:
                phase = .closing(.finished)
                return close(.finished)
            }
        }
        wait = .until(now)
    }

    /// Whether a read may be made: a live source is always read, others wait for the journal.
    private var hasRoom: Bool {
        source.isLive
            || producer.freeByteCount >= encoder.maximumByteCount(forFrames: speechFramesPerRead)
    }

    private var speechFramesPerRead: Int { 2 * Self.framesPerRead }

    /// Encodes what was just read. Returns why the take must end now, if it must.
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
        account.addCaptured(speech.count)
        let level = Level(of: speech.span)
        account.set(level)
        gate.hear(level, frames: speech.count)
        do throws(EncodingError) {
            try encodeOrOwe()
        } catch {
            return .encoder(error)
        }
        if reachesLimit { return .limitReached }
        if case .tail = phase {
            tailFrames += speech.count
            if plan.tail.isOver(recorded: tailFrames, silent: gate.silentFrames) { drain() }
        }
        return nil
    }

    /// Cuts `speech` where the take would become longer than allowed.
    @discardableResult
    private func trimToLimit() -> Bool {
        guard let limit = plan.longestFrames else { return false }
        let left = max(0, limit - account.capturedFrames - account.gapFrames)
        guard speech.count >= left else { return false }
        speech.removeLast(speech.count - left)
        return true
    }

    // MARK: - Encoding

    private func encodeOrOwe() throws(EncodingError) {
        let needed = encoder.maximumByteCount(forFrames: speech.count)
        guard try writeSilence(), producer.freeByteCount >= needed else {
            // A live source cannot wait: the whole period becomes a gap.
            return owe(speech.count, cause: .ringFull, wasCaptured: true)
        }
        try encode(speech, first: speech.count)
        _ = pushOut()
    }

    private func encode(_ samples: borrowing [Int16], first count: Int) throws(EncodingError) {
        try encoder.encode(samples.span.extracting(first: count), into: &encoded)
        account.addEncoded(frames: count, bytes: 0)
    }

    /// Puts the encoder's output into the ring; false when it must wait for room.
    private func pushOut() -> Bool {
        guard !encoded.isEmpty else { return true }
        guard producer.write(encoded.span) else { return false }
        account.addEncoded(frames: 0, bytes: encoded.count)
        encoded.removeAll(keepingCapacity: true)
        didWrite = true
        return true
    }

    private func owe(_ frames: Int, cause: Gap.Cause, wasCaptured: Bool = false) {
        guard frames > 0 else { return }
        let start = account.encodedFrames + owedSilence
        if wasCaptured { account.addCaptured(-frames) }
        account.addGap(frames)
        owedSilence += frames
        if let last = gaps.last, last.cause == cause, last.start + last.frames == start {
            gaps[gaps.count - 1].frames += frames
        } else if gaps.count < 1_000 {
            gaps.append(Gap(cause: cause, start: start, frames: frames))
        } else {
            gaps[gaps.count - 1].frames += frames
        }
    }

    /// Encodes the silence that is owed, as far as the ring has room.
    ///
    /// - Returns: whether nothing is owed any more.
    private func writeSilence() throws(EncodingError) -> Bool {
        while owedSilence > 0 {
            let count = min(owedSilence, silence.count)
            let needed = encoder.maximumByteCount(forFrames: count)
            guard pushOut(), producer.freeByteCount >= needed else { return false }
            try encode(silence, first: count)
            owedSilence -= count
        }
        return pushOut()
    }

    private func settleSilence() -> Bool {
        do throws(EncodingError) {
            return try writeSilence()
        } catch {
            // The encoder is broken; the take ends with what it gave.
            owedSilence = 0
            return true
        }
    }
}
