// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization
package import Utter
internal import UtterControl
internal import UtterTerminal

/// Push to talk for a program that watches a key: it says how the key moves to the process that has
/// the control socket, which decides what that means, and prints the texts that come of it.
///
/// Without such a process it begins a recorder. Usable from any thread. Messages go to standard
/// error, and texts where `texts` says, in the order in which they come.
package final class KeyTalk: Sendable {
    private struct State {
        /// How many texts may still come.
        var texts = 0
        /// Told when the last has come, once no key is heard any more.
        var ended: Settlement<Void>?
    }

    private let texts: Mutex<TextOutput>
    private let wantsReport: Bool
    private let state = Mutex(State())
    private let loop = Mutex<WorkerLoop<KeyWorker>?>(nil)

    package init(texts: TextOutput, form: OutputForm, key: String) throws(CommandFailure) {
        let place = try orFailure { try ControlPlace.current() }
        self.texts = Mutex(texts)
        wantsReport = form == .object
        let made = try orFailure {
            try WorkerLoop(name: "socket") { [self] in
                KeyWorker(key: key, place: place, wantsReport: wantsReport, talk: self)
            }
        }
        loop.withLock { $0 = made }
    }

    /// Says what has happened to the key, and when; does not wait for what follows.
    package func handle(_ input: Dictation.Input, at instant: ContinuousClock.Instant = .now) {
        loop.withLock { $0 }?.send(.moved(input, instant))
    }

    /// Ends what the key records, and waits for the texts that are still to come.
    package func end() async {
        let ended = Settlement<Void>()
        loop.withLock { $0 }?.send(.end(ended))
        await ended.value
    }

    fileprivate func countTexts(_ change: Int, endingWith settlement: Settlement<Void>? = nil) {
        let ended = state.withLock { state in
            state.texts += change
            if let settlement { state.ended = settlement }
            return state.texts == 0 ? state.ended : nil
        }
        ended?.settle(())
    }

    /// Prints a text when it comes, on a thread of its own.
    fileprivate func printText(of conversation: consuming ControlClient.Conversation) {
        countTexts(1)
        let promised = Mutex<ControlClient.Conversation?>(consume conversation)
        let body: @Sendable () -> Void = { [self] in
            if var conversation = promised.withLock({ $0.take() }) { printText(&conversation) }
            countTexts(-1)
        }
        // Late is better than never.
        if (try? NamedThread(name: "text", body)) == nil { body() }
    }

    /// Waits for a text, and prints it: one at a time.
    private func printText(_ conversation: inout ControlClient.Conversation) {
        do throws(CommandFailure) {
            _ = try ControlReading.read(&conversation, wantsReport: wantsReport) { answer, report in
                texts.withLock { $0.give(answer, report) }
            }
        } catch {
            error.report()
        }
    }
}

/// The thread that speaks with the socket: a slow recorder never keeps the keyboard waiting.
private struct KeyWorker: Worker {
    enum Message: Sendable {
        case moved(Dictation.Input, ContinuousClock.Instant)
        /// The key is not watched any more; settled when the last text is printed.
        case end(Settlement<Void>)
    }

    let key: String
    let place: ControlPlace
    let wantsReport: Bool
    let talk: KeyTalk
    /// The take that the key has begun last, or gone on with.
    var take: String?

    mutating func receive(_ message: Message) {
        do throws(CommandFailure) {
            switch message {
            case .moved(let input, let instant): try obey(input, at: instant)
            case .end(let settlement):
                defer { talk.countTexts(0, endingWith: settlement) }
                try obey(.stop, at: .now)
            }
        } catch {
            take = nil
            error.report()
        }
    }

    mutating func turn(isLast: Bool) -> WorkerPause { .untilWoken }

    private mutating func obey(
        _ input: Dictation.Input, at instant: ContinuousClock.Instant
    ) throws(CommandFailure) {
        switch input {
        case .keyDown: try press(at: instant)
        case .keyUp: _ = try ask(.keyUp, at: instant)
        // As a tap.
        case .toggle:
            try press(at: instant)
            _ = try ask(.keyUp, at: instant + .milliseconds(100))
        case .stop: if let take { _ = try ask(.stop, take: take) }
        case .cancel: if let take { _ = try ask(.cancel, take: take) }
        case .start, .focusLost: break
        }
    }

    private mutating func press(at instant: ContinuousClock.Instant) throws(CommandFailure) {
        if try isHeard(at: instant) { return }
        if place.isGiven { throw ControlReading.unanswered(place) }
        if try RecorderProcess.begin(["start"], at: place) == nil, try isHeard(at: instant) {
            return
        }
        throw CommandFailure("nothing can be recorded", status: .nothingRecorded)
    }

    /// Says that the key went down; false when no process answers.
    private mutating func isHeard(at instant: ContinuousClock.Instant) throws(CommandFailure)
        -> Bool
    {
        guard let conversation = try ask(.keyDown, at: instant) else { return false }
        take = conversation.first.take ?? take
        if conversation.first.kind == .waiting { talk.printText(of: conversation) }
        return true
    }

    /// Blocks until it is answered; nil when no process answers.
    private func ask(
        _ command: ControlRequest.Command, at instant: ContinuousClock.Instant? = nil,
        take: String? = nil
    ) throws(CommandFailure) -> ControlClient.Conversation? {
        var request = ControlRequest(command, take: take, report: wantsReport ? true : nil)
        request.key = key
        if !place.isGiven { request.press = Press.mark(of: []) }
        // Another machine has another clock.
        if let instant, !place.isGiven { request.date(instant) }
        guard let conversation = try orFailure({ try ControlClient.ask(request, at: place) })
        else { return nil }
        if conversation.first.kind == .refused {
            throw CommandFailure(conversation.first.refusal)
        }
        if let message = conversation.first.message { StandardError.line(message) }
        return conversation
    }
}
