// SPDX-License-Identifier: Apache-2.0

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
        _ command: ControlRequest.Command, _ options: RecorderOptions
    ) async throws {
        let isRecorder = RecorderProcess.takeMark()
        Configuration.warnOfProblems(isDone: isRecorder)
        let place = try ControlPlace.current()
        if isRecorder {
            // Another one that serves the socket does as well.
            guard let owner = try ControlOwner.claim(place) else { return }
            return try await serve(nil, at: place, owner, options)
        }
        // To compare options takes milliseconds, and the command alone says nothing.
        let sayHow = Environment.words.count > 2 && options.sayHow
        if sayHow { try refuseElsewhere(place) }
        let isForeground = try KnownSettings.foreground.value() == true
        let texts = try TextOutput(options.output.texts, form: .text, isVoice: true)
        var request = ControlRequest(command)
        request.wait = true  // Also for a daemon that records.
        // With other options it is that of the recorder which they make.
        if !sayHow { request.service = options.serviceName }
        for _ in 0..<attempts {
            if let status = try ControlReading.ask(request, at: place, texts: texts) {
                guard status == .textPrinted else { throw status.code }
                return
            }
            if place.isGiven { throw ControlReading.unanswered(place) }
            if !isForeground {
                // Ctrl-C ends the process here.
                Signals.unblock()
                let words = Array(Environment.words.dropFirst())
                if let status = try RecorderProcess.begin(words, at: place) { throw status.code }
            } else if let owner = try ControlOwner.claim(place) {
                request.begun = .own
                return try await serve(request, at: place, owner, options)
            }
        }
        throw CommandFailure(
            "the control socket, \(place.path), changes hands all the time", status: .notDelivered)
    }

    /// Serves its own request, or that of the process which has begun this one, and those of all
    /// others, until no take is left.
    private static func serve(
        _ request: ControlRequest?, at place: ControlPlace, _ owner: ControlOwner,
        _ options: RecorderOptions
    ) async throws {
        // An end that comes later finds the socket.
        let end = place.lastEnd
        try await record(options, owner, for: .request(end)) {
            recorder, longest throws(CommandFailure) in
            try await recorder.run(request, longest: longest) {
                if request == nil { RecorderProcess.leaveParent() }
            }
        }
    }

    /// Refuses options that another process would not hear of: what is said must not go where the
    /// person did not send it.
    ///
    /// A recorder that is not a daemon is that of the same key, with the same options.
    private static func refuseElsewhere(_ place: ControlPlace) throws(CommandFailure) {
        guard
            let conversation = try orFailure({
                try ControlClient.ask(ControlRequest(.status), at: place)
            }),
            let status = conversation.first.status, status.isDaemon || place.isGiven
        else { return }
        throw CommandFailure(
            (status.isDaemon ? "'utter daemon' records" : "another utter records")
                + ", and knows nothing of these options",
            hint: "leave them out, but for -q, --service NAME and where the text goes; give them "
                + "to that command when it begins, or write them into its settings: utter config "
                + "edit",
            status: .usage)
    }

    static func record(
        _ options: RecorderOptions, _ owner: ControlOwner, for purpose: RecorderMachine.Purpose,
        preRoll: Duration? = nil,
        _ body: (Recorder, Duration) async throws(CommandFailure) -> ExitStatus
    ) async throws {
        defer { owner.remove() }
        try await Launch.takes(
            output: options.output, keep: options.keep, encryption: options.encryption.source,
            readsPipe: false, opensMicrophone: true
        ) {
            session throws(CommandFailure) in
            let plans = RecorderPlans(options, preRoll: preRoll)
            let recorder = Recorder(session, owner, plans: plans, for: purpose)
            session.warnOfNoService(options.service)
            return try await body(recorder, try options.voice.longest)
        }
    }
}
