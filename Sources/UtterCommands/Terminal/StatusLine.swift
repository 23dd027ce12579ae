// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterTerminal

/// A terminal's view of a running take: a line of its state, and below it the newest words.
///
/// Pure: it learns from events, and makes a state of a screen of them.
struct StatusLine: Equatable {
    /// The take's phase, in the words of the person who speaks.
    enum Phase: String {
        /// Words may be lost now.
        case opening
        case speaking = "speak"
        /// The end was asked for; a last word is recorded still.
        case tail
        /// The microphone is closed until a person says so.
        case paused
        case sending
        case waiting
        case refused
    }

    private let isVoice: Bool
    private let service: String
    private var progress: TakeProgress?
    private var meter = LevelMeter()
    /// No sample but zero comes.
    private var isMute = false
    private var isListening = false
    private var hasBegun = false
    private var isCaptured = false
    private var isPaused = false
    private var trouble = TakeTrouble()
    private let isUnkept: Bool
    /// Nothing is sent before, while the service is not reached.
    private var nextTry: ContinuousClock.Instant?
    /// A request waits until then: the service takes no more of them a minute.
    private var paced: ContinuousClock.Instant?
    private var waitingSince: ContinuousClock.Instant?
    private var words = ""
    /// The course for readers who see no line.
    var course = ScreenState.Course.unknown
    var connection = ScreenState.Connection.untold

    /// A voice is a person who speaks; otherwise a recording is sent.
    init(isVoice: Bool, isUnprotected: Bool = false, service: String = "") {
        (self.isVoice, isUnkept, self.service) = (isVoice, isUnprotected, service)
    }

    var isUnprotected: Bool { isUnkept || trouble.exposure != nil }

    private var outage: ScreenState.Delay? {
        guard let failure = trouble.outage, let nextTry else { return nil }
        return .outage(isBusy: failure.isByService, nextTry: nextTry)
    }

    mutating func note(_ event: TakeEvent, at now: ContinuousClock.Instant) {
        trouble.note(event)
        switch event {
        case .listening: isListening = true
        case .began: hasBegun = true
        case .progress(let progress):
            self.progress = progress
            meter.note(decibels: progress.level.peakDecibels, at: now)
        case .heard(let transcript): words = TerminalText.singleLine(transcript.displayText)
        case .signal(let state): isMute = state == .zero
        case .captured: isCaptured = true
        case .paused: isPaused = true
        case .resumed: isPaused = false
        case .interrupted(_, let pause): nextTry = now + pause
        case .paced(let pause): paced = now + pause
        case .resending: progress?.sentByteCount = 0
        default: break
        }
        waitingSince = phase == .waiting ? waitingSince ?? now : nil
    }

    /// The take's phase: it waits once all of it is sent, and not before.
    var phase: Phase {
        if trouble.refusal != nil { return .refused }
        guard isCaptured || progress?.isComplete == true else {
            guard isVoice else { return isListening ? .sending : .opening }
            guard hasBegun else { return .opening }
            return isPaused ? .paused : progress?.isEnding == true ? .tail : .speaking
        }
        guard let progress, progress.isComplete, outage == nil else { return .sending }
        return progress.sentByteCount >= progress.bodyByteCount ? .waiting : .sending
    }

    /// Whether the microphone is on, and its sound on its way.
    var isRecording: Bool { phase == .speaking || phase == .tail }

    /// Whether the microphone is on, though the service wants no more.
    private var isHearing: Bool {
        isRecording
            || isVoice && hasBegun && !isCaptured && !isPaused && progress?.isComplete != true
    }

    // MARK: - What is to be seen

    var screen: ScreenState {
        var screen = ScreenState(phase.rawValue, tone, facts: facts)
        screen.dangers =
            (isHearing && isMute ? ["no signal"] : []) + (isUnprotected ? ["not protected"] : [])
        screen.delay =
            outage ?? behind.map { .behind(seconds: $0) } ?? paced.map { .paced(until: $0) }
        (screen.isSafe, screen.service) = (isSafe, service)
        screen.words = words
        (screen.course, screen.connection) = (course, connection)
        return screen
    }

    private var tone: ScreenState.Tone {
        switch phase {
        case .speaking, .tail: .microphone
        case .refused: .caution
        case .opening, .paused, .sending, .waiting: .calm
        }
    }

    private var facts: [ScreenState.Fact] {
        guard let progress else { return [] }
        let elapsed = Self.clock(progress.elapsed)
        switch phase {
        case .opening: return []
        case .speaking, .tail, .refused:
            return [.text([elapsed, String(elapsed.dropLast(2))]), .level(meter)]
        case .paused: return [.text([elapsed])]
        case .sending where !progress.isComplete: return [.text([elapsed])]
        case .sending:
            let percent = 100 * progress.sentByteCount / max(1, progress.bodyByteCount)
            return [.text(["\(percent)%"])]
        case .waiting: return waitingSince.map { [.since($0)] } ?? []
        }
    }

    /// Whether what was said is on the disk, and the service has it but for the last moment.
    private var isSafe: Bool {
        isRecording && (progress?.journaledByteCount ?? 0) > 0 && !isUnprotected
    }

    /// How many seconds of what was said the service lacks; nil below one.
    private var behind: Int? {
        guard isRecording, let progress, progress.bodyByteCount > 0 else { return nil }
        let unsent = 1 - Double(progress.sentByteCount) / Double(progress.bodyByteCount)
        let seconds = Int((progress.elapsed * unsent).components.seconds)
        return seconds >= 1 ? seconds : nil
    }
}
