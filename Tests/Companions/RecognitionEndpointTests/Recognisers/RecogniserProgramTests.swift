// SPDX-License-Identifier: Apache-2.0

import LinuxPlatform
import TestSupport
import Testing

@testable import AudioCore
@testable import RecognitionEndpoint

/// What a program is given, and what becomes of what it says.
@Suite struct RecogniserProgramTests {
    private func answer(
        of ear: TestEar, _ hints: SpeechHints = SpeechHints(), _ body: [UInt8] = [1, 2]
    ) async throws -> Recognition {
        let pool = RecogniserPool(ear.recogniser, maximumCount: 1)
        let event = try await ear.hear(body, with: pool, hints)
        await pool.stop()
        guard case .final(let recognition) = event else {
            Issue.record("\(event)")
            return Recognition()
        }
        return recognition
    }

    @Test func itHasNothingButItsVariablesAndThreeDescriptorsAndAGroup() async throws {
        var ear = try TestEar("place")
        ear.recogniser.environment = ["PATH=/usr/bin:/bin", "ONE=1"]
        let names = try await answer(of: ear).text.split(separator: " ")
        // The shell and Python add the others; the fourth descriptor would list the folder itself.
        #expect(
            Set(names).subtracting(["PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"])
                == ["PATH", "ONE", "0", "1", "2", "True"])
    }

    @Test func whatTheClientSaysReachesIt() async throws {
        let hints = SpeechHints(language: "en", prompt: "Dear \"Ann\"", words: ["one", "two"])
        let text = try await answer(of: try TestEar("hints"), hints).text
        #expect(
            text == #"{"language": "en", "prompt": "Dear \"Ann\"", "rate": 16000, "#
                + #""words": ["one", "two"]}"#)
    }

    @Test func aQueryIsDecoded() {
        let hints = SpeechHints(
            query: "/recognize?language=en&prompt=Dear+Ann%2C%20%C3%A4%&words=a,b")
        #expect(hints == SpeechHints(language: "en", prompt: "Dear Ann, ä%", words: ["a", "b"]))
        #expect(SpeechHints(query: "/recognize") == SpeechHints())
    }

    @Test func finalTextsAreJoinedAndTimesLieInTheRecording() async throws {
        let body = [UInt8](repeating: 0, count: 32_000)
        let recognition = try await answer(of: try TestEar("finals"), SpeechHints(), body)
        #expect(recognition.text == "one two three")
        #expect(recognition.duration == 1)
        #expect(recognition.words == [RecognisedWord(text: "one", start: 0, end: 1)])
    }

    /// The fields of a form may stand behind its file.
    @Test func whatAFormSaysReachesIt() async throws {
        let ear = try TestEar("hints")
        let field = Array(
            "--x\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\nDear Änn\r\n".utf8)
        let head =
            "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n"
        let file = try Array(head.utf8) + Samples.wav("go-forward") + Array("\r\n".utf8)
        try await TestEndpoint.run {
            $0.recogniser = ear.recogniser
        } _: { port, _ in
            for form in [file + field, field + file] {
                let answer = try await TestEndpoint.post(
                    form + Array("--x--\r\n".utf8), type: "multipart/form-data; boundary=x",
                    to: port)
                #expect(answer.body == "{\"prompt\": \"Dear \\u00c4nn\", \"rate\": 16000}\n")
            }
        }
        #expect(try ear.startCount == 1)
    }

    @Test func whatATerminalObeysIsNoPartOfAText() async throws {
        #expect(try await answer(of: try TestEar("colours")).text == "[31mred 0m")
    }

    private func check(_ recogniser: Recogniser) async throws -> (Bool, [RecogniserCheck.Finding]) {
        try await onThread {
            var findings: [RecogniserCheck.Finding] = []
            let isGood = RecogniserCheck.run(
                recogniser, on: Samples.folder + "/go-forward.wav", wokenBy: try Wakeup(),
                while: { true }
            ) { findings.append($0) }
            return (isGood, findings)
        }
    }

    @Test func theCheckFindsTheProgramOfThisPackageGood() async throws {
        let (isGood, findings) = try await check(TestEndpoint.recogniser())
        #expect(isGood, "\(findings)")
        #expect(findings.count == 6)
        #expect(findings[0].detail == "PocketSphinx: en")
        #expect(findings[1].detail == "go forward ten meters")
    }

    @Test(arguments: [
        ("crash", "it ended with status 3: the last words"),
        ("error", "it says an error: no such voice"),
        ("hasty", "it says a text before it is ready"),
        ("talkative", "it says a text before it is ready"),
        ("finals", "the word 'one' has an impossible time: -1.0 to 1e+99 of 2.78625 s"),
    ])
    func theCheckSaysWhatIsWrong(fault: String, reason: String) async throws {
        let ear = try TestEar(fault, isLasting: true)
        defer { withExtendedLifetime(ear) {} }
        let (_, findings) = try await check(ear.recogniser)
        let isGood = fault == "hasty" ? [false] : [true, false]
        #expect(findings.map(\.isGood) == isGood)
        #expect(findings.last?.detail == reason)
    }
}
