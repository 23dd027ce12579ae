// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Capture
internal import SpeechService
internal import TakeStore

extension TakeMachine {
    enum Event: Sendable {
        /// The take has its place on the disk or in memory; the exchange begins with what the disk
        /// knows of the service.
        case opened((any Exchange)?)
        /// The take has no place yet, after this time; `isAwaited`: no request begins before.
        case diskIsSlow(Duration, isAwaited: Bool = false)
        case began
        /// The recording has as many bytes as a request waits for.
        case grew(byteCount: Int)
        /// The recording can be cut at these places, from a frame on.
        case cut([StretchCut], of: Int)
        /// No more audio is captured; `isEmpty` without any.
        case captured(CaptureEnd, isEmpty: Bool)
        /// The journal holds all captured audio, or as much as there was room for.
        case sealed(JournalSeal)
        case noted(lane: Int)
        case connected(lane: Int)
        /// An interim answer to a request says where its upload can be gone on with.
        case learned(lane: Int, AnswerHead)
        case heard(lane: Int, Transcript)
        case ended(lane: Int, Reply)
        case digested(String?)
        case protection(Protection.Report)
        case full
        case unsendable(TakeFailure)
        /// The exchange begins with the secrets; the failure says why they cannot be had.
        case secrets(Swift.Result<any Exchange, TakeFailure>)
        case stop
        case pause
        /// The source is closed from this frame on.
        case paused(frame: Int)
        /// That pause still lasts, for longer than a request should wait for sound.
        case pauseLasts(frame: Int)
        case resume
        case resumed
        case heardEnd
        /// No tail is wanted behind the stop.
        case endTail
        case cancel
        /// The take is delivered another time.
        case leave
        case unrecordable(TakeFailure, CaptureEnd)
        /// The loops have ended: no event follows.
        case abandoned
    }

    /// Carried out in order.
    enum Action: Sendable {
        /// Note the beginning of a request where it outlives the process, then report `noted`.
        case note(lane: Int, ExchangeRequest)
        case start(lane: Int, ExchangeRequest, Pause)
        /// Report `grew`, once, when the journal has so many bytes.
        case await(byteCount: Int)
        /// Find where the recording can be cut, and report `cut`.
        case cut(CutRequest)
        /// End the pause before a lane's request, except for what the service asked for.
        case hurry(lane: Int)
        case breakOff(lane: Int)
        /// Ask for the secrets, then report `secrets`; again if the service has refused them.
        case ask(after: TakeFailure?)
        case digest
        case remember(ServiceTraits)
        case endCapture(CaptureStop)
        /// Report `paused` once the source is closed.
        case pauseCapture
        /// Report `pauseLasts` unless the pause is over by then.
        case awaitPause(frame: Int)
        /// Resume the recording, if its tail is not over; then report `resumed`.
        case resumeCapture
        /// Note where the recording pauses, or without a frame that it goes on, with the next write.
        case savePause(frame: Int?)
        /// Note the end of an attempt, with the next write.
        case saveAttempt(TakeAttempt)
        /// Note the progress of a job, with the next write.
        case saveProgress(ExchangeProgress?)
        /// The audio is complete; `isSending`: on its way.
        case saveSeal(JournalSeal, CaptureEnd, isSending: Bool)
        /// Write everything again: the place may be a new one.
        case saveAgain
        case tell(TakeEvent)
        case settle(Ending)
    }

    enum CaptureStop { case withTail, withoutTail, cancelled }

    struct Ending: Sendable {
        var result: Result
        var capture: CaptureEnd
        /// The seal; nil when the journal was never sealed.
        var seal: JournalSeal?
        /// From the end of the recording to the last answer; nil without one.
        var answerDelay: Duration?
    }

    // MARK: - What is asked for now

    /// Whether the body of a lane may end: what ends is recognised, and billed.
    func isWanted(_ lane: Int) -> Bool {
        if case .settled = phase { return false }
        if case .sending = delivery.lanes[lane] { return true }
        return false
    }

    var isRecording: Bool { if case .recording = phase { true } else { false } }
    var isSealed: Bool { if case .delivering = phase { true } else { false } }

    // MARK: - What follows from events

    mutating func tellEarlyAnswer(_ result: TransferResult, isResent: Bool) {
        actions.append(
            .tell(
                .answeredEarly(
                    status: result.status ?? 0, sentByteCount: result.sentByteCount,
                    isResent: isResent)))
    }

    mutating func hear(_ lane: Int, _ words: Transcript) {
        guard case .sending = delivery.lanes[lane] else { return }
        delivery.transcript = delivery.exchange.transcript(with: words, of: lane)
        actions.append(.tell(.heard(delivery.transcript)))
    }

    mutating func learn(_ cuts: [StretchCut], of start: Int) {
        delivery.exchange.learn(cuts, of: start)
        saveProgress()
        beginWaiting(for: [.seal, .growth])
    }

    mutating func pause(at frame: Int) {
        guard isRecording else { return }
        pausedAt = frame
        let place = StreamFormat.speech.duration(ofFrames: frame)
        actions += [.tell(.paused(at: place)), .savePause(frame: frame), .saveAgain]
        actions.append(.awaitPause(frame: frame))
    }

    mutating func rest(at frame: Int) {
        isResting = pausedAt == frame
        if isResting { delivery.exchange.rest(true) }
    }

    mutating func resume() {
        if pausedAt != nil { actions.append(.savePause(frame: nil)) }
        (pausedAt, isResting) = (nil, false)
        actions.append(.tell(.resumed))
        delivery.exchange.rest(false)
        beginWaiting(for: [.growth])
    }

    /// The text of all stretches, for which an earlier run may have asked.
    var answeredText: Transcript { delivery.exchange.transcript(with: Transcript(), of: .max) }

    /// Asks for what the exchange needs before it can go on.
    mutating func meetNeed() {
        guard delivery.result == nil, mayBegin else { return }
        switch delivery.exchange.need(of: delivery.extent) {
        case .cut(let request)?: actions.append(.cut(request))
        case .growth(let byteCount)?: actions.append(.await(byteCount: delivery.start + byteCount))
        case nil: break
        }
    }

    /// For the next request of a complete recording.
    mutating func digest() {
        guard isSealed, !delivery.isDigested, delivery.exchange.sendsDigest else { return }
        delivery.isDigested = true
        actions.append(.digest)
    }

    mutating func noteSlowDisk(after wait: Duration, isAwaited: Bool) {
        guard !isOpened else { return }
        isDiskLate = !isAwaited
        protect(.slowFolder(wait))
        beginAll()
    }

    mutating func noteUnreadable(in transcript: Transcript) {
        let count = transcript.text.unicodeScalars.count { $0 == "\u{FFFD}" }
        guard count > 0 else { return }
        protect(
            .answer(
                count == 1
                    ? "the answer has a character that cannot be read; it stands as \u{FFFD}"
                    : "the answer has \(count) characters that cannot be read; they stand as \u{FFFD}"
            ))
    }

    mutating func protect(_ report: Protection.Report) {
        for notice in protection.take(report) {
            actions.append(.tell(.noticed(notice)))
            // The file may be a new one, in a new folder.
            if notice == .protectedAgain { actions.append(.saveAgain) }
        }
    }
}

/// The recording as a body: what of it is there.
struct RecordingExtent: Sendable, Equatable {
    /// From the first byte that is sent.
    var byteCount = 0
    /// At 16 kHz.
    var frameCount = 0
    /// The bytes of the file that have been made, its header included: the journal may have fewer.
    var encodedByteCount = 0
    var isComplete = false
    /// Since the take began.
    var elapsed = Duration.zero
    /// `Content-Digest` of all of it; nil while that is not known.
    var digest: String?
}

/// The body of a take that is sent, its exchange, and the result.
struct TakeDelivery: Sendable {
    typealias Result = Swift.Result<Transcript, TakeFailure>

    /// A lane: one request after the other.
    enum Lane: Sendable {
        enum Wait { case disk, seal, secrets, growth }

        case idle
        case waiting(for: Wait)
        /// Another lane fetches a token; the pause before the next request has run since this time.
        case awaitingToken(Pause, since: Duration)
        /// The next request is being noted, and begins after the pause.
        case noting(Pause)
        /// Under way, or in its pause.
        case sending(ExchangeRequest, Pause)
        /// A request is being noted that will not begin.
        case withdrawing
        /// A request is being broken off; its end is awaited.
        case breakingOff(ExchangeRequest)
        case done
    }

    /// In bytes of the journal.
    let start: Int
    /// The encrypted length; nil for a body that is not encrypted.
    let sealedLength: SealedLength?
    var exchange: any Exchange
    var lanes = [Lane.waiting(for: .disk)]
    var extent = RecordingExtent()
    var transcript = Transcript()
    var result: Result?
    /// Since the take began.
    var resultAt: Duration?
    /// `Content-Digest`, once it is known.
    var digest: String?
    /// Known, or being computed.
    var isDigested = false

    init(
        start: Int, exchange: any Exchange, digest: String? = nil,
        sealedLength: SealedLength? = nil
    ) {
        (self.start, self.sealedLength) = (start, sealedLength)
        self.exchange = exchange
        (self.digest, isDigested) = (digest, digest != nil)
    }

    /// Whether a lane waits for the disk no longer: the exchange is in use then.
    var hasBegun: Bool {
        lanes.contains { if case .waiting(for: .disk) = $0 { false } else { true } }
    }

    /// Whether the service may have got something, of which no end is known yet.
    var isSending: Bool {
        lanes.contains { lane in
            switch lane {
            case .sending, .breakingOff: true
            case .idle, .waiting, .awaitingToken, .noting, .withdrawing, .done: false
            }
        }
    }

    /// The length of the body that a journal of this length makes.
    func bodyByteCount(_ byteCount: Int, isWhole: Bool) -> Int {
        let audio = max(0, byteCount - start)
        return sealedLength?.body(of: audio, isWhole: isWhole) ?? audio
    }

    /// Bytes that the service has for good, in parts; nil without any.
    var stored: (audio: Int, body: Int)? {
        exchange.storedByteCount.map { (sealedLength?.audio(before: $0) ?? $0, $0) }
    }

    /// Learns how long the journal is, now that it is sealed.
    mutating func complete(byteCount: Int) {
        extent = RecordingExtent(
            byteCount: bodyByteCount(byteCount, isWhole: true), frameCount: extent.frameCount,
            isComplete: true, elapsed: extent.elapsed, digest: digest)
    }

    /// Replaces what a service has said, but not what the person wanted.
    mutating func overrule(by failure: TakeFailure) {
        guard let before = result else { return }
        if case .failure(let before) = before, before.isUnwanted || before == .left { return }
        result = .failure(failure)
    }
}
