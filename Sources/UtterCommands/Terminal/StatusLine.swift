// SPDX-License-Identifier: Apache-2.0

package import Utter

/// The one line on a terminal that shows a running take.
///
/// Pure: it learns from events, says what to print for a width and a time, and prints nothing.
/// Words come first. What is as it should be is not mentioned.
package struct StatusLine: Equatable {
    /// What the take is doing.
    enum Phase: String {
        case opening = "opening"
        case recording = "rec"
        case sending = "send"
        case waiting = "wait"
        case refused = "refused"
    }

    /// Which of several recordings this is.
    package struct Place: Equatable, Sendable {
        var number: Int
        var count: Int

        /// Names one of several; the first is number 1.
        package init(number: Int, count: Int) {
            self.number = number
            self.count = count
        }
    }

    /// Why nothing is being sent.
    private struct Outage: Equatable {
        /// Whether the service can be reached, and asks for a pause.
        var isBusy: Bool
        var nextTry: ContinuousClock.Instant
    }

    /// The columns that words get before anything but a warning.
    private static let leastWords = 12
    /// Levels from -60 to 0 dBFS, 7.5 dB a step.
    private static let bars = Array(" ▁▂▃▄▅▆▇█")
    /// How often a count of seconds is redrawn.
    private static let tick = Duration.milliseconds(100)

    private let isVoice: Bool
    private let place: Place?
    private var progress: TakeProgress?
    private var isListening = false
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
    ///   - place: which of several it is; nil when it is alone.
    ///   - isUnprotected: whether the take lives in memory only from its beginning.
    package init(isVoice: Bool, place: Place? = nil, isUnprotected: Bool = false) {
        self.isVoice = isVoice
        self.place = place
        self.isUnprotected = isUnprotected
    }

    /// Learns what has happened.
    package mutating func note(_ event: TakeEvent, at now: ContinuousClock.Instant) {
        switch event {
        case .listening: isListening = true
        case .noticed(.unprotected): isUnprotected = true
        case .noticed(.protectedAgain): isUnprotected = false
        case .connected: outage = nil
        case .progress(let progress): self.progress = progress
        case .heard(let transcript): words = TerminalText.singleLine(transcript.displayText)
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
    package var nextChange: Duration? { waitingSince != nil || outage != nil ? Self.tick : nil }

    /// What the take is doing: it waits once all of it is sent, and not before.
    var phase: Phase {
        if isRefused { return .refused }
        guard isCaptured || progress?.isComplete == true else {
            return isListening ? (isVoice ? .recording : .sending) : .opening
        }
        guard let progress, progress.isComplete, outage == nil else { return .sending }
        return progress.sentByteCount >= progress.bodyByteCount ? .waiting : .sending
    }

    /// The line, at most `columns` - 1 columns wide, colour codes not counted.
    ///
    /// The words are cut at their front: the newest matter. What else does not fit is left out.
    package func text(
        columns: Int, hasColour: Bool, at now: ContinuousClock.Instant
    ) -> String {
        let width = max(0, columns - 1)
        let name = phase.rawValue
        let warnings = warnings(at: now)
        let shortest = warnings.last.map { 1 + $0.count } ?? 0
        var room = width - name.count - shortest
        let wordColumns = min(TextWidth.columns(of: words), Self.leastWords)
        if !words.isEmpty { room -= min(max(0, room), 2 + wordColumns) }
        let warning = warnings.first { 1 + $0.count - shortest <= room }
        room -= warning.map { 1 + $0.count - shortest } ?? 0
        var pieces = [name]
        for fact in facts(at: now) where fact.count < room {
            pieces.append(fact)
            room -= 1 + fact.count
        }
        if let warning { pieces.append(warning) }
        var line = String(pieces.joined(separator: " ").prefix(width))
        let separator = pieces.count == 1 ? " " : "  "
        let left = width - line.count - separator.count
        if left > 1 && !words.isEmpty {
            line += separator + TextWidth.suffix(of: words, columns: left)
        }
        guard hasColour && line.hasPrefix(name) else { return line }
        return "\u{1B}[\(colour)m\(name)\u{1B}[0m" + line.dropFirst(name.count)
    }

    private var colour: String {
        switch phase {
        case .recording: "31"
        case .refused: "33"
        case .opening, .sending, .waiting: "36"
        }
    }

    /// What is neither a word nor a warning, from left to right.
    private func facts(at now: ContinuousClock.Instant) -> [String] {
        let place = place.map { ["\($0.number) of \($0.count)"] } ?? []
        guard let progress else { return place }
        switch phase {
        case .opening: return place
        case .recording, .refused: return [Self.clock(progress.elapsed), meter]
        case .sending where !progress.isComplete: return place + [Self.clock(progress.elapsed)]
        case .sending:
            return place + ["\(100 * progress.sentByteCount / max(1, progress.bodyByteCount))%"]
        case .waiting: return place + [Self.clock(now - (waitingSince ?? now))]
        }
    }

    /// What a person has to know of a take that is not both safe and on its way: the same
    /// statement several times, the longest first.
    private func warnings(at now: ContinuousClock.Instant) -> [String] {
        let delays = delays(at: now)
        let dangers =
            isUnprotected ? delays.map { "not protected, \($0)" } + ["not protected"] : delays
        return dangers.isEmpty ? [] : dangers + ["!"]
    }

    private func delays(at now: ContinuousClock.Instant) -> [String] {
        if let outage {
            let name = outage.isBusy ? "busy" : "offline"
            guard outage.nextTry > now else { return ["\(name), trying again", name] }
            // The last second is shown as 1, not as 0.
            let seconds = (outage.nextTry - now).wholeSeconds + 1
            return ["\(name), next try in \(seconds) s", "\(name) \(seconds) s", name]
        }
        guard phase == .recording, let progress, progress.bodyByteCount > 0 else { return [] }
        let unsent = 1 - Double(progress.sentByteCount) / Double(progress.bodyByteCount)
        let behind = (progress.elapsed * unsent).wholeSeconds
        return behind >= 1 ? ["behind \(behind) s"] : []
    }

    private var meter: String {
        let step = Int(((progress?.level ?? .silence).peakDecibels + 60) / 7.5)
        return String(Self.bars[min(max(step, 0), Self.bars.count - 1)])
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

// MARK: - Figures

extension StatusLine {
    /// Minutes, seconds and tenths.
    package static func clock(_ duration: Duration) -> String {
        let tenths =
            Int(duration.components.seconds) * 10
            + Int(duration.components.attoseconds / 100_000_000_000_000_000)
        let seconds = tenths / 10 % 60
        return "\(tenths / 600):\(seconds < 10 ? "0" : "")\(seconds).\(tenths % 10)"
    }

    /// Seconds, to the hundredth below ten.
    static func seconds(_ duration: Duration) -> String {
        let hundredths =
            Int(duration.components.seconds) * 100
            + Int(duration.components.attoseconds / 10_000_000_000_000_000)
        guard hundredths < 1_000 else { return "\(hundredths / 100) s" }
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
    }

    /// A byte count with a unit.
    static func size(_ count: Int) -> String {
        count < 1_000
            ? "\(count) B"
            : count < 1_000_000
                ? "\(count / 1_000) kB"
                : "\(count / 1_000_000).\(count / 100_000 % 10) MB"
    }
}
