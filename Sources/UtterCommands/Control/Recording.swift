// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import LinuxPlatform
internal import UtterControl
internal import UtterSettings
internal import UtterTerminal

/// How the commands begin that may have to record themselves.
enum Recording {
    /// So often the socket may change hands before that is given up.
    private static let attempts = 100

    /// Has the program that owns the socket do it, or one that it begins in the background, or
    /// becomes that program.
    static func run(
        _ command: ControlRequest.Command, _ options: RecorderOptions,
        listensAgain: Bool = false
    ) async throws {
        let isRecorder = RecorderProcess.takeMark()
        Configuration.warnOfProblems(isDone: isRecorder)
        let place = try SocketPlace.current()
        if isRecorder {
            // Another one that serves the socket does as well.
            guard let owner = try SocketOwner.claim(place) else { return }
            return try await serve(nil, at: place, owner, options, listensAgain)
        }
        let texts = options.output.texts
        let form = options.output.form
        var request = ControlRequest(command, report: form == .object ? true : nil)
        request.wait = true  // Also for a daemon that records.
        if texts.isGiven { request.placed = true }
        try address(&request, options, at: place, isOwn: listensAgain)
        let end = place.lastEnd
        var hasBegun = false
        for _ in 0..<attempts {
            let status = try ControlReading.ask(request, at: place) {
                TextOutput(ofEnded: texts, form: form)
            }
            if let status {
                guard status == .textPrinted else { throw status.code }
                if hasBegun { ControlReading.tellRecordingsLeft(since: end) }
                return
            }
            if place.isGiven { throw ControlReading.unanswered(place) }
            // An end does not come here: the settings may be broken.
            if try KnownSettings.foreground.value() != true {
                // Ctrl-C ends the process here.
                Signals.unblock()
                let words = Array(ProgramStart.current.words.dropFirst())
                if let status = try RecorderProcess.begin(words, at: place) { throw status.code }
                hasBegun = true
            } else if let owner = try SocketOwner.claim(place) {
                request.begun = .own
                return try await serve(request, at: place, owner, options, listensAgain)
            }
        }
        throw CommandFailure(
            "the control socket, \(place.path), changes hands all the time", status: .notDelivered)
    }

    /// Serves its own request, or that of the process which has begun this one, and those of all
    /// others, until no take is left.
    private static func serve(
        _ request: ControlRequest?, at place: SocketPlace, _ owner: SocketOwner,
        _ options: RecorderOptions, _ listensAgain: Bool
    ) async throws {
        // An end that comes later finds the socket.
        let end = place.lastEnd
        let purpose = RecorderMachine.Purpose.request(
            end, press: Press.mark(of: ProgramStart.current.words.dropFirst(2)),
            hasPlaces: TextOutput.hasPlaces(options.output.texts))
        try await record(options, owner, isVoice: true, for: purpose) {
            recorder, longest throws(CommandFailure) in
            try await recorder.run(request, longest: longest, listensAgain: listensAgain) {
                if request == nil { RecorderProcess.leaveParent() }
            }
        }
    }

    /// Says in a request what counts of the options where it goes.
    ///
    /// A daemon, or what is behind a forwarded socket, would not hear of the others, and what is said
    /// must not go where the person did not send it: they are refused, unless a recording ends.
    private static func address(
        _ request: inout ControlRequest, _ options: RecorderOptions, at place: SocketPlace,
        isOwn: Bool
    ) throws(CommandFailure) {
        let (words, texts) = (ProgramStart.current.words.dropFirst(2), options.output.texts)
        if !place.isGiven { request.press = Press.mark(of: words) }
        // To compare options takes milliseconds, and the command alone says nothing.
        let sayHow = isOwn || !words.isEmpty && options.sayHow
        // With other options it is that of the recorder which they make.
        if !sayHow {
            (request.service, request.preset) = (
                options.serviceName, options.service.profile.preset.name
            )
        }
        let isAtDesk = !place.isGiven && Environment["SSH_CONNECTION"] == nil
        let sinks = TextOutput.meant(by: texts)
        let places = sinks.compactMap(\.name)
        if isAtDesk, !places.isEmpty { request.places = places }
        if isAtDesk, texts.notify { request.notify = true }
        let areLost =
            isAtDesk
            ? texts.isGiven && places.count != sinks.count : texts.isGiven || texts.notify
        guard sayHow || request.command == .start && (areLost || options.output.json),
            let status = try orFailure({
                try ControlClient.ask(ControlRequest(.status), at: place)?.first.status
            }), status.isDaemon || place.isGiven
        else { return }
        if request.command == .toggle, status.isRecording {
            return request.command = .stop
        }
        CuePlayer.playFailure(options.output)
        throw CommandFailure(
            (status.isDaemon ? "'utter daemon' records" : "another utter records")
                + ", and knows nothing of these options",
            hint:
                "leave them out, but for -q, --service and --preset with a name, and --copy, --type and --notify at the "
                + "same machine; give them to that command when it begins, or write them into its "
                + "settings: utter config edit",
            status: .usage)
    }

    static func record(
        _ options: RecorderOptions, _ owner: SocketOwner, isVoice: Bool = false,
        for purpose: RecorderMachine.Purpose, preRoll: Duration? = nil,
        _ body: (Recorder, Duration) async throws(CommandFailure) -> ExitStatus
    ) async throws {
        defer { owner.remove() }
        try await Launch.takes(
            output: options.output, keep: options.keep, encryption: options.encryption.source,
            readsPipe: false, isVoice: isVoice, isLive: true
        ) {
            session throws(CommandFailure) in
            let plans = try RecorderPlans(options, preRoll: preRoll)
            let recorder = Recorder(session, owner, plans: plans, for: purpose)
            session.warnOfNoService(options.service)
            return try await body(recorder, try options.voice.longest)
        }
    }
}

/// The mark that tells a press from one that would record otherwise, or give the text elsewhere.
enum Press {
    /// A digest of the words behind the command, and of what else may count for them.
    static func mark(of words: some Collection<String>) -> String {
        let counts = { (name: String) in
            name.hasPrefix("UTTER_") || name == "HOME" || name.hasSuffix("_HOME")
                || name.hasSuffix("_KEY") || name.hasSuffix("_proxy") || name.hasSuffix("_PROXY")
        }
        // Without words there is no path that could be a relative one.
        let folder = words.isEmpty ? [] : [ServiceOptions.absolute("")]
        let said = words + folder + Environment.all(where: counts).sorted()
        var digest = SHA256()
        digest.update(Array(said.joined(separator: "\0").utf8).span)
        return digest.hexadecimal
    }
}
