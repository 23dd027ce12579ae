// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
public import Capture
public import SpeechService
public import TakeStore
public import Upload

/// How a take ended, and the account of every sample.
public struct TakeOutcome: Sendable {
    /// The take's name.
    public var id: TakeID
    /// The transcript, or why there is none.
    public var result: Result<Transcript, TakeFailure>
    /// How the recording ended.
    public var capture: CaptureEnd
    /// The counts of what was captured, encoded, stored and sent.
    public var account: TakeAccount
    /// Every transfer, in order.
    public var attempts: [TakeAttempt]
    /// How many attempts the service may have taken whole, those of earlier runs included: they
    /// were sent to the end, and the answer was a good one or never came.
    public var takenCount: Int
    /// How many of them earlier runs have made.
    var takenBefore = 0
    /// The file that holds the audio, or nil when it lives in memory only.
    public var audioPath: String?
    /// Why the take is not safe on the disk, or nil when it is.
    public var unprotected: String?
    /// Whether the disk has not failed to say, in the time that a person waits, that it has the take.
    package internal(set) var isConfirmed = true
    /// Why the recording had to end before it was asked to, or nil when it had not.
    ///
    /// The sound until then was sent.
    public var cutShort: String?
    /// Remarks for a person about disk, source and limits, in order; at most the newest 100.
    public var notices: [TakeNotice]
    /// The loudest sample of the recording in dBFS; nil for a take of an earlier run.
    package private(set) var peakDecibels: Float?
    /// How much of the recording the service had when it answered; nil when it had all.
    package private(set) var answeredAfter: Duration?
    /// From the end of the recording to the complete answer; nil without an answer.
    package private(set) var answerDelay: Duration?
    package private(set) var times = TakeTimes()
    /// The stretches in which the recording was sent; empty when it was sent as a whole.
    package private(set) var stretches: [Stretch] = []
    /// The partial texts that came, by the time since the take began.
    var partials: [TakeStory.Piece] = []
    /// The service answers with no text.
    var isOfStore = false
}

extension TakeOutcome {
    init(
        of run: TakeRun, _ machine: TakeMachine, _ ending: TakeMachine.Ending,
        _ times: TakeTimes, audioPath: String?, bodyByteCount: Int
    ) {
        let attempts = machine.attempts
        let recording = attempts.last { $0.carriesRecording }
        var answeredAfter: Duration?
        if case .success = ending.result, let last = recording?.result, !last.isBodyComplete,
            bodyByteCount > machine.delivery.stored?.body ?? 0
        {
            let share = Double(last.sentByteCount) / Double(bodyByteCount)
            answeredAfter =
                StreamFormat.speech.duration(ofFrames: run.account.encodedFrames) * share
        }
        self.init(
            id: run.id, result: ending.result, capture: ending.capture,
            account: TakeAccount(
                run.account, ending.seal, bodyOffset: run.plan.format.bodyOffset, recording,
                stored: machine.delivery.stored),
            attempts: attempts, takenCount: machine.delivery.exchange.takenCount,
            audioPath: audioPath, unprotected: machine.protection.unprotected,
            cutShort: machine.protection.endReason, notices: machine.protection.notices,
            peakDecibels: run.account.peak?.peakDecibels, answeredAfter: answeredAfter,
            answerDelay: ending.answerDelay, times: times)
        isOfStore = run.plan.service.answer.empty == .stored
        stretches = [Stretch](in: machine.delivery.exchange.progress)
        // All answers to stretches together are one.
        let own =
            stretches.isEmpty
            ? attempts.count { $0.mayBeTaken }
            : 1 + attempts.count { $0.stretchStart != nil && $0.result.mayBeTaken && !$0.wentWell }
        takenBefore = max(0, takenCount - own)
        if case .success = result, let report = stretches.silenceReport {
            notices.append(.oddAnswer(reason: report))
        }
    }

    /// How many requests were made because a service pointed to another place.
    package var redirectCount: Int {
        attempts.dropLast().count { [307, 308].contains($0.result.status) }
    }

    /// How many requests were made because the one before had failed.
    package var retryCount: Int {
        max(0, attempts.dropLast().count { !$0.wentWell } - redirectCount)
    }

    /// Bytes of the recording that a service was sent once more, by retries and where stretches overlap.
    package var resentByteCount: Int {
        // A session may begin anywhere in the recording, which is samples of two bytes.
        let (live, others) = (attempts.filter(\.isSession), attempts.filter { !$0.isSession })
        let spans = live.map { 2 * ($0.stretchStart ?? 0)..<2 * ($0.stretchStart ?? 0) + $0.size }
        let requests = Dictionary(grouping: others) { [$0.stretchStart ?? 0, $0.result.bodyStart] }
        return spans.map(\.count).reduce(0, +) - Self.union(spans)
            + requests.values.map { same in
                same.map(\.size).reduce(0, +) - (same.map(\.size).max() ?? 0)
            }.reduce(0, +)
    }

    /// How much ranges cover together.
    private static func union(_ ranges: [Range<Int>]) -> Int {
        var (end, count) = (Int.min, 0)
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            count += max(0, range.upperBound - max(range.lowerBound, end))
            end = max(end, range.upperBound)
        }
        return count
    }

    /// Whether the service may have had the whole take, or a stretch of it, more than once.
    public var mayBeDoubled: Bool { takenCount > 1 }

    /// The part of the take that the service may have had more than once, for a person.
    package var doubledPart: String { stretches.isEmpty ? "the whole take" : "a part of the take" }

    /// Whether this run alone has sent that to the end more than once, which no person has asked for.
    package var isRepeated: Bool { takenCount - takenBefore > 1 }

    /// Whether the service had all that there is of the recording when it answered; false after a failure.
    package var hadAll: Bool {
        if case .success = result { answeredAfter == nil } else { false }
    }

    /// Whether the text is that of the whole recording, as far as is known.
    ///
    /// False after a failure; when the service answered before it had all; and where a part is missing,
    /// or silent, because the program or its reading was cut, the disk was full, or the audio is damaged:
    /// `cutShort`, `capture` and `notices` say which.
    public var isWhole: Bool {
        let isDamaged = notices.contains { if case .damaged = $0 { true } else { false } }
        return hadAll && capture.isWhole && cutShort == nil && !isDamaged
    }

    /// Whether the service keeps the recording and recognises nothing: there is no text to come.
    public var isStored: Bool { isOfStore && (try? result.get().text.isEmpty) ?? false }

    /// The length of the recording, silence in place of gaps included.
    public var length: Duration { StreamFormat.speech.duration(ofFrames: account.encodedFrames) }

    /// Why an answer settles nothing, in one line without capital and full stop; nil when it does.
    ///
    /// The take is kept then.
    package var shortfall: String? {
        guard case .success(let transcript) = result else { return nil }
        if let answeredAfter {
            return "the service answered when it had \(Self.seconds(answeredAfter)) of "
                + Self.seconds(length)
        }
        guard (transcript.raw ?? transcript.text).isEmpty, !isStored else { return nil }
        guard capture.hasVoice == false else { return "heard nothing" }
        let peak = peakDecibels.map { " (peak \(Int($0.rounded())) dBFS)" }
        return "no speech heard" + (peak ?? "")
    }

    private static func seconds(_ duration: Duration) -> String {
        let tenths = Int((duration / .milliseconds(100)).rounded())
        return "\(tenths / 10).\(tenths % 10) s"
    }

    /// The flaw of the take's account, or nil when every sample is accounted for.
    public var imbalance: String? {
        var circumstances = TakeAccount.Circumstances()
        if !capture.gaps.isEmpty {
            circumstances.listedGapFrames = capture.gaps.reduce(0) { $0 + $1.frames }
        }
        circumstances.isEncodedWhole = capture.cause != .cancelled
        if case .encoder = capture.cause { circumstances.isEncodedWhole = false }
        switch result {
        case .failure(.journal), .failure(.left): circumstances.isJournaledWhole = false
        case .failure: break
        case .success:
            let recording = attempts.last { $0.carriesRecording }
            circumstances.isSentWhole = recording?.result.isBodyComplete ?? false
        }
        // Frames that had no room any more ended the recording.
        if cutShort != nil { circumstances.isJournaledWhole = false }
        return account.imbalance(circumstances)
    }

    /// Whether it is unknown if the service has the take: it was sent whole, and no answer
    /// came that could be read.
    package var isUnknown: Bool {
        switch result {
        case .failure(.notDelivered), .failure(.responseUnusable): takenCount > 0
        default: false
        }
    }
}

/// A transfer of a take.
public struct TakeAttempt: Sendable {
    /// Its number, from 1, as the request has named it; earlier runs have made those before.
    public var number: Int
    /// Where it went, without query.
    public var url: String
    /// How it ended.
    public var result: TransferResult
    var carriesRecording = true
    /// A part of the recording, which is nothing without the others.
    var isPiece = false
    /// The frame of the recording at which its stretch begins; nil for a request that carries no stretch.
    package internal(set) var stretchStart: Int?

    /// Whether the next one is another request, and not the same once more.
    fileprivate var wentWell: Bool {
        guard result.ending == .answered, let status = result.status else { return false }
        return (200..<300).contains(status) && (result.isBodyComplete || !carriesRecording)
    }

    var mayBeTaken: Bool { carriesRecording && !isPiece && result.mayBeTaken }

    fileprivate var isSession: Bool { result.messages != nil }
    fileprivate var size: Int { carriesRecording ? result.sentByteCount : 0 }
}

/// When the parts of a take happened, as durations since its beginning; nil: never.
package struct TakeTimes: Sendable, Equatable {
    /// The beginning: the key, or the command.
    var began: ContinuousClock.Instant
    package internal(set) var firstFrame: Duration?
    /// The end of the recording was asked for.
    package private(set) var stopped: Duration?
    /// The last frame was captured, or the recording has ended without one.
    package private(set) var captured: Duration?
    package private(set) var sealed: Duration?
    package internal(set) var settled: Duration?

    /// Whether the request to end was taken back since it was made.
    private var isTakenBack = false

    init(began: ContinuousClock.Instant = .now) { self.began = began }

    mutating func note(_ event: TakeMachine.Event, at elapsed: Duration) {
        switch event {
        case .stop, .heardEnd:
            if stopped == nil || isTakenBack { (stopped, isTakenBack) = (elapsed, false) }
        case .resume: isTakenBack = true
        // Unless the end was asked for once more meanwhile.
        case .resumed: if isTakenBack { (stopped, isTakenBack) = (nil, false) }
        case .captured: captured = captured ?? elapsed
        case .sealed: sealed = sealed ?? elapsed
        default: break
        }
    }
}
