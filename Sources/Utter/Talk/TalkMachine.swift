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
package struct TalkMachine: Sendable {
    /// How far the newest take has come.
    package enum Phase: String, Sendable, CaseIterable {
        /// There is no take.
        case idle
        /// The microphone is being opened.
        case arming
        /// What is said is recorded.
        case recording
        /// The key is up; the last word is still recorded.
        case tail
        /// The rest of the recording is on its way.
        case sending
        /// The service has all of it, and is to answer.
        case waiting
    }

    /// How a take ended.
    package enum Ending: String, Sendable, CaseIterable {
        /// Its text is there.
        case done
        /// It waits on the disk for another attempt.
        case kept
        /// The person did not want it.
        case cancelled
        /// There was nothing to send.
        case dropped
    }

    /// What has happened.
    package enum Event: Sendable, Equatable {
        /// The key went down; repeats of a key that is held do not count.
        case keyDown
        /// The key went up.
        case keyUp
        /// A command: a recording shall run.
        case start
        /// A command: no recording shall run.
        case stop
        /// A command: the one or the other.
        case toggle
        /// The newest take is not wanted.
        case cancel
        /// The key may go up without a word of it.
        case focusLost
        /// The clock may have reached `nextTime`.
        case time
        /// The first frame of a take was captured.
        case listening(Int)
        /// A take was resumed before its tail was over.
        case resumed(Int)
        /// The person has said nothing for as long as was asked for.
        case fellSilent(Int)
        /// No more of a take is recorded.
        case captured(Int)
        /// The service has all of a take.
        case sent(Int)
        /// A take is over.
        case settled(Int, Ending)
    }

    /// What to do, in this order.
    package enum Action: Sendable, Equatable {
        /// Begin to record the take of this number.
        case start(Int)
        /// End its recording, with a tail.
        case stop(Int)
        /// Go on with its recording, whose tail may not be over; then say `resumed` or `captured`.
        case resume(Int)
        /// Give it up.
        case cancel(Int)
        /// Tell the person.
        case tell(News)
    }

    /// What the person should know.
    package enum News: Sendable, Equatable {
        /// The recording goes on without the key; the next press ends it.
        case latched
        /// The recording ends in so long by itself, and is sent.
        case limitNear(Duration)
        /// The recording was as long as is allowed; it is sent.
        case limitReached
        /// A recording runs already.
        case alreadyRecording
        /// No recording runs.
        case notRecording
        /// Another take cannot begin here: this was the only one.
        case onlyOne
    }

    /// What is long.
    package struct Limits: Sendable {
        /// A key that is up again sooner was tapped.
        package var tap = Duration.milliseconds(400)
        /// The longest recording with a key that is held.
        package var held = Duration.seconds(300)
        /// The longest recording otherwise.
        package var latched = Duration.seconds(1_800)
        /// How long before its end the person is warned.
        package var warning = Duration.seconds(10)

        /// The usual ones.
        package init() {}
    }

    /// The take that is recorded.
    private struct Voice {
        /// What keeps a recording going.
        enum Grip: Equatable {
            /// A key that went down then.
            case key(ContinuousClock.Instant)
            /// Nothing: it goes on until something ends it.
            case latch
            /// The recording shall end.
            case released
        }

        let number: Int
        let start: ContinuousClock.Instant
        var grip: Grip
        var isHeard = false
        /// Whether it is not known yet if its tail was over when it was resumed.
        var isResuming = false
        var isWarned = false
        /// Whether silence ends it, and the next take begins by itself.
        var hasNext = false
    }

    /// A take that is not recorded any more.
    private struct Delivery {
        let number: Int
        var isSent = false
        var isCancelled = false
    }

    private let limits: Limits
    private let isForOne: Bool
    private let listensAgain: Bool
    private var voice: Voice?
    private var deliveries: [Delivery] = []
    private var next = 1
    private var actions: [Action] = []

    /// Begins without a take.
    ///
    /// - Parameters:
    ///   - limits: what is long.
    ///   - isForOne: whether the first take is the only one.
    ///   - listensAgain: whether a take that silence ends is followed by another.
    package init(limits: Limits = Limits(), isForOne: Bool = false, listensAgain: Bool = false) {
        (self.limits, self.isForOne, self.listensAgain) = (limits, isForOne, listensAgain)
    }

    // MARK: - What is known

    /// How far the newest take has come.
    package var phase: Phase {
        if let voice {
            return voice.grip == .released ? .tail : voice.isHeard ? .recording : .arming
        }
        guard let newest = deliveries.last(where: { !$0.isCancelled }) else { return .idle }
        return newest.isSent ? .waiting : .sending
    }

    /// The number of the take that `phase` is about.
    package var take: Int? {
        voice?.number ?? deliveries.last { !$0.isCancelled }?.number
    }

    /// Whether a recording goes on without a key.
    package var isLatched: Bool { voice?.grip == .latch }

    /// Whether no take runs and, of one that is for one only, none will.
    package var isOver: Bool { isForOne && next > 1 && voice == nil && deliveries.isEmpty }

    /// Whether nothing runs.
    package var isIdle: Bool { voice == nil && deliveries.isEmpty }

    /// When `time` is to be said; nil when nothing waits for the clock.
    package var nextTime: ContinuousClock.Instant? {
        guard let voice, let end = end(of: voice) else { return nil }
        return voice.isWarned ? end : end - limits.warning
    }

    // MARK: - What happens

    /// Takes note of what has happened.
    ///
    /// - Returns: what to do, in this order.
    package mutating func handle(_ event: Event, at now: ContinuousClock.Instant) -> [Action] {
        actions = []
        switch event {
        case .keyDown: press(now)
        case .keyUp: release(now)
        case .start: start(now)
        case .stop: stop()
        case .toggle: if isRecording { stop() } else { begin(.latch, now) }
        case .cancel: cancel()
        case .focusLost: if case .key = voice?.grip { latch() }
        case .time: checkTime(now)
        case .listening(let number): if voice?.number == number { voice?.isHeard = true }
        case .resumed(let number): if voice?.number == number { voice?.isResuming = false }
        case .fellSilent(let number):
            guard voice?.number == number, isLatched else { break }
            if listensAgain { voice?.hasNext = true }
            stop()
        case .captured(let number): capture(number, now)
        case .sent(let number): change(number) { $0.isSent = true }
        case .settled(let number, _):
            if voice?.number == number { voice = nil }
            deliveries.removeAll { $0.number == number }
        }
        return actions
    }

    private var isRecording: Bool { voice.map { $0.grip != .released } ?? false }

    private mutating func press(_ now: ContinuousClock.Instant) {
        switch voice?.grip {
        case .key(let start): if now - start >= limits.tap { stop() }  // its release was lost
        case .latch: stop()
        case .released, nil: begin(.key(now), now)
        }
    }

    private mutating func release(_ now: ContinuousClock.Instant) {
        guard case .key(let start) = voice?.grip else { return }
        if now - start < limits.tap { latch() } else { stop() }
    }

    private mutating func start(_ now: ContinuousClock.Instant) {
        if isRecording { actions.append(.tell(.alreadyRecording)) } else { begin(.latch, now) }
    }

    private mutating func stop() {
        guard isRecording, let number = voice?.number else {
            actions.append(.tell(.notRecording))
            return
        }
        voice?.grip = .released
        actions.append(.stop(number))
    }

    private mutating func latch() {
        voice?.grip = .latch
        actions.append(.tell(.latched))
    }

    /// Records what is said from now on: in the take whose tail runs, or in a new one.
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

    private func end(of voice: Voice) -> ContinuousClock.Instant? {
        switch voice.grip {
        case .key: voice.start + limits.held
        case .latch: voice.start + limits.latched
        case .released: nil
        }
    }

    private mutating func checkTime(_ now: ContinuousClock.Instant) {
        guard let voice, let end = end(of: voice) else { return }
        if now >= end {
            actions.append(.tell(.limitReached))
            stop()
        } else if !voice.isWarned, now >= end - limits.warning {
            self.voice?.isWarned = true
            actions.append(.tell(.limitNear(end - now)))
        }
    }
}
