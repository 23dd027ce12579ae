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

    private static func asked(
        _ answer: String, _ key: TalkKey = .space
    ) -> KeyInterpreter {
        var interpreter = KeyInterpreter(key, answerBy: deadline, at: start)
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

    @Test func tappingTwiceInARowIsTwoPressesWhereReleasesAreReported() {
        var interpreter = Self.asked(Self.kitty)
        let meanings = Self.meanings(
            &interpreter, (1_000, "\u{1B}[32u"), (1_080, "\u{1B}[32;1:3u"),
            (1_200, "\u{1B}[32u"), (1_290, "\u{1B}[32;1:3u"))
        #expect(meanings == [.down, .up, .down, .up])
    }

    @Test func aReleaseCountsWhateverElseIsDown() {
        var interpreter = Self.asked(Self.kitty)
        let meanings = Self.meanings(
            &interpreter, (1_000, "\u{1B}[32;129u"), (2_000, "\u{1B}[32;133:3u"))
        #expect(meanings == [.down, .up])
        // Ctrl and Space together are another program's.
        #expect(Self.meanings(&interpreter, (3_000, "\u{1B}[32;5u")) == [])
    }

    @Test func otherKeysMeanTheSameOnBothKindsOfTerminals() {
        var holding = Self.asked(Self.kitty)
        let codes = Self.meanings(
            &holding, (1_000, "\u{1B}[27u"), (1_001, "\u{1B}[113u"), (1_002, "\u{1B}[100;5u"),
            (1_003, "\u{1B}[99;5u\u{1B}[122;5u\u{1B}[92;5u"), (1_004, "\u{1B}[120u"),
            (1_005, "\u{1B}[1089::99;5u"))
        let meant: [KeyInterpreter.Meaning] = [
            .dismiss, .quit, .end, .signal(.interrupt), .signal(.suspend), .signal(.quit),
        ]
        #expect(codes == meant + [.signal(.interrupt)])
        var pressing = Self.asked("\u{1B}[?62c")
        let bytes = Self.meanings(
            &pressing, (1_000, "\u{1B}\u{1B}[A"), (1_001, "q"), (1_002, "\u{4}"),
            (1_003, "\u{3}\u{1A}\u{1C}"), (1_004, "x"))
        #expect(bytes == meant)
    }

    @Test func theSignalsOfKeysCountBeforeTheAnswerToo() {
        var interpreter = KeyInterpreter(.space, answerBy: Self.deadline, at: Self.start)
        #expect(Self.meanings(&interpreter, (2, "\u{1B}[99;5u")) == [.signal(.interrupt)])
    }

    @Test func enterEndsARecordingAndBeginsNoneWhereTheKeyIsHeld() {
        var interpreter = Self.asked(Self.kitty)
        #expect(
            Self.meanings(&interpreter, (900, "\u{1B}[13;1:3u"), (1_000, "\u{1B}[13u"))
                == [.finish])
    }

    @Test func aLostFocusMattersWhereReleasesAreReported() {
        var holding = Self.asked(Self.kitty)
        #expect(Self.meanings(&holding, (1_000, "\u{1B}[O\u{1B}[I")) == [.focusLost])
        var pressing = Self.asked("\u{1B}[?62c")
        #expect(Self.meanings(&pressing, (1_000, "\u{1B}[O\u{1B}[I")) == [])
    }

    @Test func aPasteMeansNothing() {
        var interpreter = Self.asked("\u{1B}[?62c")
        #expect(
            Self.meanings(&interpreter, (1_000, "\u{1B}[200~one two\rq\u{4}\u{1B}[201~")) == [])
    }

    @Test func aHeldKeyIsOnePressWhereReleasesAreNotReported() {
        var interpreter = Self.asked("\u{1B}[?62c")
        #expect(
            Self.meanings(&interpreter, (1_000, " "), (1_500, " "), (1_530, " "), (1_560, " "))
                == [.press])
        #expect(Self.meanings(&interpreter, (3_000, " ")) == [.press])
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

    @Test func aLoneModifierCanBeHeld() throws {
        let key = try #require(TalkKey(named: "right-alt"))
        var interpreter = Self.asked(Self.kitty, key)
        #expect(
            Self.meanings(&interpreter, (1_000, "\u{1B}[57449;3u"), (2_000, "\u{1B}[57449;1:3u"))
                == [.down, .up])
        // AltGr of a German layout.
        #expect(
            Self.meanings(&interpreter, (3_000, "\u{1B}[57453u"), (4_000, "\u{1B}[57453;1:3u"))
                == [.down, .up])
        #expect(Self.meanings(&interpreter, (5_000, "\u{1B}[32u\u{1B}[57443;3u")) == [])
    }

    @Test func whereALoneModifierIsNotReportedSpaceIsPressed() throws {
        let key = try #require(TalkKey(named: "right-alt"))
        var interpreter = Self.asked("\u{1B}[?62c", key)
        #expect(Self.meanings(&interpreter, (1_000, " "), (2_000, "\r")) == [.press, .press])
    }

    @Test func theLetterQTalksWhenItIsTheKey() throws {
        let key = try #require(TalkKey(named: "q"))
        var interpreter = Self.asked("\u{1B}[?62c", key)
        #expect(Self.meanings(&interpreter, (1_000, "q")) == [.press])
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

    @Test(arguments: ["space", "enter", "f12", "f20", "x", "語", "home", "menu"])
    func mostKeysHaveBytes(_ name: String) throws {
        #expect(try #require(TalkKey(named: name)).hasBytes)
    }

    @Test(arguments: ["right-alt", "left-shift", "right-ctrl", "scroll-lock", "pause", "f21"])
    func someKeysHaveNone(_ name: String) throws {
        #expect(try !#require(TalkKey(named: name)).hasBytes)
    }
}
