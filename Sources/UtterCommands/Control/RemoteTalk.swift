// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization
package import Utter

/// Push to talk for a program that watches a key and records nothing: `TalkMachine` says what the
/// key means, and the one who has the control socket records.
///
/// Without one, `utter start` is run, as a key binding would. Usable from any thread. What is said
/// of takes goes to standard error, and their texts where `texts` says, in the order in which they
/// come.
package final class RemoteTalk: Sendable {
    private let place: ControlPlace
    private let texts: Mutex<TextOutput>
    private let wantsReport: Bool
    private let loop = Mutex<WorkerLoop<RemoteTalkWorker>?>(nil)

    /// Starts the thread.
    package init(texts: TextOutput, form: OutputForm, key: String) throws(CommandFailure) {
        place = try ControlPlace.current()
        self.texts = Mutex(texts)
        wantsReport = form == .object
        do throws(SystemError) {
            let made = try WorkerLoop(name: "talk") { [self] in RemoteTalkWorker(self, key: key) }
            loop.withLock { $0 = made }
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Says what has happened to the key, and when.
    package func handle(_ event: TalkMachine.Event, at instant: ContinuousClock.Instant = .now) {
        send(.event(event, instant))
    }

    /// Ends what is recorded, and waits for the texts that are still to come.
    package func end() async {
        let ended = Settlement<Void>()
        send(.end(ended))
        await ended.value
    }

    private func send(_ message: RemoteTalkWorker.Message) {
        // Nil only while the thread starts.
        loop.withLock { _ = $0?.send(message) }
    }

    // MARK: - Blocking calls, on the thread of the talk

    /// Begins a recording, or goes on with one.
    func start() throws(CommandFailure) -> String {
        if let take = try Self.started(at: place) { return take }
        if place.isGiven { throw ControlReading.unanswered(place) }
        return try RecorderProcess().take { () throws(CommandFailure) in
            try Self.started(at: place)
        }
    }

    private static func started(at place: ControlPlace) throws(CommandFailure) -> String? {
        guard let conversation = try ControlClient.ask(ControlRequest(.start), at: place)
        else { return nil }
        guard conversation.first.kind != .refused else { throw conversation.first.refusal }
        return conversation.first.take
    }

    /// Ends a recording, and has its text printed when it comes.
    func stop(_ take: String) throws(CommandFailure) -> Bool {
        let request = ControlRequest(.stop, take: take, report: wantsReport ? true : nil)
        guard let conversation = try ControlClient.ask(request, at: place) else {
            throw ControlReading.nothingRecorded
        }
        switch conversation.first.kind {
        case .refused: throw conversation.first.refusal
        case .done, .status, .ready:
            if let message = conversation.first.message { StandardError.line(message) }
            return false
        case .waiting, .result:
            let promise = Promise(conversation)
            inBackground("text") { [self] in
                promise.keep(wantsReport: wantsReport, to: texts)
                send(.textEnded)
            }
            return true
        }
    }

    func cancel(_ take: String) throws(CommandFailure) {
        let request = ControlRequest(.cancel, take: take)
        guard let conversation = try ControlClient.ask(request, at: place) else { return }
        if conversation.first.kind == .refused { throw conversation.first.refusal }
        if let message = conversation.first.message { StandardError.line(message) }
    }

    /// Says when a take is not recorded any more, whatever the reason.
    func follow(_ take: String, number: Int) {
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
            send(.over(number))
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
