// SPDX-License-Identifier: Apache-2.0

import AudioCore
import Testing

@testable import Utter
@testable import UtterCommands

/// What the status line says for a take and a width; nothing is run.
@Suite struct StatusLineTextTests {
    private static let start = ContinuousClock.now

    /// A voice of five seconds, of which the service lacks so many.
    private static func voice(
        behind: Double = 0, words: String = "", _ events: TakeEvent...
    ) -> StatusLine {
        var line = StatusLine(isVoice: true)
        line.note(.listening(source: "default", format: .speech), at: start)
        line.note(progress(seconds: 5, sent: 5 - behind), at: start)
        line.note(heard(words), at: start)
        for event in events { line.note(event, at: start) }
        return line
    }

    private static func heard(_ words: String) -> TakeEvent {
        var transcript = Transcript()
        transcript.apply(Hypothesis(text: words, isFinal: false))
        return .heard(transcript)
    }

    private static func progress(
        seconds: Double, sent: Double, isComplete: Bool = false
    ) -> TakeEvent {
        .progress(
            TakeProgress(
                elapsed: .seconds(seconds), level: Level(peak: 0.5, rootMeanSquare: 0.1),
                journaledByteCount: 44 + Int(seconds * 32_000),
                bodyByteCount: Int(seconds * 32_000), sentByteCount: Int(sent * 32_000),
                isComplete: isComplete))
    }

    private static let lost = TakeFailure.notDelivered(.cannotConnect("refused"), host: "there")
    private static let offline = TakeEvent.interrupted(lost, pause: .seconds(9))
    private static let unprotected = TakeEvent.noticed(.unprotected(reason: "full"))
    private static let refused = TakeEvent.refused(.tokenRefused(status: 401, message: nil))

    private func text(_ line: StatusLine, _ columns: Int, after: Duration = .zero) -> String {
        line.text(columns: columns, hasColour: false, at: Self.start + after)
    }

    // MARK: - Every width

    static let takes: [(isMarked: Bool, events: [TakeEvent])] = [
        (false, []), (true, [offline]), (true, [unprotected]), (true, [unprotected, offline]),
        (false, [refused]), (true, [refused, unprotected]),
        (false, [.captured(CaptureEnd(cause: .finished))]),
    ]
    static let speeches = [
        "go", "go forward ten meters", "a rather long text that goes on and on for ever and ever",
        "私の声はあなたの声のように聞こえますか", "smiles 😀 and naïve caf\u{65}\u{301}s",
    ]

    @Test(arguments: takes.indices, speeches)
    func theNewestWordsAreThereAtEveryWidth(_ take: Int, _ words: String) throws {
        var line = Self.voice(words: words)
        for event in Self.takes[take].events { line.note(event, at: Self.start) }
        let newest = try #require(words.last)
        for columns in 12...200 {
            let text = text(line, columns)
            #expect(TextWidth.columns(of: text) < columns, "\(columns): \(text)")
            let state = line.phase.rawValue
            #expect(text.hasPrefix(state))
            // Only beside the longest state and a warning has a wide character no room.
            let isTight = columns < 15 && state == "refused"
            #expect(text.last == newest || isTight, "\(columns): \(text)")
            let mark = text.firstMatch(of: /not protected|offline|!/)
            #expect((mark != nil) == Self.takes[take].isMarked || isTight, "\(columns): \(text)")
        }
    }

    @Test func wordsComeBeforeEverythingElse() {
        let line = Self.voice(words: "and not american and not")
        #expect(text(line, 12) == "rec …nd not")
        #expect(text(line, 20) == "rec ▇  …can and not")
        #expect(text(line, 40) == "rec 0:05.0 ▇  and not american and not")
        #expect(text(line, 200) == "rec 0:05.0 ▇  and not american and not")
    }

    @Test func aHealthyTakeShowsNoBytes() {
        for columns in 12...200 { #expect(text(Self.voice(), columns).contains("B") == false) }
        #expect(text(Self.voice(), 80) == "rec 0:05.0 ▇")
    }

    // MARK: - What is not as it should be

    @Test func whatIsMoreThanASecondBehindIsSaid() {
        #expect(text(Self.voice(behind: 0.9), 80) == "rec 0:05.0 ▇")
        #expect(text(Self.voice(behind: 3.5), 80) == "rec 0:05.0 ▇ behind 3 s")
        #expect(
            text(Self.voice(behind: 3.5, words: "go forward"), 28) == "rec behind 3 s  go forward")
        #expect(text(Self.voice(behind: 3.5, words: "go forward"), 18) == "rec !  go forward")
    }

    @Test func whatIsNotProtectedIsMarkedUntilItIsAgain() {
        #expect(text(Self.voice(Self.unprotected), 80) == "rec 0:05.0 ▇ not protected")
        let again = Self.voice(Self.unprotected, .noticed(.protectedAgain))
        #expect(text(again, 80) == "rec 0:05.0 ▇")
    }

    @Test func theNextTryIsCountedDown() {
        let line = Self.voice(words: "go", Self.offline)
        #expect(text(line, 80) == "rec 0:05.0 ▇ offline, next try in 10 s  go")
        #expect(
            text(line, 80, after: .milliseconds(8_500))
                == "rec 0:05.0 ▇ offline, next try in 1 s  go")
        #expect(text(line, 80, after: .seconds(9)) == "rec 0:05.0 ▇ offline, trying again  go")
        #expect(text(line, 21) == "rec offline 10 s  go")
        #expect(line.nextChange != nil)
        let back = Self.voice(words: "go", Self.offline, .connected(attempt: 2))
        #expect(text(back, 80) == "rec 0:05.0 ▇  go")
        #expect(back.nextChange == nil)
    }

    @Test func aServiceThatAsksForAPauseIsBusyNotOffline() {
        let failure = TakeFailure.unavailable(status: 503, message: nil)
        let line = Self.voice(.interrupted(failure, pause: .milliseconds(3_500)))
        #expect(text(line, 80) == "rec 0:05.0 ▇ busy, next try in 4 s")
    }

    // MARK: - Sending and waiting

    @Test func itWaitsOnlyWhenAllIsSent() {
        var line = Self.voice(.captured(CaptureEnd(cause: .finished)))
        #expect(text(line, 80) == "send 0:05.0")
        line.note(Self.progress(seconds: 8, sent: 2, isComplete: true), at: Self.start)
        #expect(text(line, 80) == "send 25%")
        #expect(line.nextChange == nil)
        line.note(Self.progress(seconds: 8, sent: 8, isComplete: true), at: Self.start)
        #expect(text(line, 80, after: .milliseconds(2_100)) == "wait 0:02.1")
        #expect(line.nextChange != nil)
        // Sent again from its start.
        line.note(Self.offline, at: Self.start)
        line.note(.resending(attempt: 2, url: "there"), at: Self.start)
        #expect(text(line, 80) == "send 0% offline, next try in 10 s")
    }

    @Test func aFileOfSeveralSaysWhichItIs() {
        var line = StatusLine(isVoice: false, place: StatusLine.Place(number: 3, count: 50))
        #expect(text(line, 80) == "opening 3 of 50")
        line.note(.listening(source: "a.wav", format: .speech), at: Self.start)
        line.note(Self.progress(seconds: 4, sent: 1), at: Self.start)
        #expect(text(line, 80) == "send 3 of 50 0:04.0")
        line.note(Self.progress(seconds: 8, sent: 2, isComplete: true), at: Self.start)
        line.note(Self.heard("go forward ten"), at: Self.start)
        #expect(text(line, 80) == "send 3 of 50 25%  go forward ten")
        #expect(text(line, 20) == "send go forward ten")
    }

    @Test func aTakeThatIsSentAgainNeedsNoMicrophone() {
        var line = StatusLine(isVoice: false)
        line.note(.connected(attempt: 1), at: Self.start)
        #expect(text(line, 80) == "opening")
        line.note(Self.progress(seconds: 8, sent: 2, isComplete: true), at: Self.start)
        #expect(text(line, 80) == "send 25%")
    }
}
