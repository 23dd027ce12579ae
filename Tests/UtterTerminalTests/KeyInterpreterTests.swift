// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UtterTerminal

/// What keys mean, on terminals that report releases and on those that do not.
@Suite struct KeyInterpreterTests {
    private static let start = ContinuousClock.now
    private static let deadline = start + .milliseconds(200)

    /// Tells of bytes, each piece at its time in milliseconds.
    private static func meanings(
        _ interpreter: inout KeyInterpreter, _ pieces: (Int, String)...
    ) -> [KeyInterpreter.Meaning] {
        pieces.flatMap { time, bytes in
            KeyDecoderTests.decode(bytes.utf8).flatMap {
                interpreter.handle($0, at: start + .milliseconds(time))
            }
        }
    }

    private static func asked(_ answer: String) -> KeyInterpreter {
        var interpreter = KeyInterpreter(.space, answerBy: deadline, at: start)
        _ = meanings(&interpreter, (5, answer))
        return interpreter
    }

    private static let kitty = "\u{1B}[?11u\u{1B}[?62c"

    @Test(arguments: [
        ("\u{1B}[?11u\u{1B}[?62c", KeyInterpreter.Reports.releases),
        ("\u{1B}[?15u\u{1B}[?1;2c", .releases),
        ("\u{1B}[?62c", .presses),
        ("\u{1B}[?0u\u{1B}[?62c", .presses),
        ("\u{1B}[?1u\u{1B}[?62c", .presses),
        // Releases, but not of keys that write a character.
        ("\u{1B}[?3u\u{1B}[?62c", .presses),
        ("\u{1B}[?9u\u{1B}[?62c", .presses),
    ]) func theAnswerTellsWhatATerminalReports(
        _ answer: String, _ reports: KeyInterpreter.Reports
    ) {
        #expect(Self.asked(answer).reports == reports)
    }

    @Test func aTerminalThatDoesNotAnswerReportsPresses() {
        var interpreter = KeyInterpreter(.space, answerBy: Self.deadline, at: Self.start)
        #expect(interpreter.deadline == Self.deadline)
        #expect(interpreter.reports == nil)
        #expect(interpreter.time(at: Self.deadline) == [])
        #expect(interpreter.reports == .presses)
        #expect(interpreter.deadline == nil)
    }

    @Test func whatIsTypedBeforeTheAnswerIsNotMeant() {
        var interpreter = KeyInterpreter(.space, answerBy: Self.deadline, at: Self.start)
        #expect(Self.meanings(&interpreter, (2, " \rq\u{4}\u{1B}[27u"), (5, Self.kitty)) == [])
        #expect(interpreter.reports == .releases)
    }

    @Test func holdingTheKeyIsOnePressAndOneRelease() {
        var interpreter = Self.asked(Self.kitty)
        let meanings = Self.meanings(
            &interpreter, (1_000, "\u{1B}[32u"), (1_500, "\u{1B}[32;1:2u"),
            (1_530, "\u{1B}[32;1:2u"), (3_000, "\u{1B}[32;1:3u"))
        #expect(meanings == [.down, .up])
    }

    @Test func aHeldPPausesOnceWhereNoReleaseIsReported() {
        var interpreter = Self.asked("\u{1B}[?62c")
        let pieces = Self.meanings(
            &interpreter, (1_000, "p"), (1_500, "p"), (1_530, "p"), (9_000, "p"))
        #expect(pieces == [.pause, .pause])
    }

    /// What is typed on a terminal, and what each piece means.
    struct Story: Sendable, CustomTestStringConvertible {
        typealias Piece = (time: Int, bytes: String, meanings: [KeyInterpreter.Meaning])
        let testDescription: String
        /// What the terminal answers; nil while it has not answered.
        let answer: String?
        let key: String
        let pieces: [Piece]

        init(_ name: String, _ answer: String?, key: String = "space", _ pieces: Piece...) {
            (testDescription, self.answer, self.key, self.pieces) = (name, answer, key, pieces)
        }
    }

    private static let presses = "\u{1B}[?62c"
    private static let stories: [Story] = [
        Story(
            "two taps in a row", kitty, (1_000, "\u{1B}[32u", [.down]),
            (1_080, "\u{1B}[32;1:3u", [.up]), (1_200, "\u{1B}[32u", [.down]),
            (1_290, "\u{1B}[32;1:3u", [.up])),
        // Ctrl and Space together are another program's.
        Story(
            "a release counts whatever else is down", kitty, (1_000, "\u{1B}[32;129u", [.down]),
            (2_000, "\u{1B}[32;133:3u", [.up]), (3_000, "\u{1B}[32;5u", [])),
        Story(
            "other keys, as codes", kitty, (1_000, "\u{1B}[27u", [.dismiss]),
            (1_001, "\u{1B}[113u", [.quit]), (1_002, "\u{1B}[100;5u", [.end]),
            (1_003, "\u{1B}[99;5u\u{1B}[122;5u", [.signal(.interrupt), .signal(.suspend)]),
            (1_003, "\u{1B}[92;5u", [.signal(.quit)]), (1_004, "\u{1B}[120u", []),
            (1_005, "\u{1B}[1089::99;5u", [.signal(.interrupt)])),
        Story(
            "other keys, as bytes", presses, (1_000, "\u{1B}\u{1B}[A", [.dismiss]),
            (1_001, "q", [.quit]), (1_001, "p", [.pause]), (1_002, "\u{4}", [.end]),
            (1_003, "\u{3}\u{1A}", [.signal(.interrupt), .signal(.suspend)]),
            (1_003, "\u{1C}", [.signal(.quit)]), (1_004, "x", [])),
        Story("a signal before the answer", nil, (2, "\u{1B}[99;5u", [.signal(.interrupt)])),
        Story(
            "Enter ends a recording and begins none", kitty, (900, "\u{1B}[13;1:3u", []),
            (1_000, "\u{1B}[13u", [.finish])),
        Story("a focus, with releases", kitty, (1_000, "\u{1B}[O\u{1B}[I", [.focusLost])),
        Story("a focus, without", presses, (1_000, "\u{1B}[O\u{1B}[I", [])),
        Story("a paste", presses, (1_000, "\u{1B}[200~one two\rq\u{4}\u{1B}[201~", [])),
        Story(
            "a held key, without releases", presses, (1_000, " ", [.press]), (1_500, " ", []),
            (1_530, " ", []), (1_560, " ", []), (3_000, " ", [.press])),
        // 57453 is AltGr of a German layout.
        Story(
            "a lone modifier", kitty, key: "right-alt", (1_000, "\u{1B}[57449;3u", [.down]),
            (2_000, "\u{1B}[57449;1:3u", [.up]), (3_000, "\u{1B}[57453u", [.down]),
            (4_000, "\u{1B}[57453;1:3u", [.up]), (5_000, "\u{1B}[32u\u{1B}[57443;3u", [])),
        Story(
            "Space for a modifier that is not reported", presses, key: "right-alt",
            (1_000, " ", [.press]), (2_000, "\r", [.press])),
        Story("the letter q as the key", presses, key: "q", (1_000, "q", [.press])),
    ]

    @Test(arguments: stories) func eachPieceMeansWhatItShould(_ story: Story) throws {
        let key = try #require(TalkKey(named: story.key))
        var interpreter = KeyInterpreter(key, answerBy: Self.deadline, at: Self.start)
        if let answer = story.answer { _ = Self.meanings(&interpreter, (5, answer)) }
        for piece in story.pieces {
            let meanings = Self.meanings(&interpreter, (piece.time, piece.bytes))
            #expect(meanings == piece.meanings, "at \(piece.time)")
        }
    }

    @Test func anAnswerThatComesTooLateStillSaysWhatARepeatIs() {
        var interpreter = KeyInterpreter(.space, answerBy: Self.deadline, at: Self.start)
        _ = interpreter.time(at: Self.deadline)
        let meanings = Self.meanings(
            &interpreter, (400, Self.kitty), (1_000, "\u{1B}[32u"), (1_080, "\u{1B}[32;1:3u"),
            (1_200, "\u{1B}[32u"), (1_700, "\u{1B}[32;1:2u"))
        #expect(interpreter.reports == .presses)
        #expect(meanings == [.press, .press])
    }

    @Test func theEnterThatIsPressedSoonAfterTheBeginCountsWhenItsTimeHasCome() {
        var interpreter = KeyInterpreter(.space, answerBy: nil, at: Self.start)
        #expect(interpreter.reports == .presses)
        #expect(Self.meanings(&interpreter, (400, "\r")) == [])
        #expect(interpreter.deadline == Self.start + .milliseconds(550))
        #expect(interpreter.time(at: Self.start + .milliseconds(550)) == [.press])
    }
}

@Suite struct TalkKeyTests {
    @Test(arguments: [
        ("space", KeyCode.space), ("Enter", .enter), ("f1", .function(1)), ("F24", .function(24)),
        ("x", KeyCode("x")), ("X", KeyCode("x")), ("ö", KeyCode("ö")), ("7", KeyCode("7")),
        ("right-alt", .rightAlt), ("right-ctrl", .rightControl), ("right-control", .rightControl),
        ("scroll-lock", .scrollLock), ("pause", .pause), ("page-up", .pageUp),
    ]) func aNameStandsForAKey(_ name: String, _ code: KeyCode) {
        #expect(TalkKey(named: name)?.codes.first == code)
    }

    /// Escape cancels, whatever else is chosen.
    @Test(arguments: ["", " ", "f0", "f25", "fn", "escape", "spacebar", "ctrl-x", "\u{1B}", "\t"])
    func whatIsNoKeyHasNoName(_ name: String) {
        #expect(TalkKey(named: name) == nil)
    }

    @Test(arguments: [
        (true, ["space", "enter", "f12", "f20", "x", "語", "home", "menu"]),
        (false, ["right-alt", "left-shift", "right-ctrl", "scroll-lock", "pause", "f21"]),
    ])
    func mostKeysHaveBytes(_ hasBytes: Bool, _ names: [String]) throws {
        for name in names { #expect(try #require(TalkKey(named: name)).hasBytes == hasBytes) }
    }
}

/// Keys that are held, on terminals that do not say so.
@Suite struct RepeatFilterTests {
    private static let start = ContinuousClock.now

    private static func at(_ milliseconds: Int) -> ContinuousClock.Instant {
        start + .milliseconds(milliseconds)
    }

    /// A keyboard: its delay and its interval, in milliseconds.
    static let keyboards = [(250, 25), (500, 30), (660, 40), (500, 100), (600, 16), (250, 140)]

    @Test(arguments: keyboards) func aKeyThatIsHeldIsPressedOnce(_ delay: Int, _ interval: Int) {
        var filter = RepeatFilter(at: Self.at(0))
        #expect(filter.press(.space, at: Self.at(0)) == .press)
        for index in 0..<200 {
            let time = delay + index * interval
            #expect(filter.press(.space, at: Self.at(time)) == .repetition, "\(time)")
        }
        let end = delay + 199 * interval
        #expect(filter.press(.space, at: Self.at(max(end + 151, 701))) == .press)
    }

    @Test func aKeyThatIsPressedAgainLaterIsPressed() {
        var filter = RepeatFilter(at: Self.at(0))
        #expect(filter.press(.space, at: Self.at(0)) == .press)
        #expect(filter.press(.space, at: Self.at(701)) == .press)
        #expect(filter.press(.space, at: Self.at(1_401)) == .repetition)
        #expect(filter.press(.space, at: Self.at(1_402)) == .repetition)
        #expect(filter.press(.space, at: Self.at(1_553)) == .press)
    }

    @Test func anotherKeyIsAnotherMatter() {
        var filter = RepeatFilter(at: Self.at(0))
        #expect(filter.press(.space, at: Self.at(0)) == .press)
        #expect(filter.press(.enter, at: Self.at(10)) == .press)
        #expect(filter.press(.space, at: Self.at(20)) == .repetition)
    }

    @Test func aKeyThatWentUpIsPressedAgain() {
        var filter = RepeatFilter(at: Self.at(0))
        #expect(filter.press(.space, at: Self.at(0)) == .press)
        filter.release(.space)
        #expect(filter.press(.space, at: Self.at(100)) == .press)
    }

    @Test(arguments: keyboards.filter { $0.1 <= 140 })
    func theEnterThatHasBegunTheProgramMayBeHeld(_ delay: Int, _ interval: Int) {
        // The program begins 40 ms after the press.
        var filter = RepeatFilter(held: .enter, at: Self.at(40))
        let first = filter.press(.enter, at: Self.at(delay))
        #expect(first == .unknown(until: Self.at(delay + 150)))
        for index in 1..<50 {
            let now = Self.at(delay + index * interval)
            #expect(filter.due(at: now) == nil)
            #expect(filter.press(.enter, at: now) == .repetition)
        }
        #expect(filter.deadline == nil)
        #expect(filter.due(at: Self.at(100_000)) == nil)
    }

    @Test func theEnterThatIsPressedAfterThatOneCountsALittleLater() {
        var filter = RepeatFilter(held: .enter, at: Self.at(0))
        #expect(filter.press(.enter, at: Self.at(300)) == .unknown(until: Self.at(450)))
        #expect(filter.deadline == Self.at(450))
        #expect(filter.due(at: Self.at(449)) == nil)
        #expect(filter.due(at: Self.at(450)) == .enter)
        #expect(filter.due(at: Self.at(451)) == nil)
        // From then on it is a key like any other.
        #expect(filter.press(.enter, at: Self.at(460)) == .repetition)
    }

    @Test func anEnterLongAfterThatOneCountsAtOnce() {
        var filter = RepeatFilter(held: .enter, at: Self.at(0))
        #expect(filter.press(.enter, at: Self.at(701)) == .press)
    }
}
