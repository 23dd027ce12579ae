// SPDX-License-Identifier: Apache-2.0

/// How long each part of a transfer may take; nothing waits for ever.
///
/// A silent speaker is not a stall, and a slow recogniser is not one either: the deadlines look
/// at what should happen and does not.
public struct TransferDeadlines: Sendable, Equatable {
    /// From the start until the connection stands, name lookup and TLS included.
    public var connect: Duration
    /// How long bytes may wait in the journal without the connection taking any.
    public var stall: Duration
    /// From the last byte of the body, and from the last news in the answer, until more news or its
    /// end.
    public var answer: Duration
    /// From the head of a refusal to its end; what came by then is the answer.
    public var refusal: Duration
    /// From the moment at which the recording is complete, or from the start if it is by then, until
    /// the end; a pace that is our own adds its time.
    public var whole: Duration

    /// Creates deadlines: 10 s to connect, 8 s of stall, 60 s without an answer, 5 s for the rest of a
    /// refusal, 6 h in all once the speech has ended.
    ///
    /// With 8 s a dead link is noticed within 10 s whatever was being done.
    public init(
        connect: Duration = .seconds(10), stall: Duration = .seconds(8),
        answer: Duration = .seconds(60), refusal: Duration = .seconds(5),
        whole: Duration = .seconds(6 * 3_600)
    ) {
        self.connect = connect
        self.stall = stall
        self.answer = answer
        self.refusal = refusal
        self.whole = whole
    }

    /// Which deadline a transfer has missed.
    public enum Missed: String, Sendable {
        case connect
        /// The connection stopped taking bytes.
        case stall
        /// The answer said nothing new in time, and did not end.
        case answer
        /// The transfer of a complete recording took too long.
        case whole
    }

    func check(_ progress: TransferProgress, now: ContinuousClock.Instant) -> Check {
        // A person may speak for days: nothing of the whole is counted before the end of the speech.
        var next = (progress.wholeSince ?? now) + whole
        if progress.wholeSince != nil, now >= next { return .missed(.whole) }
        func passes(_ deadline: ContinuousClock.Instant) -> Bool {
            next = min(next, deadline)
            return now >= deadline
        }
        if !progress.isConnected {
            return passes(progress.start + connect) ? .missed(.connect) : .next(next)
        }
        if let since = progress.awaitedSince {
            return passes(since + answer) ? .missed(.answer) : .next(next)
        }
        if let waiting = progress.waitingSince, passes(waiting + stall) {
            return .missed(.stall)
        }
        return .next(next)
    }

    enum Check: Equatable {
        case missed(Missed)
        case next(ContinuousClock.Instant)
    }
}

struct TransferProgress: Equatable {
    var start: ContinuousClock.Instant
    var isConnected = false
    /// Since when the connection has not taken bytes that the journal has.
    var waitingSince: ContinuousClock.Instant?
    /// When the recording was known to be complete, plus the time that our own pace takes.
    var wholeSince: ContinuousClock.Instant?
    /// Since when more of the answer is awaited: since the body's end, or what it said last.
    var awaitedSince: ContinuousClock.Instant?
    /// How often the answer has said something new.
    var newsCount = 0

    /// A recogniser that says more and more of a long recording is not late; a server that only
    /// keeps the connection awake is.
    mutating func note(newsCount: Int, now: ContinuousClock.Instant) {
        if newsCount > self.newsCount, awaitedSince != nil { awaitedSince = now }
        self.newsCount = newsCount
    }
}

extension Duration {
    /// Rounded up, from 0 to `limit`.
    func wholeMilliseconds(upTo limit: Int) -> Int {
        if self <= .zero { return 0 }
        if self >= .milliseconds(limit) { return limit }
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000
            + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

/// Limits the bytes of a body a second.
///
/// Unused bytes are kept for a quarter of a second, so that a live voice is never late.
struct SendingPace {
    private let bytesPerSecond: Int
    private let burst: Int
    private var allowance: Int
    private var last: ContinuousClock.Instant

    init(bytesPerSecond: Int, now: ContinuousClock.Instant) {
        self.bytesPerSecond = max(1, bytesPerSecond)
        burst = max(1, self.bytesPerSecond / 4)
        allowance = burst
        last = now
    }

    /// In bytes; 0 when a chunk would be too small.
    mutating func room(now: ContinuousClock.Instant) -> Int {
        let elapsed = min(now - last, .seconds(1))
        let earned = Int(Double(bytesPerSecond) * (elapsed / .seconds(1)))
        // A fraction of a byte is earned next time.
        if earned > 0 {
            allowance = min(burst, allowance + earned)
            last = now
        }
        return allowance >= piece ? allowance : 0
    }

    mutating func spend(_ byteCount: Int) { allowance -= byteCount }

    var interval: Duration { .milliseconds(20) }

    private var piece: Int { max(1, min(burst, bytesPerSecond / 50)) }
}
