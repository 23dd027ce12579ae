// SPDX-License-Identifier: Apache-2.0

public import AudioCore
public import Capture
public import SpeechService

/// An event of a take; they come in order.
public enum TakeEvent: Sendable {
    /// The source is not open yet, though it has had a second for that; it is waited for.
    case opening(source: String)
    /// The source is open and delivers this; its first frame may still be awaited.
    case listening(source: String, format: StreamFormat)
    /// The first frame came from the source, this long after the take began: nothing that is said
    /// from now on is lost.
    case began(after: Duration)
    /// The take is less safe on the disk than it should be, or safe again.
    case noticed(TakeNotice)
    /// The connection of this attempt stands.
    case connected(attempt: Int)
    /// How far the take has come; at most ten a second, and one when all is sent.
    ///
    /// Old ones are dropped. None come unless `DeliveryPlan.reportsProgress`.
    case progress(TakeProgress)
    /// The settings that were agreed on with the device that was opened.
    case negotiated(SourceDetails)
    /// The signal of the microphone is like this from now on; it was good before the first of these.
    case signal(SignalState)
    /// So much sound was lost just now, before it could be read; silence stands in its place.
    case lost(Duration)
    /// A voice was heard, and then none for `CapturePlan.silenceFrames`.
    ///
    /// Nothing follows from it by itself: `Take.stop` ends the take. Told again after another voice.
    case quiet
    /// The transcript as it is known now; it replaces the one before.
    case heard(Transcript)
    /// `Take.resume` came inside the tail or a pause: the recording goes on, the tail is part of it.
    case resumed
    /// The microphone is closed until `Take.resume`, when so much is recorded.
    case paused(at: Duration)
    /// No more audio is captured.
    case captured(CaptureEnd)
    /// The connection of an attempt has taken the whole recording; the answer is awaited.
    ///
    /// Told once for each attempt that comes so far.
    case sent
    /// The service refused, perhaps while the voice still speaks. Recording goes on; the take
    /// will be kept.
    case refused(TakeFailure)
    /// The transfer broke, or the service cannot answer now; recording goes on. The next
    /// attempt begins after the pause.
    case interrupted(TakeFailure, pause: Duration)
    /// The next request of a recording in several waits this long: the service takes no more of them a
    /// minute.
    case paced(pause: Duration)
    /// The service answered with this status when it had this many bytes of a body that was longer,
    /// or not at its end. Recording goes on; if `isResent`, the body is sent once more when it is
    /// complete, with its length.
    case answeredEarly(status: Int, sentByteCount: Int, isResent: Bool)
    /// The whole audio is sent again from its start, to this URL.
    case resending(attempt: Int, url: String)
}

/// How far a take has come.
public struct TakeProgress: Sendable, Equatable {
    /// The length of the recording, gaps included.
    public var elapsed: Duration
    /// How loud the last period was.
    public var level: Level
    /// Bytes that the journal holds.
    public var journaledByteCount: Int
    /// Bytes of them that are to be sent.
    package let bodyByteCount: Int
    /// Bytes that the connection of the present attempt has taken.
    public var sentByteCount: Int
    /// Whether the recording has ended, and the counts but the last will not grow.
    public var isComplete: Bool
    /// Whether the end was asked for, and the tail is being recorded.
    package internal(set) var isEnding = false
}

/// A remark for a person about a take: about the disk, the source, or a limit.
public enum TakeNotice: Sendable, Equatable {
    /// The take cannot be kept on the disk, and lives in memory; the text says why.
    case unprotected(reason: String)
    /// The disk holds everything again.
    case protectedAgain
    /// A killed program would take along what the disk does not have yet; the text says why.
    case fragile(reason: String)
    /// A part of a take of an earlier run is missing or silent, because its program was killed, or its
    /// audio was altered or damaged; the text says which.
    case damaged(report: String)
    /// The service's answer is not as it should be, and is taken nevertheless; the text says how.
    case oddAnswer(reason: String)
    /// The command that filters texts has failed, or has changed more than it should; the text says how.
    case unfiltered(reason: String)
    /// The disk has no room to give away; this many bytes are left, nil when unknown.
    case diskNearlyFull(freeByteCount: Int?, reason: String)
    /// Takes wait in such numbers, or are so long, that soon none is kept any more.
    case spoolNearlyFull(reason: String)
    /// The disk took this long: a power cut would have cost as much.
    case slowDisk(Duration)
    /// The service takes no longer recording than `limit`, which is reached after the rest.
    case limitNear(rest: Duration, limit: Duration)
    /// The recording ended, and is sent: the service takes no longer one.
    case limitReached(Duration)
    /// The recording ended before it was asked to, since there was no room for more.
    case cutShort(reason: String)
    /// The source ended well, and something about it was odd, such as a file that is damaged.
    case ofSource(String)
}
