// SPDX-License-Identifier: Apache-2.0

/// The screen's view of a take, many takes, or a microphone; pure.
package struct ScreenState: Sendable, Equatable {
    package enum Tone: Int, Sendable {
        case microphone = 31
        case caution = 33
        case calm = 36
    }

    package enum Fact: Sendable, Equatable {
        /// The forms that follow are shorter.
        case text([String])
        case since(ContinuousClock.Instant)
        case level(LevelMeter)
        /// A bar, from 0 to 1.
        case share(Double)
    }

    /// Why the recording is not where it should be.
    package enum Delay: Sendable, Equatable {
        /// Nothing is sent before `nextTry`; a busy service can be reached.
        case outage(isBusy: Bool, nextTry: ContinuousClock.Instant)
        case behind(seconds: Int)
        /// The service takes no more requests a minute.
        case paced(until: ContinuousClock.Instant)
    }

    /// How far a recording has come, for lines that stay.
    package enum Course: Sendable, Equatable {
        case unknown
        case opening(String)
        /// Written on any screen; the others only in a log.
        case begun(String)
        case stopped(String)
        /// Written at the end, unless `sent` was before.
        case sent(afterStop: String)
    }

    /// As far as the person is told.
    package enum Connection: Sendable, Equatable {
        case untold
        case lost(String)
        case back
    }

    /// In bytes: more words do not fit into the largest window.
    private static let mostWords = 1 << 15
    /// In cells.
    private static let shareSizes = Array((4...40).reversed())
    private(set) var title = ""
    private var tone: Tone?
    private(set) var facts: [Fact]
    package var dangers: [String] = []
    package var delay: Delay?
    package var isSafe = false
    /// The name of who hears it, which stands where there is room.
    package var service = ""
    /// Below the line, such as the text so far.
    package var words = ""
    package var course = Course.unknown
    package var connection = Connection.untold

    package init(_ title: String = "", _ tone: Tone? = nil, facts: [Fact] = []) {
        (self.title, self.tone, self.facts) = (title, tone, facts)
    }

    /// When the picture changes by itself; nil: never.
    var nextChange: Duration? {
        let counts =
            switch delay {
            case .outage, .paced: true
            case .behind, nil: facts.contains { if case .since = $0 { true } else { false } }
            }
        return counts ? .milliseconds(100) : nil
    }

    /// The lines for a window and a time, each at most `columns` - 1 columns wide, colour codes not
    /// counted.
    ///
    /// The words have at most half of the rows, so that what stands above stays in sight. The newest
    /// are shown; what is cut begins with "…".
    func lines(
        columns: Int, rows: Int, hasColour: Bool, at now: ContinuousClock.Instant
    ) -> [String] {
        let line = line(columns: columns - 1, hasColour: hasColour, at: now)
        let room = min(rows - 1, max(1, rows / 2))
        guard !words.isEmpty, room > 0, columns > 2 else { return [line] }
        return [line] + Self.newest(of: words, columns: columns - 1, rows: room)
    }

    /// The end of the text that fits into `rows`.
    ///
    /// Lines stay the same while words are added: they are counted from the text's beginning, or
    /// from a place that seldom moves.
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
        lines[0] = TextWidth.marked(lines[0])
        return lines
    }

    /// The longest first; none for a bar or nothing.
    private func texts(of fact: Fact, at now: ContinuousClock.Instant) -> [String] {
        switch fact {
        case .text(let forms): forms
        case .since(let start): [Self.clock(now - start)]
        case .level(let meter): [meter.cell]
        case .share: []
        }
    }

    /// The longest that fits into `room` with a blank and two ends.
    private func bar(of fact: Fact, room: Int) -> String? {
        switch fact {
        case .text, .since: nil
        case .level(let meter):
            LevelMeter.sizes.first { $0 + 3 <= room }.map { meter.bar(cells: $0) }
        case .share(let share):
            Self.shareSizes.first { $0 + 3 <= room }.map { cells in
                let filled = min(cells, Int(Double(cells) * share))
                return "▕" + String(repeating: "█", count: filled)
                    + String(repeating: "·", count: cells - filled) + "▏"
            }
        }
    }

    /// Leaves out the least important parts first.
    private func line(columns: Int, hasColour: Bool, at now: ContinuousClock.Instant) -> String {
        let name = String(title.prefix(max(0, columns)))
        let warnings = warnings(at: now)
        let shortest = warnings.last.map(Self.width) ?? 0
        var room = max(0, columns) - name.count - shortest
        var shown = facts.map { _ in "" }
        // A bar without another form is worth more than a text that could be shorter.
        let forms = facts.map { texts(of: $0, at: now) }
        let reserve = forms.contains { $0.isEmpty } ? 7 : 0
        for (index, forms) in forms.enumerated() {
            shown[index] =
                forms.first {
                    Self.width($0) + ($0 == forms.last ? 0 : reserve) <= room
                } ?? ""
            room -= Self.width(shown[index])
        }
        let warning = warnings.first { Self.width($0) - shortest <= room }
        room -= warning.map { Self.width($0) - shortest } ?? 0
        for (index, fact) in facts.enumerated() where forms[index].isEmpty || !shown[index].isEmpty
        {
            let present = Self.width(shown[index])
            guard let bar = bar(of: fact, room: room + present) else { continue }
            shown[index] = bar
            room -= Self.width(bar) - present
        }
        if warning == nil, isSafe, room >= 5 {
            shown.append("safe")
            room -= 5
        }
        if Self.width(service) <= room { shown.append(service) }
        let rest = shown.filter { !$0.isEmpty }.map { " " + $0 }.joined()
        let paint = { (text: String, tone: Tone?) in
            guard hasColour, let tone else { return text }
            return "\u{1B}[\(tone.rawValue)m\(text)\u{1B}[0m"
        }
        return paint(name, tone) + rest + (warning.map { " " + paint($0, .caution) } ?? "")
    }

    /// With the blank before it; 0 for no text.
    private static func width(_ text: String) -> Int {
        text.isEmpty ? 0 : 1 + TextWidth.columns(of: text)
    }

    /// The warnings, each in several lengths, the longest first.
    private func warnings(at now: ContinuousClock.Instant) -> [String] {
        let delays = delays(at: now)
        guard let first = dangers.first else { return delays.isEmpty ? [] : delays + ["!"] }
        let joined = dangers.joined(separator: ", ")
        return delays.map { "\(joined), \($0)" } + [joined, first, "!"]
    }

    private func delays(at now: ContinuousClock.Instant) -> [String] {
        switch delay {
        case nil: return []
        case .behind(let seconds): return ["behind by \(seconds) s", "behind \(seconds) s"]
        case .outage(let isBusy, let nextTry):
            let name = isBusy ? "busy" : "offline"
            guard let seconds = Self.seconds(from: now, to: nextTry) else {
                return ["\(name), trying again", name]
            }
            return ["\(name), next try in \(seconds) s", "\(name) \(seconds) s", name]
        case .paced(let next):
            guard let seconds = Self.seconds(from: now, to: next) else { return [] }
            return [
                "the service takes no more a minute, next request in \(seconds) s",
                "next request in \(seconds) s", "next \(seconds) s",
            ]
        }
    }

    /// The last second is shown as 1, not as 0; nil when none is left.
    private static func seconds(
        from now: ContinuousClock.Instant, to end: ContinuousClock.Instant
    ) -> Int64? {
        end > now ? (end - now).components.seconds + 1 : nil
    }

    /// Minutes, seconds and tenths.
    package static func clock(_ duration: Duration) -> String {
        let tenths =
            Int(duration.components.seconds) * 10
            + Int(duration.components.attoseconds / 100_000_000_000_000_000)
        let seconds = tenths / 10 % 60
        return "\(tenths / 600):\(seconds < 10 ? "0" : "")\(seconds).\(tenths % 10)"
    }
}

/// A bar of the signal's level, with its recent peak.
///
/// Pure. From -60 dBFS, a quiet room, to full scale.
package struct LevelMeter: Equatable, Sendable {
    /// In cells; the largest that fits.
    static let sizes = [24, 12, 6]
    /// How long the peak stays marked.
    private static let hold = Duration.milliseconds(1_500)
    private static let floor: Float = -60
    /// Eighths of a cell, filled from the left.
    private static let eighths = Array(" ▏▎▍▌▋▊▉█")
    /// Eighths of a cell, filled from below.
    private static let steps = Array(" ▁▂▃▄▅▆▇█")

    private var share: Float = 0
    private var held: Float = 0
    private var heldSince: ContinuousClock.Instant?

    package init() {}

    /// In dBFS.
    package mutating func note(decibels: Float, at now: ContinuousClock.Instant) {
        share = min(max((decibels - Self.floor) / -Self.floor, 0), 1)
        let isOver = heldSince.map { now - $0 >= Self.hold } ?? true
        guard share >= held || isOver else { return }
        (held, heldSince) = (share, now)
    }

    /// With the peak as a stroke, between two ends.
    func bar(cells: Int) -> String {
        let filled = Int((share * Float(cells * 8)).rounded())
        var bar = (0..<cells).map { cell in
            Self.eighths[min(max(filled - cell * 8, 0), 8)]
        }
        let peak = min(Int(held * Float(cells)), cells - 1)
        // Where the level is, the peak is too.
        if held > 0, peak * 8 >= filled { bar[peak] = "│" }
        return "▕" + String(bar) + "▏"
    }

    var cell: String {
        String(Self.steps[min(Int(share * Float(Self.steps.count)), Self.steps.count - 1)])
    }
}
