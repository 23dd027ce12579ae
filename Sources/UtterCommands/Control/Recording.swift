// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Utter
internal import UtterSettings

/// How the commands begin that may have to record themselves.
enum Recording {
    /// So often the socket may change hands before that is given up.
    private static let attempts = 100

    /// Has the program that owns the socket do it, or becomes that program.
    static func run(
        _ command: ControlRequest.Command, _ options: RecorderOptions
    ) async throws {
        Configuration.warnOfProblems()
        let place = try ControlPlace.current()
        if options.sayHow { try refuseElsewhere(place) }
        let found = try find(
            command, at: place, TextOutput(options.output.texts, form: .text, isVoice: true))
        switch found {
        case .done(let status): if status != .textPrinted { throw status.code }
        case .owned(let owner):
            try await record(options, owner, plans: { RecorderPlans(options) }) {
                recorder, longest throws(CommandFailure) in
                try await recorder.run(ControlRequest(command), longest: longest)
            }
        }
    }

    private enum Found {
        case done(ExitStatus)
        case owned(ControlOwner)
    }

    /// Refuses options that another process would not hear of: what is said must not go where the
    /// person did not send it.
    ///
    /// A recorder that is no daemon is that of the same key, with the same options.
    private static func refuseElsewhere(_ place: ControlPlace) throws(CommandFailure) {
        guard let conversation = try ControlClient.ask(ControlRequest(.status), at: place),
            let status = conversation.first.status, status.isDaemon || place.isGiven
        else { return }
        throw CommandFailure(
            (status.isDaemon ? "'utter daemon' records" : "another utter records")
                + ", and knows nothing of these options",
            hint: "leave them out, but for -q and where the text goes; give them to that command "
                + "when it begins, or write them into the settings: utter config edit",
            status: .usage)
    }

    private static func find(
        _ command: ControlRequest.Command, at place: ControlPlace, _ texts: TextOutput
    ) throws(CommandFailure) -> Found {
        for _ in 0..<attempts {
            if let status = try ControlReading.ask(
                ControlRequest(command), at: place, texts: texts)
            {
                return .done(status)
            }
            if place.isGiven {
                throw ControlReading.unanswered(place)
            }
            guard case .owned(let owner) = try ControlOwner.claim(place) else { continue }
            if command == .start, let own = ProcessBeginning.own, EndMark(place).forbids(own) {
                owner.remove()
                throw ControlReading.stoppedBefore
            }
            return .owned(owner)
        }
        throw CommandFailure(
            "the control socket, \(place.path), changes hands all the time", status: .notDelivered)
    }

    static func record(
        _ options: RecorderOptions, _ owner: ControlOwner, isDaemon: Bool = false,
        plans: () -> RecorderPlans,
        _ body: (Recorder, Duration) async throws(CommandFailure) -> ExitStatus
    ) async throws {
        defer { owner.remove() }
        try await Launch.takes(
            output: options.output, keep: options.keep, encryption: options.encryption.source,
            readsPipe: false, opensMicrophone: true
        ) {
            session throws(CommandFailure) in
            let recorder = Recorder(
                session, owner, plans: plans(), isDaemon: isDaemon,
                isServiceUnset: options.service.isServiceUnset)
            session.warn(ofNoService: options.service)
            return try await body(recorder, try options.voice.longest)
        }
    }
}
