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
    private let loop: WorkerLoop<KeyWorker>

    package init(
        texts: TextOutput, form: OutputForm, key: String, preset: String?
    ) throws(CommandFailure) {
        let place = try orFailure { try SocketPlace.current() }
        loop = try orFailure {
            try WorkerLoop(name: "socket") {
                KeyWorker(
                    key: key, preset: preset, place: place, wantsReport: form == .object,
                    texts: texts)
            }
        }
    }

    /// Says what has happened to the key, and when; does not wait for what follows.
    package func handle(_ input: Dictation.Input, at instant: ContinuousClock.Instant = .now) {
        loop.send(.moved(input, instant))
    }

    /// Ends what the key records, and waits for the texts that are still to come.
    package func end() async {
        let printed = Settlement<Task<Void, Never>>()
        loop.send(.end(printed))
        await printed.value.value
    }
}

/// The thread that speaks with the socket: a slow recorder never keeps the keyboard waiting.
private struct KeyWorker: Worker {
    enum Message: Sendable {
        case moved(Dictation.Input, ContinuousClock.Instant)
        /// The key is not watched any more; settled with the end of all texts.
        case end(Settlement<Task<Void, Never>>)
    }

    let key: String
    let preset: String?
    /// The options of a recorder that it begins.
    var options: [String] { preset.map { ["--preset", $0] } ?? [] }
    let place: SocketPlace
    let wantsReport: Bool
    let texts: TextOutput
    /// The take that the key has begun last, or gone on with.
    var take: String?
    /// Ends when all texts have come that were promised.
    var printed = Task {}

    mutating func receive(_ message: Message) {
        do throws(CommandFailure) {
            switch message {
            case .moved(let input, let instant): try obey(input, at: instant)
            case .end(let settlement):
                defer { settlement.settle(printed) }
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
        case .start, .pause, .resume, .pauseOrResume, .focusLost: break
        }
    }

    private mutating func press(at instant: ContinuousClock.Instant) throws(CommandFailure) {
        if try isHeard(at: instant) { return }
        if place.isGiven { throw ControlReading.unanswered(place) }
        if try RecorderProcess.begin(["start"] + options, at: place) == nil,
            try isHeard(at: instant)
        {
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
        if conversation.first.kind == .waiting { printText(of: conversation) }
        return true
    }

    /// Prints a text when it comes, on a thread of its own.
    private mutating func printText(of conversation: consuming ControlClient.Conversation) {
        let promised = Mutex<ControlClient.Conversation?>(consume conversation)
        let body: @Sendable () -> Void = { [texts, wantsReport] in
            guard var conversation = promised.withLock({ $0.take() }) else { return }
            do throws(CommandFailure) {
                _ = try ControlReading.read(
                    &conversation, wantsReport: wantsReport, give: texts.give)
            } catch {
                error.report()
            }
        }
        printed = Task { [printed] in
            // Without a thread it is late, which is better than never.
            _ = (try? await NamedThread.result(name: "text", of: body).get()) ?? body()
            await printed.value
        }
    }

    /// Blocks until it is answered; nil when no process answers.
    private func ask(
        _ command: ControlRequest.Command, at instant: ContinuousClock.Instant? = nil,
        take: String? = nil
    ) throws(CommandFailure) -> ControlClient.Conversation? {
        var request = ControlRequest(command, take: take, report: wantsReport ? true : nil)
        request.key = key
        if [.keyDown, .start].contains(command) { request.preset = preset }
        if !place.isGiven { request.press = Press.mark(of: options) }
        // Another machine has another clock.
        if let instant, !place.isGiven { request.date(instant) }
        return try ControlReading.begin(request, at: place)
    }
}
