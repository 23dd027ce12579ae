// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization
package import Utter
internal import UtterTerminal

/// Push to talk for a program that watches a key and records nothing: a dictation whose takes are
/// recorded by the process that has the control socket.
///
/// Without one, `utter start` is run, as a key binding would. Usable from any thread. What is said
/// of takes goes to standard error, and their texts where `texts` says, in the order in which they
/// come.
package final class RemoteTalk: Sendable {
    private struct State {
        /// How many texts may still come.
        var texts = 0
        /// Told when the last has come, once nothing is recorded any more.
        var ended: Settlement<Void>?
    }

    private let place: ControlPlace
    private let texts: Mutex<TextOutput>
    private let wantsReport: Bool
    private let state = Mutex(State())
    private let dictation = Mutex<Dictation?>(nil)

    /// Starts the thread.
    package init(texts: TextOutput, form: OutputForm, key: String) throws(CommandFailure) {
        place = try ControlPlace.current()
        self.texts = Mutex(texts)
        wantsReport = form == .object
        let made = try orFailure { try Dictation(starting: { [self] _ in begin() }) }
        made.observe(tell: { Self.tell($0, key) })
        dictation.withLock { $0 = made }
    }

    /// Says what has happened to the key, and when.
    package func handle(_ input: Dictation.Input, at instant: ContinuousClock.Instant = .now) {
        dictation.withLock { $0 }?.handle(input, at: instant)
    }

    /// Ends what is recorded, and waits for the texts that are still to come.
    package func end() async {
        guard let dictation = dictation.withLock({ $0 }) else { return }
        dictation.handle(.stop)
        dictation.finish()
        let ended = Settlement<Void>()
        // Behind the stop.
        dictation.look { [self] _ in countTexts(0, endingWith: ended) }
        await ended.value
    }

    private func countTexts(_ change: Int, endingWith settlement: Settlement<Void>? = nil) {
        let ended = state.withLock { state in
            state.texts += change
            if let settlement { state.ended = settlement }
            return state.texts == 0 ? state.ended : nil
        }
        ended?.settle(())
    }

    private static func tell(_ news: Dictation.News, _ key: String) {
        switch news {
        case .latched: StandardError.line("recording goes on; press \(key) once more to end it")
        case .limitNear(let time):
            StandardError.line("the recording ends in \(StatusLine.seconds(time)), and is sent")
        case .limitReached:
            StandardError.line("\(key) is taken to be stuck; the recording is sent")
        case .alreadyRecording, .notRecording, .onlyOne: break
        }
    }

    private func begin() -> RemoteTake? {
        do throws(CommandFailure) {
            let take = try start()
            StandardError.line("recording take \(take)")
            return RemoteTake(take, self)
        } catch {
            error.report()
            return nil
        }
    }

    // MARK: - Blocking calls

    /// Begins a recording, or goes on with one.
    private func start() throws(CommandFailure) -> String {
        if let take = try Self.started(at: place) { return take }
        if place.isGiven { throw ControlReading.unanswered(place) }
        if try RecorderProcess.begin(["start"], at: place) == nil,
            let take = try Self.started(at: place)
        {
            return take
        }
        throw CommandFailure("nothing can be recorded", status: .nothingRecorded)
    }

    private static func started(at place: ControlPlace) throws(CommandFailure) -> String? {
        guard let conversation = try ControlClient.ask(ControlRequest(.start), at: place)
        else { return nil }
        guard conversation.first.kind != .refused else { throw conversation.first.refusal }
        return conversation.first.take
    }

    /// Ends a recording, and has its text printed when it comes.
    fileprivate func stop(_ take: String) throws(CommandFailure) {
        countTexts(1)
        var isPromised = false
        defer { if !isPromised { countTexts(-1) } }
        let request = ControlRequest(.stop, take: take, report: wantsReport ? true : nil)
        guard let conversation = try ControlClient.ask(request, at: place) else {
            throw ControlReading.nothingRecorded
        }
        switch conversation.first.kind {
        case .refused: throw conversation.first.refusal
        case .done, .status, .ready:
            if let message = conversation.first.message { StandardError.line(message) }
        case .waiting, .result:
            isPromised = true
            let promise = Promise(conversation)
            inBackground("text") { [self] in
                promise.keep(wantsReport: wantsReport, to: texts)
                countTexts(-1)
            }
        }
    }

    fileprivate func cancel(_ take: String) throws(CommandFailure) {
        let request = ControlRequest(.cancel, take: take)
        guard let conversation = try ControlClient.ask(request, at: place) else { return }
        if conversation.first.kind == .refused { throw conversation.first.refusal }
        if let message = conversation.first.message { StandardError.line(message) }
    }

    /// Says when a take is not recorded any more, whatever the reason.
    fileprivate func follow(_ take: String, _ tell: @escaping @Sendable () -> Void) {
        inBackground("follow") { [self] in
            // What cannot be followed is ended by the key, or by its own limit.
            if var conversation = try? ControlClient.ask(ControlRequest(.follow), at: place) {
                var status = conversation.first.status
                while let present = status, present.take == take, present.isRecording {
                    guard case .answer(let answer) = conversation.client.next(within: nil)
                    else { break }
                    status = answer.status
                }
            }
            tell()
        }
    }

    private func inBackground(_ name: String, _ body: @escaping @Sendable () -> Void) {
        do throws(SystemError) {
            _ = try NamedThread(name: name, body)
        } catch {
            // Late is better than never.
            body()
        }
    }
}

/// A take that another process records.
///
/// A tail is that process's: here a take is over when it was stopped, and is never resumed.
private final class RemoteTake: Dictated {
    private let id: String
    private let talk: RemoteTalk
    private let isOver = Atomic(false)
    private let tell = Mutex<(@Sendable (DictationStep) -> Void)?>(nil)

    init(_ id: String, _ talk: RemoteTalk) { (self.id, self.talk) = (id, talk) }

    func follow(_ tell: @escaping @Sendable (DictationStep) -> Void) {
        self.tell.withLock { $0 = tell }
        tell(.listening)
        talk.follow(id) { [self] in
            // It has ended without the key: at a limit, after a silence, or by another program. Only
            // in the first two its text is for this one, and a refusal is no news here.
            try? end { () throws(CommandFailure) in try talk.stop(id) }
        }
    }

    func stop() { report { () throws(CommandFailure) in try talk.stop(id) } }

    func resume() {}

    func cancel() { report { () throws(CommandFailure) in try talk.cancel(id) } }

    private func report(_ body: () throws(CommandFailure) -> Void) {
        do throws(CommandFailure) {
            try end(body)
        } catch {
            error.report()
        }
    }

    private func end(_ body: () throws(CommandFailure) -> Void) throws(CommandFailure) {
        // relaxed: the flag carries nothing.
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        defer {
            let tell = tell.withLock { $0.take() }
            tell?(.captured)
            tell?(.settled)
        }
        try body()
    }
}

/// A text that was promised to this process.
private final class Promise: Sendable {
    private let conversation: Mutex<ControlClient.Conversation?>

    init(_ conversation: consuming ControlClient.Conversation) {
        self.conversation = Mutex(consume conversation)
    }

    /// Waits for it, and prints it: one text at a time.
    func keep(wantsReport: Bool, to texts: borrowing Mutex<TextOutput>) {
        guard var conversation = conversation.withLock({ $0.take() }) else { return }
        do throws(CommandFailure) {
            _ = try ControlReading.read(&conversation, wantsReport: wantsReport) { text, report in
                texts.withLock { texts in texts.give(text) { _ in report } }
            }
        } catch {
            error.report()
        }
    }
}

extension ControlStatus {
    fileprivate var isRecording: Bool { phase == .arming || phase == .recording }
}
