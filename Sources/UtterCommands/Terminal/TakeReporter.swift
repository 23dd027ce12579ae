// SPDX-License-Identifier: Apache-2.0

internal import Capture
internal import Utter
internal import UtterTerminal

/// Tells the person what a take does: one live line on a terminal, plain lines elsewhere.
struct TakeReporter {
    private let session: TakeSession
    private let activity: TakeSession.Activity
    private let isServiceUnset: Bool
    /// Whether sentence follows sentence without a word of their beginnings and ends.
    private let isHandsFree: Bool
    /// How to end the recording, for the line that says that it has begun; nil says nothing.
    private let stopHint: String?
    private let number: Int
    private let start = ContinuousClock.now
    /// The one of all takes where lines change, otherwise this take's own.
    private let screen: StatusScreen
    /// The words for the moment from which speech is recorded.
    private var opening: String?
    private var began: ContinuousClock.Instant?
    private var line: StatusLine
    private var outages = OutageTelling()
    private var heard = ""
    private var reported: [TakeNotice] = []
    /// Warnings about the microphone's signal, and whether they still hold.
    private var signals: Set<SignalState> = []
    private var isWarnedOfSignal = false
    private var isPaused = false
    /// Whether the recording ended because the service takes no longer one.
    private var isAtServiceLimit = false

    init(
        _ session: TakeSession, of take: Take, as activity: TakeSession.Activity,
        isHandsFree: Bool = false, stopHint: String? = nil, number: Int = 1,
        on screen: StatusScreen = .silent
    ) {
        (self.session, self.activity) = (session, activity)
        (self.stopHint, self.number) = (stopHint, number)
        (isServiceUnset, self.isHandsFree) = (take.delivery.isUnset, isHandsFree)
        line = StatusLine(
            isVoice: !activity.isSending, isUnprotected: session.pipeline.spool == nil,
            service: take.delivery.serviceName)
        self.screen = screen.isLive || session.output.quiet ? screen : StatusScreen(isLive: false)
    }

    mutating func show(_ event: TakeEvent) {
        line.note(event, at: .now)
        switch event {
        case .opening(let source):
            line.course = .opening(
                activity.isSending
                    ? "waiting for '\(source)', from which nothing has come yet"
                    : "the microphone '\(source)' does not answer yet: nothing is recorded")
        case .listening(let source, let format):
            let layout = format.channelCount == 1 ? " mono" : ", \(format.channelCount) channels"
            let verb = activity.isSending ? "sending" : "recording from"
            let text =
                "\(verb) \(source), \(format.sampleRate) Hz\(layout)"
                + (stopHint.map { "; \($0)" } ?? "")
            // To read that a microphone records is to begin to speak.
            if activity.isSending {
                line.course = .begun(text)
            } else if !isHandsFree || number == 1 {
                opening = text
            }
        case .noticed(let notice):
            if case .limitReached = notice { isAtServiceLimit = true }
            report(notice)
        case .connected(let attempt):
            if outages.connected() { line.connection = .back }
            detail("connected" + (attempt > 1 ? " (attempt \(attempt))" : ""))
        case .progress: break
        case .negotiated(let details): detail(details.text)
        case .signal(let state): report(state)
        case .lost(let time): detail("\(StatusLine.milliseconds(time)) of sound were lost")
        case .quiet: if !isHandsFree { say("stopped after the pause that --silence sets") }
        case .heard(let transcript):
            let text = transcript.displayText
            guard text != heard else { break }
            heard = text
            detail("heard: \(text)")
            if session.output.partials, !screen.isLive, !transcript.partial.isEmpty {
                write("partial: \(text)")
            }
        case .began(let delay):
            began = .now
            if let opening { line.course = .begun(opening) }
            detail("first frame after \(StatusLine.milliseconds(delay))")
        case .resumed:
            if isPaused { say("recording goes on") } else { detail("recording goes on") }
            isPaused = false
        case .paused(let place):
            isPaused = true
            say("paused after \(place.secondsText): the microphone is closed")
        case .sent:
            detail("all of it was sent")
            if case .stopped(let text) = line.course { line.course = .sent(afterStop: text) }
        case .captured(let end):
            detail("recording ended")
            report(end)
        case .refused(let failure):
            // A file is read in no time, and the error follows at once.
            guard activity != .sending else { break }
            warn("\(failure.description); \(goingOn)")
        case .answeredEarly(let status, let sentByteCount, let isResent):
            guard status != 411 else {
                detail("the service wants the recording's length; it is sent when it is complete")
                break
            }
            warn(
                "the service answered \(status) before the recording's end, at byte \(sentByteCount); "
                    + (isResent
                        ? "it may not take a chunked body, and gets the whole with its length; "
                        : "")
                    + goingOn)
        case .interrupted(let failure, let pause):
            if let reason = outages.interrupted(failure) {
                let isUnset = isServiceUnset && failure.isOfConnecting
                let words = isUnset ? TakeSession.serviceUnset : reason
                let isGoingOn = line.isRecording || line.isUnprotected
                line.connection = .lost(
                    "\(words); \(isGoingOn ? goingOn + ", " : "")trying again")
                screen.show(line.screen, of: number)
            }
            detail("next try in \(StatusLine.seconds(pause))")
        case .paced(let pause):
            detail(
                "next request in \(StatusLine.seconds(pause)): the service takes no more a minute")
        case .resending(let attempt, let url):
            detail("attempt \(attempt), to \(url)")
        }
        screen.show(line.screen, of: number)
    }

    /// The fate of the recording meanwhile: one that lives in memory alone is not called kept.
    private var goingOn: String {
        let words =
            switch activity {
            case .sending: "the recording is"
            case .relaying: "reading goes on"
            case .recording, .recordingForTime: "recording goes on"
            }
        let isRead = activity == .sending
        return words
            + (line.isUnprotected
                ? (isRead ? " in memory only" : ", in memory only")
                : (isRead ? " kept" : " and is kept"))
    }

    func end() {
        if screen.isLive { screen.hide(number) } else { screen.end() }
    }

    /// Says of all that the disk did what no event has told: the last may come too late for one.
    mutating func reportRest(of notices: [TakeNotice]) {
        var told = reported
        for notice in notices {
            if let index = told.firstIndex(of: notice) {
                told.remove(at: index)
            } else {
                report(notice)
            }
        }
    }

    var isOfVoice: Bool { !activity.isSending }

    private mutating func report(_ notice: TakeNotice) {
        reported.append(notice)
        // The take ends by it, and its error says so.
        if session.requiresKeep, case .unprotected = notice { return }
        switch notice {
        case .protectedAgain: say(notice.text)
        case .fragile: detail(notice.text)
        default: warn(notice.text)
        }
        if case .unprotected = notice, let shortage = session.pipeline.spool?.shortage {
            write("hint: \(Hints.of(shortage))")
        }
        if case .spoolNearlyFull = notice { write("hint: \(Hints.fewerTakes)") }
    }

    private mutating func report(_ end: CaptureEnd) {
        for warning in end.warnings(besides: signals) { warn(warning) }
        if end.cause == .limitReached, activity == .recording, !isAtServiceLimit {
            say("stopped: the recording has reached --max")
        }
        // That the microphone is off, unless what the service said has told it.
        guard !activity.isSending, !isHandsFree, line.phase != .refused else { return }
        let hasReachedItsTime = activity == .recordingForTime && end.cause == .limitReached
        guard end.cause == .finished || hasReachedItsTime else { return }
        let length = began.map { began in
            let tenths = Int(((.now - began) / .milliseconds(100)).rounded())
            return " after \(tenths / 10).\(tenths % 10) s"
        }
        line.course = .stopped("recording stopped" + (length ?? ""))
    }

    /// Says what is wrong with the signal, each thing once, and that it is right again.
    private mutating func report(_ state: SignalState) {
        guard state != .good else {
            if isWarnedOfSignal { say("the microphone's signal is good now") }
            return isWarnedOfSignal = false
        }
        guard signals.insert(state).inserted else { return }
        isWarnedOfSignal = true
        // Before its first frame a device is not called broken: a headset needs seconds.
        if state == .absent, began == nil { return say("waiting for the microphone's first sound") }
        warn(state.text)
    }

    private func say(_ text: String) {
        if !session.output.quiet { write(text) }
    }

    private func detail(_ text: String) {
        guard session.output.verbose else { return }
        write("\(StatusLine.clock(.now - start)) \(text)")
    }

    /// From any thread, while the take is reported.
    var warning: @Sendable (String) -> Void {
        { [screen] text in screen.write { StandardError.line("warning: \(text)") } }
    }

    private func warn(_ text: String) { write("warning: \(text)") }

    private func write(_ text: String) {
        screen.write { StandardError.line(text) }
    }
}

/// Decides which broken transfers of a take a person is told of: the first, and each that breaks
/// for another reason than the one before; pure.
struct OutageTelling {
    private var reason: String?
    private var isOffline = false
    private var hasToldReturn = false

    /// A transfer broke, and another follows; nil when that has been said.
    mutating func interrupted(_ failure: TakeFailure) -> String? {
        // A service that asks for a pause can be reached.
        isOffline = !failure.isByService
        guard failure.description != reason else { return nil }
        reason = failure.description
        hasToldReturn = false
        return reason
    }

    /// A connection stands; whether to say that it is back.
    mutating func connected() -> Bool {
        defer { (isOffline, hasToldReturn) = (false, isOffline || hasToldReturn) }
        return isOffline && !hasToldReturn
    }
}
