// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore
@testable import RecognitionEndpoint

/// Programs that go wrong: they are replaced, and the recording is heard by another one.
@Suite struct RecogniserFaultTests {
    private static let body = (0..<60_000).map {
        UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13)
    }

    private func withPool(
        _ ear: TestEar, count: Int = 1, _ body: (RecogniserPool) async throws -> Void
    ) async throws {
        let pool = RecogniserPool(ear.recogniser, maximumCount: count)
        try await pool.warmUp()
        try await body(pool)
        await pool.stop()
        #expect(pool.threadCount == 0)
    }

    private func text(_ event: RecognitionEvents.Event) -> String {
        switch event {
        case .final(let recognition): recognition.text
        case .failed(let failure): "failed: \(failure)"
        default: "\(event)"
        }
    }

    @Test(arguments: [
        "crash", "kill", "hang", "nonsense", "unknown", "long", "closed", "memory", "child",
    ])
    func theRecordingOfAProgramThatGoesWrongIsHeardByAnother(fault: String) async throws {
        var ear = try TestEar(fault)
        if fault == "memory" { ear.recogniser.memoryLimit = 256 << 20 }
        // A program that hangs is told from one that is slow by time alone.
        if fault == "hang" { ear.recogniser.patience = .seconds(2) }
        let used = ear
        try await withPool(used) { pool async throws in
            for _ in 0..<2 {
                #expect(
                    text(try await used.hear(Self.body, with: pool)) == TestEar.text(Self.body))
            }
            #expect(try used.startCount == 2)
        }
    }

    @Test(arguments: [
        ("crash", "it ended with status 3: the last words"),
        ("kill", "signal 9 ended it"),
        ("nonsense", "it writes a line that is not of the protocol: hello"),
        ("long", "it writes a line too long"),
        ("child", "it ended with status 4"),
        ("closed", "it has closed its output"),
    ])
    func aRecordingThatBreaksTwoProgramsFailsWithTheReason(
        fault: String, reason: String
    ) async throws {
        let ear = try TestEar(fault, isLasting: true)
        try await withPool(ear) { pool async throws in
            #expect(
                try await ear.hear(Self.body, with: pool)
                    == .failed(.recogniserFailed(reason: reason)))
            // The next recording has a program of its own.
            #expect(text(try await ear.hear([1, 2], with: pool)) == TestEar.text([1, 2]))
            #expect(try ear.startCount == 3)
        }
    }

    @Test func noRecordingKillsTheProgramsOfOthers() async throws {
        let ear = try TestEar("crash", isLasting: true)
        try await withPool(ear, count: 2) { pool async throws in
            let other = try RecognitionJob(.pcm(.speech, isBigEndian: false))
            #expect(pool.submit(other))
            await other.body.append([1, 2])
            for _ in 0..<3 {
                guard case .failed = try await ear.hear(Self.body, with: pool) else {
                    Issue.record("it has an answer")
                    return
                }
            }
            other.body.finish()
            #expect(text(await other.events.end()) == TestEar.text([1, 2]))
        }
    }

    @Test func aProgramThatIsKilledTwentyTimesCostsNoRecording() async throws {
        let ear = try TestEar()
        try await withPool(ear) { pool async throws in
            for number in 0..<20 {
                try ear.folder.write([], to: "kill")
                let body = Self.body.map { $0 &+ UInt8(number) }
                #expect(text(try await ear.hear(body, with: pool)) == TestEar.text(body))
            }
            #expect(try ear.startCount == 21)
        }
    }

    /// A client would take an endpoint for dead that takes nothing of its body.
    @Test func aBodyIsTakenWholeWhileItsProgramTakesNothingIn() async throws {
        let ear = try TestEar("slow")
        // More than the kernel holds of a connection.
        let body = [UInt8](repeating: 7, count: 16_000_000)
        let answer = try await TestEndpoint.serve {
            $0.recogniser = ear.recogniser
        } _: { client in
            try client.sendHead(
                "/recognize", ["Content-Type: audio/pcm;rate=16000", "Accept: text/plain"])
            for _ in 0..<16 { try client.sendChunk(body.prefix(1_000_000)) }
            try client.sendEnd()
            try ear.folder.write([], to: "go")
            return try client.readAnswer()
        }
        #expect(answer.head.status == 200)
        #expect(answer.body.hasPrefix("16000000 bytes"))
    }

    @Test func whatAProgramComplainsOfWithoutEndHoldsNothingUp() async throws {
        let ear = try TestEar("complaints")
        try await withPool(ear) { pool async throws in
            #expect(text(try await ear.hear(Self.body, with: pool)) == TestEar.text(Self.body))
            #expect(try ear.startCount == 1)
        }
    }

    @Test func anErrorOfAProgramIsAboutTheRecording() async throws {
        let ear = try TestEar("error")
        try await withPool(ear) { pool async throws in
            #expect(
                try await ear.hear(Self.body, with: pool)
                    == .failed(.recogniserFailed(reason: "no such voice")))
            #expect(text(try await ear.hear([1, 2], with: pool)) == TestEar.text([1, 2]))
            #expect(try ear.startCount == 1)
        }
    }

    @Test func theReasonIsTheClients() async throws {
        let ear = try TestEar("crash", isLasting: true)
        let answer = try await TestEndpoint.answer(
            Self.body, type: "audio/pcm;rate=16000;channels=1"
        ) { $0.recogniser = ear.recogniser }
        #expect(answer.head.status == 500)
        #expect(
            answer.body.contains("the recogniser failed: it ended with status 3: the last words"))
    }

    @Test func aProgramThatCannotStartIsSaidWithItsHint() async throws {
        for (fault, reason, hint) in [
            ("unable", "the model is missing", "fetch it"),
            ("absent", "it ended with status 1: this is why", nil),
        ] {
            let ear = try TestEar(fault)
            let pool = RecogniserPool(ear.recogniser, maximumCount: 1)
            await #expect(
                throws: RecognitionEndpointError.recogniserUnusable(reason: reason, hint: hint)
            ) {
                try await pool.warmUp()
            }
            await pool.stop()
        }
    }

    @Test func anEndpointThatEndsWaitsForNoProgramThatHangs() async throws {
        let ear = try TestEar("hang")
        try await withPool(ear) { pool async throws in
            let job = try RecognitionJob(.pcm(.speech, isBigEndian: false))
            #expect(pool.submit(job))
            await job.body.append([1, 2])
            var event = await job.events.next()
            await job.body.append(Self.body)
            job.body.finish()
            await pool.stop()
            while case .partial = event { event = await job.events.next() }
            #expect(event == .failed(.shuttingDown))
        }
    }
}
