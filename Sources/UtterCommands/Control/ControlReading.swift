// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform
internal import Utter
internal import UtterControl
internal import UtterTerminal

/// What a command does with the answer to what it has asked for.
enum ControlReading {
    /// What counts when no program answers at a socket that a variable names.
    static func unanswered(_ place: ControlPlace) -> CommandFailure {
        CommandFailure(
            "no utter answers at \(place.path), which \(ControlPlace.variable) names",
            hint: "run 'utter daemon' on the machine with the microphone, and forward its "
                + "socket; without \(ControlPlace.variable) this machine records",
            status: .nothingRecorded)
    }

    /// Ends a recording, or one that is about to begin.
    static func end(
        _ request: ControlRequest, texts: () -> TextOutput = { TextOutput(printing: .text) }
    ) throws(CommandFailure) -> ExitStatus {
        let place = try orFailure { try ControlPlace.current() }
        let before = place.lastEnd
        // First: a start that has the socket once none answered here finds it.
        if request.take == nil, !place.isGiven, let own = ProcessBeginning.own {
            place.noteEnd(own)
        }
        do throws(CommandFailure) {
            if let status = try ask(request, at: place, texts: texts) { return status }
            throw place.isGiven ? unanswered(place) : CommandFailure(.nothingRecorded)
        } catch {
            guard error.status == .nothingRecorded, request.command == .stop, request.take == nil,
                !place.isGiven, let left = recordingLeft(since: before)
            else { throw error }
            throw left
        }
    }

    /// How long a recording is remembered that no stop has ended.
    private static let memory = Duration.seconds(3_600)

    /// Names a recording whose program was killed: the newest, if it has begun after the last stop
    /// or cancel, so that no stop was for it.
    private static func recordingLeft(since end: ProcessBeginning?) -> CommandFailure? {
        // Takes that cannot be listed are named by no stop.
        let newest = try? Spool(at: Environment.stateFolder).newest(1) { _ in true }
        let limit = Date() - TimeInterval(min(memory, end?.age ?? memory) / .seconds(1))
        guard let take = newest?.first, take.state == .kept, let began = take.began, began > limit
        else { return nil }
        let length = take.length.map { " of \(StatusLine.clock($0))" } ?? ""
        return CommandFailure(
            "nothing is being recorded any more; your recording\(length) was kept",
            hint: "send it with: utter retry \(take.id.shortName)", status: .notDelivered)
    }

    /// Ends what is recorded though the command line that is to end it cannot be read: the
    /// microphone must not stay open for a misspelt option.
    static func end(misspelt words: some Collection<String>) {
        let ends = ["stop", "toggle", "cancel"]
        guard let name = words.first(where: { !$0.hasPrefix("-") }), ends.contains(name) else {
            return
        }
        let option = "--take"
        let take = zip(words, words.dropFirst() + [""]).compactMap { word, next in
            word == option
                ? next : word.hasPrefix(option + "=") ? String(word.dropFirst(7)) : nil
        }.first
        do throws(CommandFailure) {
            _ = try end(ControlRequest(name == "cancel" ? .cancel : .stop, take: take))
        } catch {
            // Mostly the command line would have begun something.
            if error.status != .nothingRecorded { error.report() }
        }
    }

    /// Asks, and does with the answer what it says; a result is printed.
    ///
    /// Blocks until the result is there, and Ctrl-C ends the process then. Nil when no process answers.
    static func ask(
        _ request: ControlRequest, at place: ControlPlace, texts: () -> TextOutput
    ) throws(CommandFailure) -> ExitStatus? {
        var request = request
        request.begun = place.isGiven ? nil : .own
        guard var conversation = try orFailure({ try ControlClient.ask(request, at: place) })
        else { return nil }
        let first = conversation.first
        switch first.kind {
        case .done, .status, .ready:
            if let message = first.message { StandardError.line(message) }
            return .textPrinted
        case .refused:
            throw CommandFailure(first.refusal)
        case .waiting, .result:
            // The result may take as long as the service: nothing here needs to be put in order.
            Signals.unblock()
            // A reader that has gone is an error of the print, and is told.
            _ = signal(SIGPIPE, SIG_IGN)
            return try read(
                &conversation, wantsReport: request.report == true, isElsewhere: place.isGiven,
                notifies: { texts().notifies }
            ) { answer, report in
                // The recording is over by now, whatever is wrong with the places.
                let form: OutputForm = report == nil ? .text : .object
                let places = answer.placed == true ? TextOutput(printing: form) : texts()
                return places.give(answer.harmlessText) { _ in report }
            }
        }
    }

    /// Waits for the result that a conversation promises, and gives it where it belongs.
    static func read(
        _ conversation: inout ControlClient.Conversation, wantsReport: Bool,
        isElsewhere: Bool = false, notifies: () -> Bool = { false },
        give: (ControlAnswer, String?) -> [(sink: TextSink, failure: CommandFailure)]
    ) throws(CommandFailure) -> ExitStatus {
        var answer = conversation.first
        while answer.kind != .result {
            guard case .answer(let next) = conversation.client.next(within: ControlClient.patience)
            else {
                throw CommandFailure(
                    "the utter that records has ended, or hangs, before the answer came",
                    hint: (isElsewhere ? "on the machine with the microphone, " : "")
                        + "see what became of it with: "
                        + (answer.take.map { "utter show \(Hints.name($0))" } ?? "utter list"),
                    status: .notDelivered)
            }
            if let message = next.message { StandardError.line(message) }
            if next.kind == .done { return .textPrinted }
            answer.take = next.take ?? answer.take
            if next.kind == .result { answer = next }
        }
        var report: String?
        if wantsReport,
            case .line(let line) = conversation.client.next(within: ControlClient.patience)
        {
            report = String(decoding: line, as: UTF8.self)
        }
        let failures = give(answer, report)
        // It is printed, whether the other side hears that or not.
        if !failures.contains(where: { $0.sink == .standardOutput }) {
            _ = conversation.client.say(ControlRequest(.taken))
        }
        (answer.lines ?? []).tell()
        if !failures.isEmpty, notifies() { DesktopNotice(of: answer.take)?.tellUnplacedText() }
        for (_, failure) in failures.dropLast() { StandardError.error(failure.message) }
        if let (_, failure) = failures.last {
            throw CommandFailure(
                failure.message,
                hint: failure.hint ?? "give it to another place with: utter last",
                status: failure.status)
        }
        return answer.exit.flatMap { ExitStatus(rawValue: $0) } ?? .internalError
    }
}

extension ControlAnswer {
    var harmlessText: String? { text.map { TerminalText.sanitized($0) } }
}
