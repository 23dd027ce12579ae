// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore
@testable import SpeechService
@testable import Utter
@testable import UtterCommands
@testable import UtterTerminal

/// Whole windows, from the opening of the microphone to the text; nothing is run.
@Suite struct StatusScreenTests {
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

        mutating func hear(_ text: String, _ time: Duration) {
            var transcript = Transcript()
            transcript.apply(Hypothesis(text: text, isFinal: false))
            note(.heard(transcript), time)
        }
    }

    private static func progress(
        _ seconds: Double, sent: Double, peak: Float = 0.25, isComplete: Bool = false,
        isEnding: Bool = false
    ) -> TakeEvent {
        .progress(
            TakeProgress(
                elapsed: .seconds(seconds), level: Level(peak: peak, rootMeanSquare: peak / 5),
                journaledByteCount: Int(seconds * 32_000), bodyByteCount: Int(seconds * 32_000),
                sentByteCount: Int(sent * 32_000), isComplete: isComplete, isEnding: isEnding))
    }

    /// All that a take goes through; returns the window after each step.
    private func scenes(columns: Int, rows: Int = 24) -> [[String]] {
        var window = Window(columns: columns, rows: rows)
        var scenes: [[String]] = []
        window.note(.listening(source: "default", format: .speech), .zero)
        scenes.append(window.screen.lines)
        window.note(.began(after: .milliseconds(30)), .milliseconds(30))
        window.note(Self.progress(1.5, sent: 1.375), .seconds(1))
        scenes.append(window.screen.lines)
        window.hear(Self.words, .seconds(2))
        window.note(
            .interrupted(
                .notDelivered(.cannotConnect("refused"), host: "there"), pause: .seconds(8)),
            .seconds(2))
        scenes.append(window.screen.lines)
        window.note(.connected(attempt: 2), .seconds(3))
        window.note(Self.progress(8, sent: 4), .seconds(8))
        scenes.append(window.screen.lines)
        window.note(Self.progress(9, sent: 9, peak: 0.01, isEnding: true), .seconds(9))
        scenes.append(window.screen.lines)
        window.note(.captured(CaptureEnd(cause: .finished)), .seconds(9))
        window.note(Self.progress(9, sent: 9, isComplete: true), .seconds(9))
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

    @Test func atFortyColumns() {
        let words = [
            "dictate a sentence that is long enough", "for a window of any width, その次は日本",
            "語です, and a family 👨‍👩‍👧 of three",
        ]
        let expected = [
            ["opening"],
            ["speak 0:01.5 \(Self.bar)"],
            ["speak 0:01.5 ▇ offline, next try in 9 s"] + words,
            ["speak 0:08.0 ▕████▊ ▏ behind by 4 s"] + words,
            ["tail 0:09.0 \(Self.tail)"] + words,
            ["waiting 0:02.0"] + words,
            ["the text"],
        ]
        #expect(scenes(columns: 40) == expected.map { ["$ utter"] + $0 })
    }

    @Test(arguments: [80, 200])
    func atEightyAndTwoHundredColumns(_ columns: Int) {
        let words =
            columns == 200
            ? [Self.words]
            : [
                "dictate a sentence that is long enough for a window of any width, その次は日本",
                "語です, and a family 👨‍👩‍👧 of three",
            ]
        let expected = [
            ["opening"],
            ["speak 0:01.5 \(Self.bar) safe"],
            ["speak 0:01.5 \(Self.bar) offline, next try in 9 s"] + words,
            ["speak 0:08.0 \(Self.bar) behind by 4 s"] + words,
            ["tail 0:09.0 \(Self.tail) safe"] + words,
            ["waiting 0:02.0"] + words,
            ["the text"],
        ]
        #expect(scenes(columns: columns) == expected.map { ["$ utter"] + $0 })
    }

    @Test(arguments: [10, 13, 24, 40], [2, 3, 8])
    func theSmallestWindowsHaveTheStateAndTheNewestWords(_ columns: Int, _ rows: Int) {
        let scenes = scenes(columns: columns, rows: rows)
        for (scene, state) in zip(scenes.dropFirst(2), ["speak", "speak", "tail", "waiting"]) {
            #expect(scene.contains { $0.hasPrefix(state) }, "\(scene)")
            #expect(scene.last?.hasSuffix("three") == true, "\(scene)")
            #expect(scene.count <= rows)
        }
        #expect(scenes.last?.last == "the text")
    }

    @Test(arguments: EmulatedScreen.Manner.allCases)
    func aWindowThatIsPulledAboutShowsEachLineOnce(_ manner: EmulatedScreen.Manner) {
        var random = SeededRandom()
        var window = Window(columns: 80, rows: 24)
        window.note(.listening(source: "default", format: .speech), .zero)
        window.note(.began(after: .zero), .zero)
        window.note(Self.progress(3, sent: 3), .zero)
        window.hear(Self.words, .zero)
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

    @Test func aThousandEventsInATenthOfASecondAreDrawnTwice() {
        var (line, schedule) = (StatusLine(isVoice: true), RedrawSchedule())
        var drawn: [[String]] = []
        for number in 0..<1_000 {
            let now = Self.start + .microseconds(100 * number)
            var transcript = Transcript()
            transcript.apply(Hypothesis(text: "number \(number)", isFinal: false))
            line.note(.heard(transcript), at: now)
            schedule.change()
            guard schedule.wait(at: now) == .zero else { continue }
            drawn.append(line.screen.lines(columns: 80, rows: 24, hasColour: false, at: now))
            schedule.draw(at: now, nextChange: line.screen.nextChange)
        }
        #expect(drawn.count == 2)
        // The last is drawn in its turn.
        let last = schedule.wait(at: Self.start + .milliseconds(100))
        #expect(last.map { $0 > .zero && $0 <= RedrawSchedule.interval } == true)
        #expect(
            line.screen.lines(columns: 80, rows: 24, hasColour: false, at: Self.start).last
                == "number 999"
        )
    }
}
