// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore
@testable import UtterTerminal

/// Every state at every width: what fits is whole, and nothing is wider than the terminal.
@Suite struct ScreenStateTests {
    private static let now = ContinuousClock.now
    private static let widths = 24...200

    private static let words = [
        "", "go", "a rather long text that goes on and on for ever and ever",
        "supercalifragilisticexpialidocious is one word, and longer than a narrow window",
        "私の声はあなたの声のように聞こえますか本当にそうですか",
        "wide 私の声 and narrow日本語mixed words, smiles 😀 and naïve caf\u{65}\u{301}s to the end",
        "a family 👨‍👩‍👧‍👦 and a flag 🇯🇵 and ❤️ and 1️⃣ here", "한국어 목소리 नमस्ते दुनिया Z̸a̸l̸g̸o̸ end",
    ]

    private static func state(
        _ title: String, _ facts: [ScreenState.Fact], dangers: [String] = [],
        _ delay: ScreenState.Delay? = nil, isSafe: Bool = false
    ) -> ScreenState {
        var state = ScreenState(title, .calm, facts: facts)
        (state.dangers, state.delay) = (dangers, delay)
        state.isSafe = isSafe
        return state
    }

    private static var meter: LevelMeter {
        var meter = LevelMeter()
        meter.note(decibels: -12, at: now)
        meter.note(decibels: -30, at: now)
        return meter
    }

    /// What is recorded, sent, awaited, sent in a batch, and listened to.
    private static let states = [
        state("opening", []),
        state("speak", [.text(["0:05.0", "0:05"]), .level(meter)], isSafe: true),
        state("speak", [.text(["59:05.0", "59:05"]), .level(meter)], .behind(seconds: 31)),
        state(
            "speak", [.text(["0:05.0", "0:05"]), .level(meter)],
            dangers: ["no signal", "not protected"],
            .outage(isBusy: false, nextTry: now + .seconds(9))),
        state("tail", [.text(["0:05.0", "0:05"]), .level(meter)], dangers: ["not protected"]),
        state("sending", [.text(["25%"])], .outage(isBusy: true, nextTry: now - .seconds(1))),
        state("waiting", [.since(now - .seconds(75))]),
        state("sending", [.text(["25%"])], .paced(until: now + .seconds(40))),
        state("refused", [.text(["0:05.0", "0:05"]), .level(meter)]),
        state("send", [.share(0.4), .text(["4/10, 1 failed, 9.0× real time", "4/10, 1 failed"])]),
        state("flush", [.share(1), .text(["500/500"])]),
        state("level", [.level(meter), .text(["-96 dBFS"])]),
        state("play", [.text(["1:02.3 / 59:03.4", "1:02.3"])]),
    ]

    private static func isNarrow(_ word: some StringProtocol) -> Bool {
        word.allSatisfy { TextWidth.columns(of: $0) <= 1 }
    }

    /// Each state with a text, and each text on windows of few and many rows: the first line does
    /// not depend on the text, nor the others on the state.
    private static let pages: [(Int, String, Int)] =
        states.indices.map { ($0, words[5], 24) }
        + words.flatMap { text in [2, 3, 24].map { (1, text, $0) } }

    @Test func aServiceIsNamedWhereThereIsRoomBehindAllElse() {
        var state = Self.state("speak", [.text(["0:05.0"])], isSafe: true)
        state.service = "openai"
        let lines = Self.widths.map { columns in
            state.lines(columns: columns, rows: 24, hasColour: false, at: Self.now)[0]
        }
        #expect(zip(lines, Self.widths).allSatisfy { TextWidth.columns(of: $0) < $1 }, "\(lines)")
        #expect(lines.contains { $0.hasSuffix(" safe openai") })
    }

    @Test(arguments: pages)
    func noLineIsWiderThanTheTerminalAndNoWordIsCut(
        _ index: Int, _ words: String, _ rows: Int
    ) {
        for columns in Self.widths {
            var state = Self.states[index]
            state.words = words
            let lines = state.lines(columns: columns, rows: rows, hasColour: false, at: Self.now)
            #expect(lines.count <= rows)
            #expect(lines.allSatisfy { TextWidth.columns(of: $0) < columns }, "\(lines)")
            #expect(lines[0].split(separator: " ").first == state.title[...])
            var screen = EmulatedScreen(columns: columns, rows: 30)
            screen.show(LiveText.drawing(lines))
            #expect(screen.cutCharacters == 0, "\(lines)")
            // The words end where the text ends, and all that is before the end has been cut.
            let shown = lines.dropFirst().joined().filter { $0 != " " && $0 != "…" }
            #expect(words.filter { $0 != " " }.hasSuffix(shown), "\(columns): \(lines)")
            #expect(shown.isEmpty == words.isEmpty, "\(columns): \(lines)")
            let whole = Set(words.split(separator: " "))
            guard whole.allSatisfy({ TextWidth.columns(of: $0) < columns - 1 && Self.isNarrow($0) })
            else { continue }
            let shownWords = lines.dropFirst().joined(separator: " ").replacing("…", with: " ")
            for word in shownWords.split(separator: " ") {
                #expect(whole.contains(word), "\(columns): \(lines)")
            }
        }
    }

    @Test(arguments: states.indices)
    func aPieceOfTheLineIsWholeOrNotThere(_ index: Int) {
        let state = Self.states[index]
        let widest = state.lines(columns: 300, rows: 24, hasColour: false, at: Self.now)[0]
        var forms = Set(widest.replacing("· ", with: " ").split(separator: " ").map(String.init))
        for case .text(let texts) in state.facts {
            forms.formUnion(texts.joined(separator: " ").split(separator: " ").map(String.init))
        }
        forms.formUnion([
            "!", "offline", "behind", "31", "10", "s", "no", "signal", "protected", "busy",
        ])
        for columns in Self.widths {
            let line = state.lines(columns: columns, rows: 24, hasColour: false, at: Self.now)[0]
            // Bars have any size.
            let rest = line.replacing(/▕[^▏]*▏(?=$| )|▕.{6,40}▏/, with: "")
            for word in rest.split(separator: " ") where !"▁▂▃▄▅▆▇█".contains(word) {
                #expect(forms.contains(String(word)), "\(columns): \(line)")
            }
            // Colours take no room.
            let coloured = state.lines(columns: columns, rows: 24, hasColour: true, at: Self.now)
            #expect(coloured[0].replacing(/\u{1B}\[\d+m/, with: "") == line)
        }
    }

    @Test func whatGoesOnIsDrawnWithoutAChange() {
        for state in Self.states {
            let later = state.lines(
                columns: 80, rows: 24, hasColour: false, at: Self.now + .milliseconds(1_100))
            let now = state.lines(columns: 80, rows: 24, hasColour: false, at: Self.now)
            #expect(now == later || state.nextChange != nil)
        }
        #expect(Self.states.filter { $0.nextChange != nil }.count == 4)
    }

    // MARK: - Messages

    private static let messages = [
        "utter: send it again? the service may have it already [y/N]",
        "utter: save the recording (0:03.2) as /home/anna/recording.ogg? [Y/n, or another name]",
        "utter: error: cannot connect to speech.example.org: connection refused; recording goes "
            + "on and is kept, trying again",
        "utter: hint: check language, model and body.content-type; hear it with: utter play 2026; "
            + "send it again with: utter retry 2026",
        "utter: recording stopped after 3.2 s; all sent, waiting for the text",
        "utter: warning: the internationalization of transcriptions is incomprehensible",
        "utter: partial: 私の声はあなたの声のように聞こえますか本当にそうですか and narrow words behind it",
        "utter: cannot read '私の声.wav' of 👨‍👩‍👧‍👦 and caf\u{65}\u{301}s, so it is left out",
    ]

    @Test(arguments: messages)
    func aMessageBreaksAtWordsAtEveryWidth(_ message: String) {
        let commands = message.matches(of: /utter (play|retry) 2026/).map { String($0.0) }
        for columns in Self.widths {
            var screen = EmulatedScreen(columns: columns, rows: 30)
            let folded = TextWidth.folded(message, columns: columns)
            screen.show(folded.replacing("\n", with: "\r\n"))
            // The terminal has the last word on where a line ends.
            let rows = screen.lines.map { " \($0) " }
            for word in message.split(separator: " ")
            where TextWidth.columns(of: word) <= columns && Self.isNarrow(word) {
                #expect(rows.contains { $0.contains(" \(word) ") }, "\(columns): \(rows)")
            }
            for command in commands {
                #expect(rows.contains { $0.contains(command) }, "\(columns): \(rows)")
            }
            #expect(folded.replacing("\n", with: " ") == message)
        }
    }
}

@Suite struct LevelMeterTests {
    private let start = ContinuousClock.now

    private func meter(_ peaks: (Float, Duration)...) -> LevelMeter {
        var meter = LevelMeter()
        for (peak, time) in peaks {
            let level = Level(peak: peak, rootMeanSquare: peak / 3)
            meter.note(decibels: level.peakDecibels, at: start + time)
        }
        return meter
    }

    @Test func itIsFilledFromTheFloorToFullScale() {
        #expect(meter().bar(cells: 4) == "▕    ▏")
        #expect(meter((0, .zero)).bar(cells: 4) == "▕    ▏")
        #expect(meter((1, .zero)).bar(cells: 4) == "▕████▏")
        // -30 dBFS is the middle; where the bar ends, its stroke stands.
        #expect(meter((0.0317, .zero)).bar(cells: 4) == "▕██│ ▏")
        #expect(meter((0.0317, .zero)).cell == "▄")
        #expect(meter((0, .zero)).cell == " ")
        #expect(meter((1, .zero)).cell == "█")
    }

    @Test func theHighestPeakStaysForAMoment() {
        #expect(
            meter((0.5, .zero), (0.0317, .seconds(1))).bar(cells: 12) == "▕██████    │ ▏")
        #expect(
            meter((0.5, .zero), (0.0317, .seconds(2))).bar(cells: 12) == "▕██████│     ▏")
    }
}
