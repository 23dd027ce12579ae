// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture

@Suite struct CapturePhaseTests {
    /// A request, which phases heed it, and what follows each of them where there is a tail.
    struct Request: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let heeding, next: [String]
        let ask: @Sendable (CaptureControl) -> Void
    }

    private static var phases: [CapturePhase] {
        [
            .unopened, .running, .tail, .draining(isForPause: false), .closing(.finished), .paused,
            .ended,
        ]
    }

    private static let unchanged = [
        "unopened", "running", "tail", "draining", "closing: finished", "paused", "ended",
    ]

    private static func name(_ phase: CapturePhase) -> String {
        if case .draining(let isForPause) = phase {
            return isForPause ? "draining for a pause" : "draining"
        }
        if case .closing(let cause) = phase { return "closing: \(cause)" }
        return "\(phase)"
    }

    static let requests = [
        Request(testDescription: "none", heeding: [], next: unchanged) { _ in },
        Request(
            testDescription: "a stop, which a tail has seen already",
            heeding: ["running", "paused"],
            next: ["unopened", "tail"] + unchanged[2...4] + ["closing: finished", "ended"]
        ) { $0.requestStop() },
        Request(
            testDescription: "a stop without tail", heeding: ["running", "tail", "paused"],
            next: ["unopened", "draining", "draining"] + unchanged[3...4]
                + ["closing: finished", "ended"]
        ) { $0.requestStop(keepsTail: false) },
        Request(
            testDescription: "a stop that is taken back", heeding: ["running", "tail", "paused"],
            next: unchanged
        ) {
            $0.requestStop()
            $0.requestResume()
        },
        Request(
            testDescription: "a pause", heeding: ["running"],
            next: ["unopened", "tail"] + unchanged[2...]
        ) { $0.requestPause() },
        Request(
            testDescription: "a stop in a pause", heeding: ["running", "paused"],
            next: ["unopened", "tail"] + unchanged[2...4] + ["closing: finished", "ended"]
        ) {
            $0.requestPause()
            $0.requestStop()
        },
        Request(
            testDescription: "a cancel", heeding: Array(unchanged.dropLast()),
            next: Array(repeating: "closing: cancelled", count: 6) + ["ended"]
        ) {
            $0.requestStop()
            $0.requestCancel()
        },
    ]

    @Test(arguments: requests) func aRequestIsHeededWhereItMatters(_ request: Request) {
        let control = CaptureControl()
        request.ask(control)
        #expect(Self.phases.filter { $0.heeds(control) }.map(Self.name) == request.heeding)
        let next = Self.phases.map { Self.name($0.obeying(control, hasTail: true)) }
        #expect(next == request.next)
    }

    @Test func aStopThatIsTakenBackCanBeAskedForAgain() {
        let control = CaptureControl()
        control.requestStop()
        #expect(Self.name(CapturePhase.running.obeying(control, hasTail: false)) == "draining")
        control.requestResume()
        #expect(
            Self.phases.filter { $0.canResume(control) }.map(Self.name)
                == ["running", "tail", "paused"])
        #expect(control.takeResume())
        #expect(!control.takeResume())
        control.requestStop()
        #expect(Self.name(CapturePhase.running.obeying(control, hasTail: true)) == "tail")
    }

    @Test(arguments: [("draining", false), ("closing: cancelled", true)])
    func whatShallEndAtOnceIsNotTakenBack(_ next: String, cancels: Bool) {
        let control = CaptureControl()
        control.requestStop(keepsTail: cancels)
        if cancels { control.requestCancel() }
        control.requestResume()
        #expect(!CapturePhase.tail.canResume(control))
        #expect(Self.name(CapturePhase.tail.obeying(control, hasTail: true)) == next)
    }
}

@Suite struct CaptureStageMessageTests {
    private static let beforeATake: [(CaptureError, String)] = [
        (.deviceNotFound(device: "hw:9,0"), "no capture device named 'hw:9,0'"),
        (
            .deviceBusy(device: "hw:0,0"),
            "cannot record from 'hw:0,0': another program holds it (EBUSY)"
        ),
        (.permissionDenied(name: "hw:0,0"), "cannot open 'hw:0,0': permission denied"),
        // Nothing of sound cards.
        (.fileForbidden(path: "a.wav"), "cannot open 'a.wav': permission denied"),
        (.formatRefused(device: "hw:0,0", detail: "why"), "cannot record from 'hw:0,0': why"),
        (.deviceUnusable(device: "hw:1,0", reason: "why"), "cannot record from 'hw:1,0': why"),
        (.cannotOpen(name: "a.wav", reason: "No such file"), "cannot open 'a.wav': No such file"),
        (
            .unusableAudio(name: "a.wav", detail: "no data chunk"),
            "'a.wav' is not usable audio: no data chunk"
        ),
        (.foreignAudio(name: "a.mp3", kind: "MP3"), "'a.mp3' is MP3, which utter does not read"),
        (
            .notSound(name: "a.wav", kind: "a web page (HTML)"),
            "'a.wav' is a web page (HTML), and not sound: nothing is sent"
        ),
    ]

    private static let inMidTake: [(CaptureError, String)] = [
        (
            .deviceLost(device: "hw:1,0", frames: 659_200, sampleRate: 16_000),
            "'hw:1,0' disappeared after 41.2 s; everything before that is kept"
        ),
        (.deviceSilent(device: "hw:1,0", seconds: 3), "'hw:1,0' delivered no audio for 3 s"),
        (
            .deviceFailed(device: "hw:1,0", operation: "snd_pcm_readi", reason: "Input error"),
            "recording from 'hw:1,0' failed: snd_pcm_readi: Input error"
        ),
        (
            .readFailed(name: "a.wav", reason: "Input/output error"),
            "reading 'a.wav' failed: Input/output error"
        ),
    ]

    @Test func anErrorSaysWhatHappenedAndWhetherATakeWasInTheMiddle() {
        for (errors, isInMidTake) in [(Self.beforeATake, false), (Self.inMidTake, true)] {
            for (error, description) in errors {
                #expect(error.description == description)
                #expect(error.isLossInMidTake == isInMidTake, "\(error)")
            }
        }
    }

    @Test func gapCausesHaveTheseNames() {
        #expect(Gap.Cause.overrun.rawValue == "overrun")
        #expect(Gap.Cause.ringFull.rawValue == "ring-full")
        #expect(Gap.Cause.damaged.rawValue == "damaged")
    }
}
