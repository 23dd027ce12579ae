// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
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
        _ request: ControlRequest, texts: TextOutput = .standard
    ) throws(CommandFailure) -> ExitStatus {
        let place = try orFailure { try ControlPlace.current() }
        // First: a start that has the socket once none answered here finds it.
        if request.take == nil, !place.isGiven, let own = ProcessBeginning.own {
            place.noteEnd(own)
        }
        if let status = try ask(request, at: place, texts: texts) { return status }
        throw place.isGiven ? unanswered(place) : CommandFailure(.nothingRecorded)
    }

    /// Asks, and does with the answer what it says; a result is printed.
    ///
    /// Blocks until the result is there, and Ctrl-C ends the process then. Nil when no process answers.
    static func ask(
        _ request: ControlRequest, at place: ControlPlace, texts: TextOutput
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
                notifies: texts.notifies
            ) { text, report in
                texts.give(text) { _ in report }
            }
        }
    }

    /// Waits for the result that a conversation promises, and gives it where it belongs.
    static func read(
        _ conversation: inout ControlClient.Conversation, wantsReport: Bool,
        isElsewhere: Bool = false, notifies: Bool = false,
        give: (String?, String?) -> [(sink: TextSink, failure: CommandFailure)]
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
        let failures = give(answer.text.map { TerminalText.sanitized($0) }, report)
        // It is printed, whether the other side hears that or not.
        if !failures.contains(where: { $0.sink == .standardOutput }) {
            _ = conversation.client.say(ControlRequest(.taken))
        }
        (answer.lines ?? []).tell()
        if notifies, !failures.isEmpty { DesktopNotice(of: answer.take)?.tellUnplacedText() }
        for (_, failure) in failures.dropLast() { StandardError.error(failure.message) }
        if let (_, failure) = failures.last {
            throw CommandFailure(
                failure.message, hint: "give it to another place with: utter last",
                status: .localIO)
        }
        return answer.exit.flatMap { ExitStatus(rawValue: $0) } ?? .internalError
    }
}
