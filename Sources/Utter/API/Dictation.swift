// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// Push to talk: keys, commands and silences come in, takes begin and end.
///
/// ```swift
/// let dictation = try Dictation { _ in pipeline.start(plan()) }
/// keyboard.onPress { dictation.handle(.keyDown, at: $0) }
/// keyboard.onRelease { dictation.handle(.keyUp, at: $0) }
/// for await take in dictation.takes { Task { await type(take) } }
/// ```
///
/// A key that is held records until it goes up. A key that goes up again at once was tapped: the
/// recording is latched, and the next press ends it. A press inside the tail of a take goes on with
/// that take. At most one take is recorded; earlier ones are sent meanwhile.
///
/// Usable from any thread. Everything happens on one thread, in the order in which it was said. The
/// takes are followed by the dictation itself.
public final class Dictation: Sendable {
    /// An act of a person, or of a program for them.
    public enum Input: Sendable, Equatable, CaseIterable {
        /// The key went down; repeats of a key that is held do not count.
        case keyDown
        /// The key went up.
        case keyUp
        /// The key may go up without a word of it: what it holds goes on without it.
        case focusLost
        /// A recording shall run.
        case start
        /// No recording shall run.
        case stop
        /// The one or the other.
        case toggle
        /// The microphone is to be closed, and the recording to go on later.
        case pause
        /// A recording that pauses goes on.
        case resume
        /// The one or the other, for one key.
        case pauseOrResume
        /// The newest take is not wanted.
        case cancel
    }

    /// How far the newest take has come.
    public enum Phase: String, Sendable, Codable, CaseIterable {
        /// There is no take.
        case idle
        /// The microphone is being opened.
        case arming
        /// The microphone records.
        case recording
        /// The key is up; the last word is still recorded.
        case tail
        /// The recording pauses: the microphone is closed, or about to be.
        case paused
        /// The rest of the recording is on its way.
        case sending
        /// The service has all of it, and is to answer.
        case waiting
    }

    /// The state that a person sees.
    public struct State: Sendable, Equatable {
        /// How far the newest take has come.
        public var phase = Phase.idle
        /// The number of the newest take that is not over, counted from 1; nil without one.
        public var take: Int?
        /// Whether it is recorded without a key.
        public var isLatched = false
        /// Whether a take is recorded, or the next one is about to be, since silence has ended this one.
        public var isListening = false

        package init(
            phase: Phase = .idle, take: Int? = nil, isLatched: Bool = false,
            isListening: Bool = false
        ) {
            (self.phase, self.take) = (phase, take)
            (self.isLatched, self.isListening) = (isLatched, isListening)
        }
    }

    /// News that the person should have.
    public enum News: Sendable, Equatable {
        /// The recording goes on without the key; the next press ends it.
        case latched
        /// The recording ends by itself after this long, and is sent.
        case limitNear(Duration)
        /// The recording has reached its limit, and is sent.
        case limitReached
        /// A recording runs already.
        case alreadyRecording
        /// It pauses already.
        case alreadyPaused
        /// No recording runs.
        case notRecording
        /// Another take cannot begin here: this was the only one.
        case onlyOne
    }

    /// The consequence of an input, with the number of the take that it was for.
    public enum Reply: Sendable, Equatable {
        /// The take was begun, or none could be.
        case started(Int)
        /// Its recording goes on, though it was stopped a moment ago, or has paused.
        case resumed(Int)
        /// Its recording pauses, and the microphone is closed.
        case paused(Int)
        /// Its recording ends.
        case stopped(Int)
        /// It is given up.
        case cancelled(Int)
        /// Nothing: what was asked for was so already, or there was no take for it.
        case nothing
    }

    /// Is told on the thread of the dictation, before what follows.
    struct Observer: Sendable {
        let show: @Sendable (State) -> Void
        let tell: @Sendable (News) -> Void
    }

    let begun = Broadcast<Take>()
    let shown = Broadcast<State>(remembering: 1)
    let told = Broadcast<News>(remembering: 0)
    private let loop = Mutex<WorkerLoop<DictationWorker>?>(nil)

    /// Starts the thread, which `shutDown` ends.
    ///
    /// - Parameters:
    ///   - held: the longest recording with a key that is held.
    ///   - longest: the longest recording. A `CapturePlan` with the same length ends it at the
    ///     frame; without one it ends a second later.
    ///   - warning: how long before its end the person is told; never of one that lasts less than
    ///     twice as long.
    ///   - isForOne: whether the first take is the only one.
    ///   - listensAgain: whether a silence that ends a latched recording (`CapturePlan.init`) begins
    ///     the next: dictation without hands, until an input ends it or it hears no voice.
    ///   - start: starts the take of a number, and does not wait for it; nil when there can be none.
    ///     Called on the thread of the dictation.
    /// - Throws: `SystemError` when the process has no descriptor or thread left.
    public convenience init(
        held: Duration = .seconds(300), longest: Duration = .seconds(1_800),
        warning: Duration = .seconds(10), isForOne: Bool = false, listensAgain: Bool = false,
        start: @escaping @Sendable (_ number: Int) -> Take?
    ) throws(SystemError) {
        let limits = TalkMachine.Limits(held: held, longest: longest, warning: warning)
        try self.init(
            TalkMachine(limits: limits, isForOne: isForOne, listensAgain: listensAgain),
            starting: start)
    }

    init(
        _ machine: TalkMachine = TalkMachine(),
        starting start: @escaping @Sendable (Int) -> (any Dictated)?
    ) throws(SystemError) {
        let made = try WorkerLoop(name: "talk") { [self] in
            DictationWorker(machine, for: self, start)
        }
        loop.withLock { $0 = made }
    }

    // MARK: - What comes in

    /// Says what has happened, now or at an earlier instant.
    ///
    /// From any thread; does not wait for what follows.
    public func handle(_ input: Input, at instant: ContinuousClock.Instant = .now) {
        send(.input(input), at: instant)
    }

    /// Says what has happened, and what has come of it.
    ///
    /// - Parameters:
    ///   - input: what has happened.
    ///   - instant: when.
    ///   - take: the number of the only take that it is for; nil: any.
    /// - Returns: what was begun or ended; `nothing` after `shutDown`.
    public func reply(
        to input: Input, at instant: ContinuousClock.Instant = .now, onlyFor take: Int? = nil
    ) async -> Reply {
        await withCheckedContinuation { continuation in
            handle(input, at: instant, onlyFor: take) {
                continuation.resume(returning: $0 ?? .nothing)
            }
        }
    }

    /// Says what has happened, of keys to that of this name; `first` is called on the thread of the
    /// dictation before it is carried out, and `reply` once, there, or with nil after `shutDown`.
    ///
    /// The reply to a press or start inside a tail comes once the take has said whether it goes on.
    package func handle(
        _ input: Input, of key: String = "", at instant: ContinuousClock.Instant = .now,
        onlyFor take: Int? = nil, first: (@Sendable () -> Void)? = nil,
        then reply: @escaping @Sendable (Reply?) -> Void
    ) {
        send(.input(input, key: key), at: instant, onlyFor: take, first: first, then: reply)
    }

    func send(
        _ event: TalkMachine.Event, at instant: ContinuousClock.Instant = .now,
        onlyFor take: Int? = nil, first: (@Sendable () -> Void)? = nil,
        then reply: (@Sendable (Reply?) -> Void)? = nil
    ) {
        let happening = DictationWorker.Happening(
            event: event, instant: instant, onlyTake: take, first: first, reply: reply)
        if !send(.event(happening)) { reply?(nil) }
    }

    /// Lets no take begin any more; those that run go on.
    ///
    /// From any thread. `takes` ends.
    public func finish() { _ = send(.finish) }

    /// Carries out what was said before, ends the thread and waits for it.
    ///
    /// All streams end. Takes that still run go on.
    public func shutDown() { loop.withLock { $0 }?.shutDown() }

    // MARK: - What comes of it

    /// The takes, in the order in which they begin; for a new listener each time.
    ///
    /// A listener begins with those that still run. At most 256 wait for it.
    public var takes: AsyncStream<Take> { begun.stream }

    /// The state that a person sees, at each change; for a new listener each time.
    ///
    /// A listener begins with the last change. At most 256 wait for it; the oldest are dropped then.
    public var states: AsyncStream<State> { shown.stream }

    /// The news from now on; for a new listener each time.
    ///
    /// At most 256 wait for it; the oldest are dropped then.
    public var news: AsyncStream<News> { told.stream }

    /// Has both told on the thread of the dictation, before the replies to what they come of.
    package func observe(
        show: @escaping @Sendable (State) -> Void = { _ in },
        tell: @escaping @Sendable (News) -> Void = { _ in }
    ) {
        _ = send(.observe(Observer(show: show, tell: tell)))
    }

    /// Calls `body` on the thread of the dictation with the phase, after all that was said before.
    package func look(_ body: @escaping @Sendable (Phase) -> Void) { _ = send(.look(body)) }

    private func send(_ message: sending DictationWorker.Message) -> Bool {
        // The loop is missing only while the thread starts, when there is no take yet.
        loop.withLock { $0 }?.send(message) ?? false
    }
}
