// SPDX-License-Identifier: Apache-2.0

internal import Utter

/// Tells the person what a take does: one live line on a terminal, plain lines elsewhere.
struct TakeReporter {
    /// A terminal is redrawn this often at most; eyes see no more.
    private static let redrawInterval = Duration.milliseconds(80)

    private let options: OutputOptions
    private let activity: TakeSession.Activity
    /// How to end the recording, for the line that says that it has begun; nil says nothing.
    private let stopHint: String?
    /// Whether neither the command line nor the environment has named a service.
    private let isServiceUnset: Bool
    /// Tells how many line feeds were typed since it was asked last.
    private let takeEchoedLines: () -> Int
    private let start = ContinuousClock.now
    private var line = StatusLine()
    private var nextRedraw = ContinuousClock.now
    private var isDrawn = false
    /// Digital silence seen so far while recording.
    private var hasSound = false
    private var hasWarnedOfSilence = false
    private var reported: [TakeNotice] = []

    init(
        options: OutputOptions, activity: TakeSession.Activity, stopHint: String?,
        isInMemory: Bool = false, isServiceUnset: Bool = false,
        takeEchoedLines: @escaping () -> Int
    ) {
        line.isUnprotected = isInMemory
        self.isServiceUnset = isServiceUnset
        self.takeEchoedLines = takeEchoedLines
        self.options = options
        self.activity = activity
        self.stopHint = stopHint
    }

    private var isLive: Bool { StandardError.isTerminal && !options.quiet }

    /// Shows one event.
    mutating func show(_ event: TakeEvent) {
        switch event {
        case .listening(let source, let format):
            line.phase = activity.isSending ? .sending : .recording
            let layout = format.channelCount == 1 ? " mono" : ", \(format.channelCount) channels"
            let verb = activity.isSending ? "sending" : "recording from"
            say(
                "\(verb) \(source), \(format.sampleRate) Hz\(layout)"
                    + (stopHint.map { "; \($0)" } ?? ""))
        case .noticed(let notice): report(notice)
        case .connected(let attempt):
            detail("connected" + (attempt > 1 ? " (attempt \(attempt))" : ""))
        case .progress(let progress):
            line.elapsed = progress.elapsed
            line.level = progress.level
            line.journaledByteCount = progress.journaledByteCount
            line.sentByteCount = progress.sentByteCount
            warnOfSilence(progress)
        case .heard(let transcript):
            let text = transcript.displayText
            if text != line.partial { detail("heard: \(text)") }
            line.partial = text
        case .captured(let end):
            if line.phase != .refused { line.phase = .waiting }
            detail("recording ended")
            report(end)
        case .refused(let failure):
            line.phase = .refused
            // A file is read in no time, and the error follows at once.
            guard activity != .sending else { break }
            warn("\(failure.description); \(goingOn)")
        case .answeredEarly(let status, let sentByteCount, let isResent):
            guard status != 411 else {
                detail("the service wants the recording's length; it is sent when it is complete")
                break
            }
            warn(
                "the service answered \(status) when it had \(StatusLine.size(sentByteCount)); "
                    + (isResent ? "the whole is sent once more, with its length; " : "")
                    + goingOn)
        case .interrupted(let failure, let pause):
            let seconds = StatusLine.seconds(pause)
            let words = serviceUnset(failure) ?? failure.description
            say("\(words); \(line.isUnprotected ? goingOn : "nothing is lost"), "
                + "trying again in \(seconds)")
        case .resending(let attempt, let url):
            detail("attempt \(attempt), to \(url)")
        }
        if case .progress = event {
            guard ContinuousClock.now >= nextRedraw else { return }
        }
        redraw()
    }

    /// What becomes of the recording meanwhile: what lives in memory alone is not called kept.
    private var goingOn: String {
        (activity.isSending ? "reading" : "recording") + " goes on"
            + (line.isUnprotected ? ", in memory only" : " and is kept")
    }

    /// What to say when nothing listens where a service is looked for that nothing names.
    private func serviceUnset(_ failure: TakeFailure) -> String? {
        isServiceUnset && failure.isOfConnecting ? TakeSession.serviceUnset : nil
    }

    /// Takes the live line away.
    mutating func clear() {
        if isDrawn { StandardError.write(erasure) }
        isDrawn = false
    }

    /// What erases the live line, from the line above too when Enter has left it there.
    private var erasure: String {
        let erase = "\r\u{1B}[2K"
        return String(repeating: erase + "\u{1B}[A", count: takeEchoedLines()) + erase
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

    private mutating func report(_ notice: TakeNotice) {
        reported.append(notice)
        switch notice {
        case .unprotected: line.isUnprotected = true
        case .protectedAgain: line.isUnprotected = false
        default: break
        }
        if notice == .protectedAgain { say(notice.text) } else { warn(notice.text) }
    }

    private mutating func report(_ end: CaptureEnd) {
        if case .source(let error) = end.cause, error.isLossInMidTake {
            warn(error.description)
        }
        if let warning = end.warning { warn(warning) }
        if end.cause == .limitReached && activity == .recording {
            say("stopped: the recording is as long as --max allows")
        }
        let frames = end.gaps.reduce(0) { $0 + $1.frames }
        guard frames > 0 else { return }
        let times = end.gaps.count == 1 ? "once" : "\(end.gaps.count) times"
        warn("\(frames / 16) ms were lost (\(times)) and replaced by silence")
    }

    private mutating func warnOfSilence(_ progress: TakeProgress) {
        if progress.level.peak > 0 { hasSound = true }
        guard !hasSound, !hasWarnedOfSilence, !activity.isSending,
            progress.elapsed > .seconds(2)
        else { return }
        hasWarnedOfSilence = true
        warn("the source delivers nothing but digital silence; is the microphone muted?")
    }

    /// A line that everybody sees, but for those who asked for quiet.
    private mutating func say(_ text: String) {
        guard !options.quiet else { return }
        write(text)
    }

    /// A line for `-v`.
    private mutating func detail(_ text: String) {
        guard options.verbose else { return }
        write("\(StatusLine.clock(.now - start)) \(text)")
    }

    private mutating func warn(_ text: String) { write("warning: \(text)") }

    private mutating func write(_ text: String) {
        clear()
        StandardError.line(text)
    }

    private mutating func redraw() {
        guard isLive else { return }
        nextRedraw = .now + Self.redrawInterval
        let text = line.text(
            columns: StandardError.columns, hasColour: StandardError.hasColour)
        // What was typed before has moved other lines up, which stay.
        if !isDrawn { _ = takeEchoedLines() }
        StandardError.write((isDrawn ? erasure : "\r") + text)
        isDrawn = true
    }
}
