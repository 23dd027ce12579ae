// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Utter

/// What the thread of a remote talk does: it asks the machine, and has the socket's owner do what
/// that says.
struct RemoteTalkWorker: Worker {
    /// What comes in.
    enum Message: Sendable {
        /// Something has happened to the key, at a time.
        case event(TalkMachine.Event, ContinuousClock.Instant)
        /// The take of this number is not recorded any more, or cannot be followed.
        case over(Int)
        /// A text was printed, or will not come.
        case textEnded
        /// Nothing is recorded any more; told when the last text has come.
        case end(Settlement<Void>)
    }

    private let talk: RemoteTalk
    private let key: String
    private var machine = TalkMachine()
    /// The ids of those that are recorded.
    private var takes: [Int: String] = [:]
    private var textCount = 0
    private var ended: Settlement<Void>?

    init(_ talk: RemoteTalk, key: String) { (self.talk, self.key) = (talk, key) }

    mutating func receive(_ message: Message) {
        switch message {
        case .event(let event, let instant):
            // What comes too late would be recorded in vain.
            if ended == nil { handle(event, at: instant) }
        case .over(let number): endAsOver(number)
        case .textEnded: textCount -= 1
        case .end(let settlement):
            if machine.phase != .idle { handle(.stop, at: .now) }
            ended = settlement
        }
    }

    mutating func turn(isLast: Bool) -> WorkerPause {
        if let next = machine.nextTime, next <= .now { handle(.time, at: .now) }
        if textCount == 0 { ended?.settle(()) }
        return WorkerPause(until: machine.nextTime)
    }

    private mutating func handle(
        _ event: TalkMachine.Event, at instant: ContinuousClock.Instant
    ) {
        for action in machine.handle(event, at: instant) {
            switch action {
            // A tail is the recorder's: here a take has ended when it was stopped.
            case .start(let number), .resume(let number): start(number, at: instant)
            case .stop(let number): stop(number, at: instant)
            case .cancel(let number): cancel(number, at: instant)
            case .tell(let news): tell(news)
            }
        }
    }

    private mutating func start(_ number: Int, at instant: ContinuousClock.Instant) {
        do throws(CommandFailure) {
            let take = try talk.start()
            takes[number] = take
            StandardError.line("recording take \(take)")
            talk.follow(take, number: number)
            handle(.listening(number), at: instant)
        } catch {
            error.report()
            handle(.settled(number, .dropped), at: instant)
        }
    }

    private mutating func stop(_ number: Int, at instant: ContinuousClock.Instant) {
        do throws(CommandFailure) {
            if let take = takes[number], try talk.stop(take) { textCount += 1 }
        } catch {
            error.report()
        }
        forget(number, .done, at: instant)
    }

    private mutating func cancel(_ number: Int, at instant: ContinuousClock.Instant) {
        do throws(CommandFailure) {
            if let take = takes[number] { try talk.cancel(take) }
        } catch {
            error.report()
        }
        forget(number, .cancelled, at: instant)
    }

    /// A take has ended without the key: at a limit, after a silence, or by another program.
    ///
    /// Only in the first two its text is for this one.
    private mutating func endAsOver(_ number: Int) {
        guard let take = takes[number] else { return }
        // Refused when there is no text any more, which is no news here.
        if (try? talk.stop(take)) == true { textCount += 1 }
        forget(number, .done, at: .now)
    }

    private mutating func forget(
        _ number: Int, _ ending: TalkMachine.Ending, at instant: ContinuousClock.Instant
    ) {
        takes[number] = nil
        _ = machine.handle(.captured(number), at: instant)
        _ = machine.handle(.settled(number, ending), at: instant)
    }

    private func tell(_ news: TalkMachine.News) {
        switch news {
        case .latched: StandardError.line("recording goes on; press \(key) once more to end it")
        case .limitNear(let time):
            StandardError.line("the recording ends in \(StatusLine.seconds(time)), and is sent")
        case .limitReached:
            StandardError.line("\(key) is taken to be stuck; the recording is sent")
        case .alreadyRecording, .notRecording, .onlyOne: break
        }
    }
}
