// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore
@testable import Utter
@testable import UtterCommands
@testable import UtterTerminal

/// Whole windows, from the opening of the microphone to the text; nothing is run.
@Suite struct StatusScreenTests {
    private typealias Text = StatusLineTextTests

    private static let start = ContinuousClock.now
    private static let words =
        "dictate a sentence that is long enough for a window of any width, その次は日本語です, "
        + "and a family 👨‍👩‍👧 of three"

    private struct Window {
        var screen: EmulatedScreen
        var size: (columns: Int, rows: Int)
        var line = StatusLine(isVoice: true)

        init(columns: Int, rows: Int) {
            (screen, size) = (EmulatedScreen(columns: columns, rows: rows), (columns, rows))
            screen.show("$ utter\r\n")
        }

        mutating func note(_ event: TakeEvent, _ time: Duration) {
            line.note(event, at: start + time)
            draw(time)
        }

        mutating func draw(_ time: Duration) {
            screen.show(
                LiveText.drawing(
                    line.screen.lines(
                        columns: size.columns, rows: size.rows, hasColour: true, at: start + time)))
        }
    }

    /// All that a take goes through; returns the window after each step.
    private func scenes(columns: Int) -> [[String]] {
        var window = Window(columns: columns, rows: 24)
        var scenes: [[String]] = []
        window.note(.listening(source: "default", format: .speech), .zero)
        scenes.append(window.screen.lines)
        window.note(.began(after: .milliseconds(30)), .milliseconds(30))
        window.note(Text.progress(seconds: 1.5, sent: 1.375, peak: 0.25), .seconds(1))
        scenes.append(window.screen.lines)
        window.note(Text.heard(Self.words), .seconds(2))
        window.note(
            .interrupted(
                .notDelivered(.cannotConnect("refused"), host: "there"), pause: .seconds(8)),
            .seconds(2))
        scenes.append(window.screen.lines)
        window.note(.connected(attempt: 2), .seconds(3))
        window.note(Text.progress(seconds: 8, sent: 4, peak: 0.25), .seconds(8))
        scenes.append(window.screen.lines)
        window.note(Text.progress(seconds: 9, sent: 9, peak: 0.01, isEnding: true), .seconds(9))
        scenes.append(window.screen.lines)
        window.note(.captured(CaptureEnd(cause: .finished)), .seconds(9))
        window.note(Text.progress(seconds: 9, sent: 9, peak: 0.25, isComplete: true), .seconds(9))
        window.draw(.seconds(11))
        scenes.append(window.screen.lines)
        window.screen.show(LiveText.erasure() + "the text\r\n")
        scenes.append(window.screen.lines)
        #expect(window.screen.strangeControls.isEmpty)
        #expect(window.screen.cutCharacters == 0)
        return scenes
    }

    private static let bar = "▕███████████████████▏    ▏"
    private static let tail = "▕████████           │    ▏"

    @Test(
        arguments: [
            (
                40,
                [
                    "dictate a sentence that is long enough",
                    "for a window of any width, その次は日本", "語です, and a family 👨‍👩‍👧 of three",
                ]
            ),
            (
                80,
                [
                    "dictate a sentence that is long enough for a window of any width, その次は日本",
                    "語です, and a family 👨‍👩‍👧 of three",
                ]
            ), (200, [words]),
        ] as [(Int, [String])])
    func atAnyWidthAWindowShowsWhereATakeIs(_ columns: Int, _ words: [String]) {
        let isNarrow = columns == 40
        let expected = [
            ["opening"],
            ["speak 0:01.5 \(Self.bar)" + (isNarrow ? "" : " safe")],
            ["speak 0:01.5 \(isNarrow ? "▇" : Self.bar) offline, next try in 9 s"] + words,
            ["speak 0:08.0 \(isNarrow ? "▕████▊ ▏" : Self.bar) behind by 4 s"] + words,
            ["tail 0:09.0 \(Self.tail)" + (isNarrow ? "" : " safe")] + words,
            ["waiting 0:02.0"] + words,
            ["the text"],
        ]
        #expect(scenes(columns: columns) == expected.map { ["$ utter"] + $0 })
    }

    @Test(arguments: EmulatedScreen.Manner.allCases)
    func aWindowThatIsPulledAboutShowsEachLineOnce(_ manner: EmulatedScreen.Manner) {
        var random = SeededRandom()
        var window = Window(columns: 80, rows: 24)
        window.note(.listening(source: "default", format: .speech), .zero)
        window.note(.began(after: .zero), .zero)
        window.note(Text.progress(seconds: 3, sent: 3, peak: 0.25), .zero)
        window.note(Text.heard(Self.words), .zero)
        for _ in 0..<300 {
            // As large as what has been drawn, so that nothing can be pushed out at the top.
            window.size = (Int.random(in: 12...200, using: &random), 40)
            window.screen.resize(
                columns: window.size.columns, rows: window.size.rows, manner)
            window.draw(.zero)
            let lines = window.screen.lines
            #expect(lines.first == "$ utter")
            #expect(lines.filter { $0.hasPrefix("speak") }.count == 1, "\(lines)")
            let shown = lines.dropFirst(2).joined().filter { $0 != " " }
            #expect(shown.hasSuffix("three") && shown.matches(of: /family/).count == 1, "\(lines)")
        }
        window.screen.show(LiveText.erasure())
        #expect(window.screen.lines == ["$ utter"])
    }
}
