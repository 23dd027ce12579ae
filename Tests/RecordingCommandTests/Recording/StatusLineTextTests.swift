// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AudioCore
@testable import SpeechService
@testable import Utter
@testable import UtterCommands
@testable import UtterTerminal

/// What the status line says for a take and a window; nothing is run.
@Suite struct StatusLineTextTests {
    private static let start = ContinuousClock.now

    /// A voice of five seconds, of which the service lacks so many.
    static func voice(
        behind: Double = 0, peak: Float = 0.5, words: String = "", _ events: TakeEvent...
    ) -> StatusLine {
        var line = StatusLine(isVoice: true)
        line.note(.listening(source: "default", format: .speech), at: start)
        line.note(.began(after: .milliseconds(20)), at: start)
        line.note(progress(seconds: 5, sent: 5 - behind, peak: peak), at: start)
        line.note(heard(words), at: start)
        for event in events { line.note(event, at: start) }
        return line
    }

    static func heard(_ words: String) -> TakeEvent {
        var transcript = Transcript()
        transcript.apply(Hypothesis(text: words, isFinal: false))
        return .heard(transcript)
    }

    static func progress(
        seconds: Double, sent: Double, peak: Float = 0.5, isComplete: Bool = false,
        isEnding: Bool = false
    ) -> TakeEvent {
        .progress(
            TakeProgress(
                elapsed: .seconds(seconds), level: Level(peak: peak, rootMeanSquare: peak / 5),
                journaledByteCount: 44 + Int(seconds * 32_000),
                bodyByteCount: Int(seconds * 32_000), sentByteCount: Int(sent * 32_000),
                isComplete: isComplete, isEnding: isEnding))
    }

    private static let lost = TakeFailure.notDelivered(.cannotConnect("refused"), host: "there")
    private static let offline = TakeEvent.interrupted(lost, pause: .seconds(9))
    private static let unprotected = TakeEvent.noticed(.unprotected(reason: "full"))
    private static let refused = TakeEvent.refused(.tokenRefused(status: 401, message: nil))
    private static let bar = "▕█████████████████████▋  ▏"

    private func lines(
        _ line: StatusLine, _ columns: Int, rows: Int = 24, after: Duration = .zero
    ) -> [String] {
        line.screen.lines(columns: columns, rows: rows, hasColour: false, at: Self.start + after)
    }

    private func text(_ line: StatusLine, _ columns: Int, after: Duration = .zero) -> String {
        lines(line, columns, after: after)[0]
    }

    // MARK: - Every window

    static let takes: [(isMarked: Bool, events: [TakeEvent])] = [
        (false, []), (true, [offline]), (true, [unprotected]), (true, [unprotected, offline]),
        (false, [refused]), (true, [refused, unprotected]),
        (false, [.captured(CaptureEnd(cause: .finished))]),
    ]
    static let speeches = [
        "go", "go forward ten meters", "a rather long text that goes on and on for ever and ever",
        "私の声はあなたの声のように聞こえますか", "smiles 😀 and naïve caf\u{65}\u{301}s 👨‍👩‍👧‍👦 end",
    ]

    private func line(of take: Int, words: String = "") -> StatusLine {
        var line = Self.voice(words: words)
        for event in Self.takes[take].events { line.note(event, at: Self.start) }
        return line
    }

    @Test(arguments: takes.indices)
    func whatIsNotAsItShouldBeIsMarkedInEveryWindow(_ take: Int) {
        let line = line(of: take)
        for columns in 10...200 {
            let state = text(line, columns)
            #expect(state.hasPrefix(line.phase.rawValue))
            let mark = state.firstMatch(of: /not protected|offline|!/)
            #expect((mark != nil) == Self.takes[take].isMarked, "\(columns): \(state)")
        }
    }

    /// In narrow ones, that is: `ScreenStateTests` has those from 24 columns on.
    @Test(arguments: takes.indices, speeches)
    func theNewestWordsAreThereInEveryWindow(_ take: Int, _ words: String) throws {
        let line = line(of: take, words: words)
        let newest = try #require(words.last)
        for columns in 10...30 {
            for rows in [2, 3, 5, 24] {
                let lines = lines(line, columns, rows: rows)
                #expect(lines.count <= rows)
                #expect(lines.allSatisfy { TextWidth.columns(of: $0) < columns }, "\(lines)")
                #expect(lines[0] == text(line, columns))
                #expect(lines.last?.last == newest, "\(columns): \(lines)")
            }
        }
    }

    @Test func wordsHaveLinesOfTheirOwnAndAtMostHalfOfTheWindow() {
        let words = "a rather long text that goes on and on for ever and ever"
        let line = Self.voice(words: words)
        #expect(lines(line, 80) == ["speak 0:05.0 \(Self.bar) safe", words])
        #expect(
            lines(line, 21) == [
                "speak 0:05.0 █ safe", "a rather long text", "that goes on and on",
                "for ever and ever",
            ])
        #expect(
            lines(line, 21, rows: 5).dropFirst() == ["… goes on and on", "for ever and ever"])
        #expect(lines(line, 21, rows: 2).dropFirst() == ["… for ever and ever"])
        #expect(lines(line, 21, rows: 1).count == 1)
    }

    @Test func linesStayWhereTheyAreWhileWordsAreAdded() {
        var (words, before) = ("", [String]())
        for number in 0..<400 {
            words += " word\(number)"
            let now = lines(Self.voice(words: words), 40, rows: 60).dropFirst()
            // Until the window is full, all lines but the last are those from before.
            guard now.count < 30 else { break }
            #expect(now.starts(with: before.dropLast()))
            before = Array(now)
        }
        #expect(before.count == 29)
    }

    @Test func anHourOfWordsCostsNoMoreThanAFewPages() {
        let words = String(repeating: "go forward ten meters ", count: 20_000)
        let lines = lines(Self.voice(words: words), 80)
        #expect(lines.count == 13)
        #expect(lines[1].hasPrefix("…"))
        #expect(lines.last?.hasSuffix("meters") == true)
    }

    @Test func theMeterTakesTheRoomThatIsLeft() {
        #expect(text(Self.voice(), 40) == "speak 0:05.0 \(Self.bar)")
        #expect(text(Self.voice(), 30) == "speak 0:05.0 ▕██████████▊ ▏")
        #expect(text(Self.voice(), 15) == "speak 0:05.0 █")
        #expect(text(Self.voice(), 13) == "speak 0:05.0")
        #expect(text(Self.voice(), 12) == "speak 0:05")
        #expect(text(Self.voice(), 10) == "speak █")
    }

    // MARK: - What the person may do

    @Test func speakIsSaidAfterTheFirstFrameOnly() {
        var line = StatusLine(isVoice: true)
        #expect(text(line, 80) == "opening")
        line.note(.listening(source: "default", format: .speech), at: Self.start)
        line.note(Self.progress(seconds: 0, sent: 0), at: Self.start)
        #expect(text(line, 80) == "opening")
        line.note(.began(after: .milliseconds(20)), at: Self.start)
        #expect(text(line, 80).hasPrefix("speak 0:00.0 "))
    }

    @Test func theTailIsShownAndTakenBack() {
        var line = Self.voice(Self.progress(seconds: 5, sent: 5, isEnding: true))
        #expect(text(line, 80).hasPrefix("tail 0:05.0 ▕"))
        line.note(Self.progress(seconds: 6, sent: 6), at: Self.start)
        #expect(text(line, 80).hasPrefix("speak 0:06.0 ▕"))
    }

    // MARK: - What is not as it should be

    @Test func whatIsMoreThanASecondBehindIsSaid() {
        #expect(text(Self.voice(behind: 0.9), 80) == "speak 0:05.0 \(Self.bar) safe")
        #expect(text(Self.voice(behind: 3.5), 80) == "speak 0:05.0 \(Self.bar) behind by 3 s")
        #expect(text(Self.voice(behind: 3.5), 26) == "speak 0:05.0 █ behind 3 s")
        #expect(text(Self.voice(behind: 3.5), 18) == "speak 0:05.0 █ !")
        #expect(text(Self.voice(behind: 3.5), 10) == "speak █ !")
    }

    @Test func whatIsNotProtectedIsMarkedUntilItIsAgain() {
        #expect(
            text(Self.voice(Self.unprotected), 80) == "speak 0:05.0 \(Self.bar) not protected")
        let again = Self.voice(Self.unprotected, .noticed(.protectedAgain))
        #expect(text(again, 80) == "speak 0:05.0 \(Self.bar) safe")
    }

    @Test func theSignalIsMissedOnlyWhenTheMicrophoneIsSaidToBeMuted() {
        var line = Self.voice(peak: 0)
        // A pause behind a noise gate.
        #expect(text(line, 80, after: .seconds(20)).hasSuffix("▏ safe"))
        line.note(.signal(.zero), at: Self.start)
        #expect(text(line, 80).hasSuffix("▏ no signal"))
        line.note(.signal(.good), at: Self.start)
        #expect(text(line, 80).hasSuffix("▏ safe"))
    }

    @Test func theNextTryIsCountedDown() {
        let line = Self.voice(Self.offline)
        let state = "speak 0:05.0 \(Self.bar)"
        #expect(text(line, 80) == state + " offline, next try in 10 s")
        #expect(text(line, 80, after: .milliseconds(8_500)) == state + " offline, next try in 1 s")
        #expect(text(line, 80, after: .seconds(9)) == state + " offline, trying again")
        #expect(text(line, 28) == "speak 0:05.0 █ offline 10 s")
        #expect(line.screen.nextChange != nil)
        let back = Self.voice(Self.offline, .connected(attempt: 2))
        #expect(text(back, 80) == state + " safe")
        #expect(back.screen.nextChange == nil)
    }

    @Test func aServiceThatAsksForAPauseIsBusyNotOffline() {
        let failure = TakeFailure.unavailable(status: 503, message: nil)
        let line = Self.voice(.interrupted(failure, pause: .milliseconds(3_500)))
        #expect(text(line, 80) == "speak 0:05.0 \(Self.bar) busy, next try in 4 s")
    }

    // MARK: - Sending and waiting

    @Test func itWaitsOnlyWhenAllIsSent() {
        var line = Self.voice(.captured(CaptureEnd(cause: .finished)))
        #expect(text(line, 80) == "sending 0:05.0")
        line.note(Self.progress(seconds: 8, sent: 2, isComplete: true), at: Self.start)
        #expect(text(line, 80) == "sending 25%")
        #expect(line.screen.nextChange == nil)
        line.note(Self.progress(seconds: 8, sent: 8, isComplete: true), at: Self.start)
        #expect(text(line, 80, after: .milliseconds(2_100)) == "waiting 0:02.1")
        #expect(line.screen.nextChange != nil)
        // Sent again from its start.
        line.note(Self.offline, at: Self.start)
        line.note(.resending(attempt: 2, url: "there"), at: Self.start)
        #expect(text(line, 80) == "sending 0% offline, next try in 10 s")
    }

    @Test func aFileIsCountedInSecondsUntilItsLengthIsKnown() {
        var line = StatusLine(isVoice: false)
        #expect(text(line, 80) == "opening")
        line.note(.listening(source: "a.wav", format: .speech), at: Self.start)
        line.note(Self.progress(seconds: 4, sent: 1), at: Self.start)
        #expect(text(line, 80) == "sending 0:04.0")
        line.note(Self.progress(seconds: 8, sent: 2, isComplete: true), at: Self.start)
        line.note(Self.heard("go forward ten"), at: Self.start)
        #expect(lines(line, 80) == ["sending 25%", "go forward ten"])
        #expect(lines(line, 12) == ["sending 25%", "go forward", "ten"])
    }

    @Test func aTakeThatIsSentAgainNeedsNoMicrophone() {
        var line = StatusLine(isVoice: false)
        line.note(.connected(attempt: 1), at: Self.start)
        #expect(text(line, 80) == "opening")
        line.note(Self.progress(seconds: 8, sent: 2, isComplete: true), at: Self.start)
        #expect(text(line, 80) == "sending 25%")
    }

    @Test(arguments: [
        (Duration.nanoseconds(23_653_057), "23.7 ms"), (.microseconds(40), "0.0 ms"),
        (.microseconds(99_949), "99.9 ms"), (.microseconds(99_951), "100 ms"),
        (.microseconds(1_234_567), "1235 ms"), (.zero, "0.0 ms"),
    ])
    func millisecondsHaveNoMoreDigitsThanMeanSomething(_ time: Duration, _ text: String) {
        #expect(StatusLine.milliseconds(time) == text)
    }
}

/// Which interruptions of a take a person is told of.
@Suite struct OutageTellingTests {
    private static func lost(_ reason: String) -> TakeFailure {
        .notDelivered(.cannotConnect(reason), host: "there")
    }

    @Test func theSameReasonIsSaidOnce() {
        var telling = OutageTelling()
        #expect(telling.interrupted(Self.lost("refused")) == Self.lost("refused").description)
        for _ in 0..<7 { #expect(telling.interrupted(Self.lost("refused")) == nil) }
        #expect(telling.interrupted(Self.lost("unreachable")) != nil)
        #expect(telling.interrupted(Self.lost("refused")) != nil)
    }

    @Test func theReturnOfTheConnectionIsSaidOnce() {
        var telling = OutageTelling()
        // The first connection is none that is back.
        #expect(telling.connected() == false)
        _ = telling.interrupted(Self.lost("refused"))
        #expect(telling.connected() == true)
        #expect(telling.connected() == false)
        // A link that comes and goes for the same reason is no news.
        #expect(telling.interrupted(Self.lost("refused")) == nil)
        #expect(telling.connected() == false)
    }

    @Test func aServiceThatIsBusyWasNeverAway() {
        var telling = OutageTelling()
        let busy = TakeFailure.unavailable(status: 503, message: nil)
        #expect(telling.interrupted(busy) == busy.description)
        #expect(telling.connected() == false)
        #expect(telling.interrupted(busy) == nil)
    }
}
