// SPDX-License-Identifier: Apache-2.0

/// Push to talk: told of keys, commands and takes, it says which takes begin and end.
///
/// Pure. One take at most is recorded; those before it are delivered meanwhile:
///
/// ```
/// idle ──press──▶ arming ──first frame──▶ recording ──release──▶ tail ──▶ sending ──▶ waiting
///                                             ▲                   │          done, kept,
///                                             └──────press────────┘          cancelled, dropped
/// ```
///
/// A key that goes up again at once was tapped: the recording is latched, and the next press ends
/// it. Commands start and stop as they say. All of them may come twice, late or never. A machine
/// that listens again begins the next take itself once silence has ended one.
struct TalkMachine: Sendable {
    enum Event: Sendable, Equatable {
        /// An act of a person; a key's comes with the name that tells it from others.
        case input(Dictation.Input, key: String = "")
        /// The clock may have reached `nextTime`.
        case time
        /// By the take's number.
        case take(Int, DictationStep)
    }

    /// Carried out in order.
    enum Action: Sendable, Equatable {
        case start(Int)
        /// With a tail.
        case stop(Int)
        /// The tail may be over; then report `resumed` or `captured`.
        case resume(Int)
        /// Report `paused` once the microphone is closed.
        case pause(Int)
        case cancel(Int)
        case tell(Dictation.News)
    }

    struct Limits: Sendable {
        /// A key that is released sooner was tapped.
        static let tap = Duration.milliseconds(400)
        /// A plan of the longest length ends a recording by itself; the clock only acts this much
        /// later.
        static let grace = Duration.seconds(1)

        /// While a key is held.
        var held = Duration.seconds(300)
        /// Limit of any recording; `held` may be shorter.
        var longest = Duration.seconds(1_800)
        /// Before the end.
        var warning = Duration.seconds(10)
    }

    private struct Voice {
        enum Grip: Equatable {
            /// The key of this name, which went down then.
            case key(ContinuousClock.Instant, String)
            /// Nothing: it goes on until something ends it.
            case latch
            case released
        }

        let number: Int
        var start: ContinuousClock.Instant
        var grip: Grip
        var isHeard = false
        /// When the recording paused; nil while it goes on.
        var pausedAt: ContinuousClock.Instant?
        /// The recording was resumed, perhaps too late.
        var isResuming = false
        var isWarned = false
        /// Ended by silence, and followed by another take.
        var hasNext = false
    }

    private struct Delivery {
        let number: Int
        var isSent = false
        var isCancelled = false
    }

    private let limits: Limits
    let isForOne: Bool
    private let listensAgain: Bool
    private var voice: Voice?
    private var deliveries: [Delivery] = []
    private var next = 1
    private var actions: [Action] = []

    /// Begins without a take; the first is the only one if `isForOne`.
    init(limits: Limits = Limits(), isForOne: Bool = false, listensAgain: Bool = false) {
        (self.limits, self.isForOne, self.listensAgain) = (limits, isForOne, listensAgain)
    }

    // MARK: - What is known

    /// The phase of the newest take.
    var phase: Dictation.Phase {
        if let voice {
            if voice.pausedAt != nil { return .paused }
            return voice.grip == .released ? .tail : voice.isHeard ? .recording : .arming
        }
        guard let newest = deliveries.last(where: { !$0.isCancelled }) else { return .idle }
        return newest.isSent ? .waiting : .sending
    }

    var take: Int? {
        voice?.number ?? deliveries.last { !$0.isCancelled }?.number
    }

    var isLatched: Bool { voice?.grip == .latch }

    /// Whether a take is recorded, or the next one is about to be: silence has ended the one before.
    var isListening: Bool { isRecording || voice?.hasNext == true }

    /// When to report `time`; nil when nothing waits for the clock.
    var nextTime: ContinuousClock.Instant? {
        guard let voice, let (warning, end) = times(of: voice) else { return nil }
        return warning ?? end
    }

    // MARK: - What happens

    mutating func handle(_ event: Event, at now: ContinuousClock.Instant) -> [Action] {
        actions = []
        switch event {
        case .input(let input, let key): obey(input, of: key, now)
        case .time: checkTime(now)
        case .take(let number, let step): note(step, of: number, now)
        }
        return actions
    }

    private mutating func obey(
        _ input: Dictation.Input, of key: String, _ now: ContinuousClock.Instant
    ) {
        switch input {
        case .keyDown: press(key, now)
        case .keyUp: release(key, now)
        case .start: start(now)
        case .stop: stop()
        case .pause: pause(now)
        case .resume: resume(now)
        case .pauseOrResume: if voice?.pausedAt == nil { pause(now) } else { resume(now) }
        case .toggle: if isRecording { stop() } else { begin(.latch, now) }
        case .cancel: cancel()
        case .focusLost: if case .key = voice?.grip { latch() }
        }
    }

    private mutating func note(
        _ step: DictationStep, of number: Int, _ now: ContinuousClock.Instant
    ) {
        let isRecorded = voice?.number == number
        switch step {
        case .listening: if isRecorded { voice?.isHeard = true }
        case .resumed: if isRecorded { voice?.isResuming = false }
        case .paused: break
        case .fellSilent:
            guard isRecorded, isLatched else { break }
            stop()
            if listensAgain { voice?.hasNext = true }
        case .captured: capture(number, now)
        case .sent: change(number) { $0.isSent = true }
        case .settled:
            if isRecorded { voice = nil }
            deliveries.removeAll { $0.number == number }
        }
    }

    private var isRecording: Bool { voice.map { $0.grip != .released } ?? false }

    private mutating func press(_ key: String, _ now: ContinuousClock.Instant) {
        switch voice?.grip {
        case .key(_, let other) where other != key: actions.append(.tell(.alreadyRecording))
        case .key(let start, _): if now - start >= Limits.tap { stop() }  // its release was lost
        case .latch: stop()
        case .released, nil: begin(.key(now, key), now)
        }
    }

    private mutating func release(_ key: String, _ now: ContinuousClock.Instant) {
        guard case .key(let start, key) = voice?.grip else { return }
        // A release before its press is not a tap: nothing would end the recording.
        if start <= now, now - start < Limits.tap { latch() } else { stop() }
    }

    private mutating func start(_ now: ContinuousClock.Instant) {
        guard isRecording else { return begin(.latch, now) }
        if voice?.pausedAt != nil { resume(now) } else { actions.append(.tell(.alreadyRecording)) }
    }

    private mutating func stop() {
        guard isListening, let number = voice?.number else {
            actions.append(.tell(.notRecording))
            return
        }
        voice?.hasNext = false
        // Silence has ended it already.
        guard isRecording else { return }
        voice?.grip = .released
        voice?.pausedAt = nil
        actions.append(.stop(number))
    }

    /// No key holds a recording that pauses.
    private mutating func pause(_ now: ContinuousClock.Instant) {
        guard isRecording, let voice else { return actions.append(.tell(.notRecording)) }
        guard voice.pausedAt == nil else { return actions.append(.tell(.alreadyPaused)) }
        self.voice?.pausedAt = now
        self.voice?.grip = .latch
        actions.append(.pause(voice.number))
    }

    /// The time of the pause is no part of the recording's.
    private mutating func resume(_ now: ContinuousClock.Instant) {
        guard isRecording, let voice else { return actions.append(.tell(.notRecording)) }
        guard let pausedAt = voice.pausedAt else { return actions.append(.tell(.alreadyRecording)) }
        self.voice?.pausedAt = nil
        self.voice?.start += max(.zero, now - pausedAt)
        actions.append(.resume(voice.number))
    }

    private mutating func latch() {
        voice?.grip = .latch
        actions.append(.tell(.latched))
    }

    /// In the take whose tail runs, or in a new one.
    private mutating func begin(_ grip: Voice.Grip, _ now: ContinuousClock.Instant) {
        if let number = voice?.number {
            voice?.grip = grip
            voice?.isResuming = true
            voice?.hasNext = false
            actions.append(.resume(number))
        } else if isForOne && next > 1 {
            actions.append(.tell(.onlyOne))
        } else {
            voice = Voice(number: next, start: now, grip: grip)
            actions.append(.start(next))
            next += 1
        }
    }

    private mutating func cancel() {
        if let number = voice?.number {
            voice = nil
            deliveries.append(Delivery(number: number, isCancelled: true))
            actions.append(.cancel(number))
        } else if let number = take {
            change(number) { $0.isCancelled = true }
            actions.append(.cancel(number))
        } else {
            actions.append(.tell(.notRecording))
        }
    }

    private mutating func capture(_ number: Int, _ now: ContinuousClock.Instant) {
        guard let voice, voice.number == number else { return }
        self.voice = nil
        deliveries.append(Delivery(number: number))
        // The press came after the tail: what is said now belongs to the next take.
        if voice.isResuming, voice.grip != .released, !isForOne { begin(voice.grip, now) }
        if voice.hasNext { begin(.latch, now) }
    }

    private mutating func change(_ number: Int, _ body: (inout Delivery) -> Void) {
        guard let index = deliveries.firstIndex(where: { $0.number == number }) else { return }
        body(&deliveries[index])
    }

    // MARK: - The clock

    /// When to warn, nil if that is done or pointless, and when the recording ends.
    private func times(
        of voice: Voice
    ) -> (warning: ContinuousClock.Instant?, end: ContinuousClock.Instant)? {
        let (limit, grace): (Duration, Duration)
        if voice.pausedAt != nil { return nil }
        switch voice.grip {
        case .key: (limit, grace) = (min(limits.held, limits.longest), .zero)
        case .latch: (limit, grace) = (limits.longest, Limits.grace)
        case .released: return nil
        }
        // A person knows when a few seconds are over.
        let isWarned = voice.isWarned || limits.longest <= limits.warning * 2
        let end = voice.start + limit
        return (isWarned ? nil : end - limits.warning, end + grace)
    }

    private mutating func checkTime(_ now: ContinuousClock.Instant) {
        guard let voice, let (warning, end) = times(of: voice) else { return }
        if now >= end {
            actions.append(.tell(.limitReached))
            stop()
        } else if let warning, now >= warning {
            self.voice?.isWarned = true
            actions.append(.tell(.limitNear(max(.zero, warning + limits.warning - now))))
        }
    }
}
