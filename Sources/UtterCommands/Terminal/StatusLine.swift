// SPDX-License-Identifier: Apache-2.0

internal import Utter
internal import UtterTerminal

/// What a terminal shows of a running take: a line of its state, and below it the newest words.
///
/// Pure: it learns from events, says what to print for a window and a time, and prints nothing.
struct StatusLine: LiveContent, Equatable {
    /// What the take is doing, in the words of the person who speaks.
    enum Phase: String {
        /// What is said now may be lost.
        case opening
        /// What is said is recorded.
        case speaking = "speak"
        /// The end was asked for; a last word is recorded still.
        case tail
        case sending
        case waiting
        case refused
    }

    /// Why nothing is being sent.
    private struct Outage: Equatable {
        /// Whether the service can be reached, and asks for a pause.
        var isBusy: Bool
        var nextTry: ContinuousClock.Instant
    }

    /// How often a count of seconds is redrawn.
    private static let tick = Duration.milliseconds(100)
    /// The cells of a level meter: the most for which there is room.
    private static let meterCells = [24, 12, 6]
    /// More of the words is not looked at for one drawing, in bytes; it fills the largest window.
    private static let mostWords = 1 << 15

    private let isVoice: Bool
    private var progress: TakeProgress?
    private var meter = LevelMeter()
    /// Whether no sample but zero comes.
    private var isMute = false
    private var isListening = false
    private var hasBegun = false
    private var isCaptured = false
    private var isRefused = false
    private(set) var isUnprotected = false
    private var outage: Outage?
    private var waitingSince: ContinuousClock.Instant?
    private var words = ""

    /// Begins with nothing known.
    ///
    /// - Parameters:
    ///   - isVoice: whether a person speaks; otherwise a recording is sent.
    ///   - isUnprotected: whether the take lives in memory only from its beginning.
    init(isVoice: Bool, isUnprotected: Bool = false) {
        self.isVoice = isVoice
        self.isUnprotected = isUnprotected
    }

    mutating func note(_ event: TakeEvent, at now: ContinuousClock.Instant) {
        switch event {
        case .listening: isListening = true
        case .began: hasBegun = true
        case .noticed(.unprotected): isUnprotected = true
        case .noticed(.protectedAgain): isUnprotected = false
        case .connected: outage = nil
        case .progress(let progress):
            self.progress = progress
            meter.note(decibels: progress.level.peakDecibels, at: now)
        case .heard(let transcript): words = TerminalText.singleLine(transcript.displayText)
        case .signal(let state): isMute = state == .zero
        case .captured: isCaptured = true
        case .refused: isRefused = true
        case .interrupted(let failure, let pause):
            outage = Outage(isBusy: failure.isByService, nextTry: now + pause)
        case .resending: progress?.sentByteCount = 0
        default: break
        }
        waitingSince = phase == .waiting ? waitingSince ?? now : nil
    }

    /// After how long the line changes without an event; nil when it does not.
    var nextChange: Duration? { waitingSince != nil || outage != nil ? Self.tick : nil }

    /// What the take is doing: it waits once all of it is sent, and not before.
    var phase: Phase {
        if isRefused { return .refused }
        guard isCaptured || progress?.isComplete == true else {
            guard isVoice else { return isListening ? .sending : .opening }
            guard hasBegun else { return .opening }
            return progress?.isEnding == true ? .tail : .speaking
        }
        guard let progress, progress.isComplete, outage == nil else { return .sending }
        return progress.sentByteCount >= progress.bodyByteCount ? .waiting : .sending
    }

    /// Whether the microphone is on, and its sound on its way.
    var isRecording: Bool { phase == .speaking || phase == .tail }

    /// Whether the microphone is on, though the service wants no more.
    private var isHearing: Bool {
        isRecording || isVoice && hasBegun && !isCaptured && progress?.isComplete != true
    }

    // MARK: - The lines

    /// The lines, each at most `columns` - 1 columns wide, colour codes not counted.
    ///
    /// The words have at most half of the rows, so that what stands above stays in sight. The newest
    /// are shown; what is cut begins with "…".
    func lines(
        columns: Int, rows: Int, hasColour: Bool, at now: ContinuousClock.Instant
    ) -> [String] {
        let state = state(columns: columns, hasColour: hasColour, at: now)
        let room = min(rows - 1, max(1, rows / 2))
        guard !words.isEmpty, room > 0, columns > 2 else { return [state] }
        return [state] + Self.newest(of: words, columns: columns - 1, rows: room)
    }

    /// The end of the text that has room in so many rows.
    ///
    /// Lines break where they broke before, as long as words are only added: they are counted from
    /// the text's beginning, or from a place that moves seldom.
    private static func newest(of text: String, columns: Int, rows: Int) -> [String] {
        let bytes = text.utf8
        let skipped = max(0, bytes.count / (mostWords / 2) - 1) * (mostWords / 2)
        let start = bytes.index(bytes.startIndex, offsetBy: skipped)
        // In a single line, as many words as it takes.
        if rows == 1 { return [TextWidth.suffix(of: text[start...], columns: columns)] }
        let rest = skipped > 0 ? text[start...].drop { $0 != " " } : text[...]
        let all = TextWidth.wrapped(rest.isEmpty ? text[start...] : rest, columns: columns)
        guard all.count > rows || skipped > 0 else { return all }
        var lines = Array(all.suffix(rows))
        // The mark takes the place of the first line's first word.
        let first = lines[0]
        lines[0] = "…" + (first.firstIndex(of: " ").map { first[$0...] } ?? first.dropFirst())
        return lines
    }

    /// The line of the state: what matters less is left out when it has no room.
    private func state(
        columns: Int, hasColour: Bool, at now: ContinuousClock.Instant
    ) -> String {
        let name = String(phase.rawValue.prefix(max(0, columns - 1)))
        let warnings = warnings(at: now)
        let shortest = warnings.last.map { 1 + $0.count } ?? 0
        var room = max(0, columns - 1) - name.count - shortest
        var facts: [String] = []
        for sizes in self.facts(at: now) {
            // The largest comes first; the others of one fact are the same in short.
            guard let fact = sizes.first(where: { 1 + $0.count <= room }) else { continue }
            facts.append(fact)
            room -= 1 + fact.count
        }
        let warning = warnings.first { 1 + $0.count - shortest <= room }
        room -= warning.map { 1 + $0.count - shortest } ?? 0
        if let cell = facts.lastIndex(of: meter.cell),
            let wide = Self.meterCells.first(where: { $0 + 1 <= room })
        {
            // Two ends, and as many cells in place of one.
            facts[cell] = meter.bar(cells: wide)
            room -= wide + 1
        }
        if warning == nil, isSafe, room >= 5 { facts.append("safe") }
        let rest = facts.map { " " + $0 }.joined()
        guard hasColour else { return name + rest + (warning.map { " " + $0 } ?? "") }
        return Self.coloured(name, colour) + rest
            + (warning.map { " " + Self.coloured($0, 33) } ?? "")
    }

    private static func coloured(_ text: String, _ colour: Int) -> String {
        "\u{1B}[\(colour)m\(text)\u{1B}[0m"
    }

    private var colour: Int {
        switch phase {
        case .speaking, .tail: 31
        case .refused: 33
        case .opening, .sending, .waiting: 36
        }
    }

    /// The facts beside warnings, from left to right; each with its shorter forms.
    private func facts(at now: ContinuousClock.Instant) -> [[String]] {
        guard let progress else { return [] }
        let elapsed = Self.clock(progress.elapsed)
        switch phase {
        case .opening: return []
        case .speaking, .tail, .refused:
            return [[elapsed, String(elapsed.dropLast(2))], [meter.cell]]
        case .sending where !progress.isComplete: return [[elapsed]]
        case .sending:
            return [["\(100 * progress.sentByteCount / max(1, progress.bodyByteCount))%"]]
        case .waiting: return [[Self.clock(now - (waitingSince ?? now))]]
        }
    }

    // MARK: - What is not as it should be

    /// Whether what was said is on the disk, and the service has it but for the last moment.
    private var isSafe: Bool {
        isRecording && (progress?.journaledByteCount ?? 0) > 0 && !isUnprotected
    }

    /// What a person has to know of a take that is not both safe and on its way: the same
    /// statement several times, the longest first.
    private func warnings(at now: ContinuousClock.Instant) -> [String] {
        let delays = delays(at: now)
        let silent = isHearing && isMute ? ["no signal"] : []
        let dangers = isUnprotected ? ["not protected"] : []
        let first = silent + dangers
        guard !first.isEmpty else { return delays.isEmpty ? [] : delays + ["!"] }
        let joined = first.joined(separator: ", ")
        return delays.map { "\(joined), \($0)" } + [joined, first[0], "!"]
    }

    private func delays(at now: ContinuousClock.Instant) -> [String] {
        if let outage {
            let name = outage.isBusy ? "busy" : "offline"
            guard outage.nextTry > now else { return ["\(name), trying again", name] }
            // The last second is shown as 1, not as 0.
            let seconds = (outage.nextTry - now).wholeSeconds + 1
            return ["\(name), next try in \(seconds) s", "\(name) \(seconds) s", name]
        }
        guard isRecording, let progress, progress.bodyByteCount > 0 else { return [] }
        let unsent = 1 - Double(progress.sentByteCount) / Double(progress.bodyByteCount)
        let behind = (progress.elapsed * unsent).wholeSeconds
        return behind >= 1 ? ["behind by \(behind) s", "behind \(behind) s"] : []
    }
}

extension TakeFailure {
    /// Whether the service answered, and cannot serve now.
    fileprivate var isByService: Bool {
        if case .unavailable = self { true } else { false }
    }
}

extension Duration {
    fileprivate var wholeSeconds: Int { Int(components.seconds) }
}
