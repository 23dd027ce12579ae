// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite("Transcript")
struct TranscriptTests {
    @Test func partialsReplaceAndFinalsStay() {
        var transcript = Transcript()
        transcript.apply(Hypothesis(text: "go", isFinal: false))
        transcript.apply(Hypothesis(text: " go for", isFinal: false))
        #expect(transcript.partial == "go for")
        #expect(transcript.text.isEmpty)
        #expect(transcript.displayText == "go for")
        transcript.apply(Hypothesis(text: "go forward ", isFinal: true))
        transcript.apply(Hypothesis(text: "", isFinal: true))
        transcript.apply(Hypothesis(text: "ten", isFinal: false))
        #expect(transcript.finals == ["go forward"])
        #expect(transcript.displayText == "go forward ten")
        transcript.apply(Hypothesis(text: "ten\n meters", isFinal: true))
        #expect(transcript.text == "go forward ten meters")
        #expect(transcript.partial.isEmpty)
    }

    @Test func controlsInTheTextDoNotReachTheDisplay() {
        var transcript = Transcript()
        transcript.apply(Hypothesis(text: "a\u{1B}[2Jb", isFinal: true))
        #expect(transcript.text == "a\u{1B}[2Jb")
        #expect(transcript.displayText == "ab")
    }

    @Test func onlyWhatIsNewIsTold() {
        var transcript = Transcript()
        let said = [("go", false), ("go", false), ("go", true), ("on", true)]
        let isNew = said.map { transcript.apply(Hypothesis(text: $0, isFinal: $1)) }
        #expect(isNew == [true, false, true, true])
        let again = transcript.apply(Hypothesis(text: "go", isFinal: true, merge: .replace))
        let twice = transcript.apply(Hypothesis(text: "go", isFinal: true, merge: .replace))
        #expect(again && !twice)
    }
}
