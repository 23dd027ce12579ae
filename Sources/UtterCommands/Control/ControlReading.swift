// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform
internal import Utter
internal import UtterControl
internal import UtterTerminal

/// How a command treats the answer to its request.
enum ControlReading {
    /// The failure when no program answers at a socket that a variable names.
    static func unanswered(_ place: SocketPlace) -> CommandFailure {
        CommandFailure(
            "no utter answers at \(place.path), which \(SocketPlace.variable) names",
            hint: "run 'utter daemon' on the machine with the microphone, and forward its "
                + "socket; without \(SocketPlace.variable) this machine records",
            status: .nothingRecorded)
    }

    /// Ends a recording, or one that is about to begin.
    static func end(
        _ request: ControlRequest, texts: () -> TextOutput = { TextOutput(printing: .text) }
    ) throws(CommandFailure) -> ExitStatus {
        let place = try orFailure { try SocketPlace.current() }
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
                !place.isGiven
            else { throw error }
            throw failure(naming: recordingsLeft(since: before, orNewest: true)) ?? error
        }
    }

    /// How long a recording is remembered that no stop has ended.
    private static let memory = Duration.seconds(3_600)

    /// As many of the newest takes are looked at.
    private static let newestCount = 10

    /// The recordings whose program was killed, the newest first: they have begun after the last stop or
    /// cancel, so that none was for them.
    ///
    /// A stop that finds no recording may mean the newest kept one, whatever has ended it.
    private static func recordingsLeft(
        since end: ProcessBeginning?, orNewest meansNewest: Bool = false
    ) -> [KeptTake] {
        // No take is named that cannot be looked at.
        let takes = try? Spool(at: Environment.stateFolder).newest(newestCount) { _ in true }
        return (takes ?? []).enumerated().filter { index, take in
            guard take.hasLostItsProgram || meansNewest && index == 0 else { return false }
            guard take.state == .kept, let began = take.began else { return false }
            // Two takes may begin in one second, and the name is made a little later. Where the clock was
            // set back, it says another time.
            let delay = take.id.moment?.timeIntervalSince(began) ?? 0
            let age = -began.timeIntervalSinceNow - (0..<60 ~= delay ? delay : 0)
            return Duration.seconds(age) < min(memory, end?.age ?? memory)
        }.map(\.element)
    }

    private static func failure(naming left: [KeptTake]) -> CommandFailure? {
        kept(left).map { words, command in
            CommandFailure(
                "nothing is being recorded any more; \(words)",
                hint: "send \(left.count == 1 ? "it" : "them") with: \(command)",
                status: .notDelivered)
        }
    }

    private static func kept(_ left: [KeptTake]) -> (words: String, command: String)? {
        guard let newest = left.first else { return nil }
        let lengths = left.compactMap { $0.length.map { StatusLine.clock($0) } }.reversed()
        let length = lengths.isEmpty ? "" : " of \(lengths.joined(separator: " and "))"
        return left.count == 1
            ? ("your recording\(length) was kept", "utter retry \(newest.id.shortName)")
            : ("your recordings\(length) were kept", "utter flush")
    }

    /// Tells the person for whom a new recording begins that those before it were not sent.
    static func tellRecordingsLeft(since end: ProcessBeginning?) {
        guard let (words, command) = kept(recordingsLeft(since: end)) else { return }
        StandardError.line("before this one, \(words): \(command)")
    }

    /// Ends what is recorded though the command line that is to end it cannot be read: the
    /// microphone must not stay open for a misspelt option.
    static func end(misspelt words: some Collection<String>) {
        guard let name = words.first(where: { !$0.hasPrefix("-") }),
            ["stop", "toggle", "cancel", "pause"].contains(name)
        else { return }
        let parts = words.flatMap { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        let take = parts.drop { $0 != "--take" }.dropFirst().first
        do throws(CommandFailure) {
            if name == "pause" { return try ask(ControlRequest(.pause, take: take)) }
            _ = try end(ControlRequest(name == "cancel" ? .cancel : .stop, take: take))
        } catch {
            // Mostly the command line would have begun something.
            if error.status != .nothingRecorded { error.report() }
        }
    }

    /// Asks what is answered at once, of a recording that runs.
    static func ask(_ request: ControlRequest) throws(CommandFailure) {
        let place = try orFailure { try SocketPlace.current() }
        let status = try ask(request, at: place) { TextOutput(printing: .text) }
        guard status == nil else { return }
        throw place.isGiven ? unanswered(place) : CommandFailure(.nothingRecorded)
    }

    /// Asks, and does with the answer what it says; a result is printed.
    ///
    /// Blocks until the result is there, and Ctrl-C ends the process then. Nil when no process answers.
    static func ask(
        _ request: ControlRequest, at place: SocketPlace, texts: () -> TextOutput
    ) throws(CommandFailure) -> ExitStatus? {
        var request = request
        request.begun = place.isGiven ? nil : .own
        guard var conversation = try begin(request, at: place) else { return nil }
        guard [.waiting, .result].contains(conversation.first.kind) else { return .textPrinted }
        // The service may take long. A signal may end this process at once, since it has nothing to
        // clean up.
        Signals.unblock()
        // A reader that has gone is an error of the print, and is told.
        _ = signal(SIGPIPE, SIG_IGN)
        return try read(
            &conversation, wantsReport: request.report == true, isElsewhere: place.isGiven
        ) { answer, report in
            // The recording is over by now, whatever is wrong with the places.
            let form: OutputForm = report == nil ? .text : .object
            let places = answer.placed == true ? TextOutput(printing: form) : texts()
            return places.give(answer, report)
        }
    }

    /// Asks, and tells the first answer's message; blocks until it is there.
    ///
    /// - Returns: nil when no process answers.
    /// - Throws: the reason for which the request is refused.
    static func begin(
        _ request: ControlRequest, at place: SocketPlace
    ) throws(CommandFailure) -> ControlClient.Conversation? {
        guard let conversation = try orFailure({ try ControlClient.ask(request, at: place) })
        else { return nil }
        let first = conversation.first
        if first.kind == .refused { throw CommandFailure(first.refusal) }
        if let message = first.message { StandardError.line(message) }
        return conversation
    }

    /// Waits for the result that a conversation promises, and gives it where it belongs.
    static func read(
        _ conversation: inout ControlClient.Conversation, wantsReport: Bool,
        isElsewhere: Bool = false, give: (ControlAnswer, String?) -> [TextOutput.Failure]
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
        ((answer.lines ?? []) + failures.lines).tell()
        if let (_, failure) = failures.last { return failure.status }
        return answer.exit.flatMap { ExitStatus(rawValue: $0) } ?? .internalError
    }
}

extension ControlAnswer {
    var harmlessText: String? { text.map { TerminalText.sanitized($0) } }
}
