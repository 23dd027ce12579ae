// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore
@testable import RecognitionEndpoint

/// Waiting for a recogniser that works at another job.
@Suite struct RecogniserPoolTests {
    /// A pool whose only recogniser works at a job.
    private func withBusyPool(
        _ body: (RecogniserPool, RecognitionJob) async throws -> Void
    ) async throws {
        let pool = RecogniserPool(
            model: try PreparedModel(.grammar(Samples.grammar)), maximumCount: 1)
        let job = try RecognitionJob(.pcm(.speech, isBigEndian: false))
        #expect(try await pool.begin(job))
        try await body(pool, job)
        job.body.fail(.brokenOff)
        await pool.stop()
    }

    @Test func whoWaitsGetsTheRecogniserThatBecomesFree() async throws {
        try await withBusyPool { pool, job in
            let next = try RecognitionJob(.pcm(.speech, isBigEndian: false))
            async let isBegun = pool.begin(next, waitingUpTo: .seconds(3_600))
            job.body.fail(.superseded)
            #expect(try await isBegun)
            next.body.fail(.brokenOff)
            #expect(await next.events.next() == .failed(.brokenOff))
        }
    }

    @Test func severalWhoWaitGetItOneAfterTheOther() async throws {
        try await withBusyPool { pool, job in
            try await withThrowingTaskGroup(of: Bool.self) { tasks in
                for _ in 0..<8 {
                    tasks.addTask {
                        let next = try RecognitionJob(.pcm(.speech, isBigEndian: false))
                        next.body.fail(.superseded)
                        return try await pool.begin(next, waitingUpTo: .seconds(3_600))
                    }
                }
                job.body.fail(.superseded)
                for try await isBegun in tasks { #expect(isBegun) }
            }
        }
    }

    @Test func afterABurstOneRecogniserIsKept() async throws {
        let pool = RecogniserPool(
            model: try PreparedModel(.grammar(Samples.grammar)), maximumCount: 3)
        let jobs = try (0..<3).map { _ in
            try RecognitionJob(.pcm(.speech, isBigEndian: false))
        }
        for job in jobs { #expect(try await pool.begin(job)) }
        #expect(pool.threadCount == 3)
        #expect(pool.busyCount == 3)
        for job in jobs {
            job.body.finish()
            #expect(await job.events.next() == .final(Recognition()))
        }
        #expect(pool.threadCount == 1)
        #expect(pool.busyCount == 0)
        await pool.stop()
    }

    @Test func theNextJobWaitsForTheNextDecoder() async throws {
        let pool = RecogniserPool(
            model: try PreparedModel(.grammar(Samples.grammar)), maximumCount: 1)
        for _ in 0..<5 {
            let job = try RecognitionJob(.pcm(.speech, isBigEndian: false))
            #expect(try await pool.begin(job))
            job.body.finish()
            #expect(await job.events.next() == .final(Recognition()))
        }
        await pool.stop()
    }

    @Test func aModelThatIsGoneFailsTheJobsUntilItIsBack() async throws {
        let folder = try TemporaryFolder()
        let words = Array("go G OW\nforward F AO R W ER D\n".utf8)
        let grammar = Array("#JSGF V1.0; grammar g; public <a> = go forward;".utf8)
        var model = RecognitionModel.grammar(try folder.write(grammar, to: "test.gram"))
        model.dictionaryPath = try folder.write(words, to: "words.dict")
        let pool = RecogniserPool(model: try PreparedModel(model), maximumCount: 1)
        /// Whether an empty body gets its empty text.
        func works() async throws -> Bool {
            let job = try RecognitionJob(.pcm(.speech, isBigEndian: false))
            do {
                #expect(try await pool.begin(job, waitingUpTo: .seconds(3_600)))
            } catch {
                return false
            }
            job.body.finish()
            return await job.events.next() == .final(Recognition())
        }
        #expect(try await works())
        // The decoder for the next job may be loaded already, but not the one after it.
        try folder.write([], to: "words.dict")
        _ = try await works()
        #expect(try await !works())
        #expect(try await !works())
        try folder.write(words, to: "words.dict")
        _ = try await works()
        #expect(try await works())
        await pool.stop()
        #expect(pool.threadCount == 0)
    }

    @Test func theWaitHasAnEnd() async throws {
        try await withBusyPool { pool, _ in
            let next = try RecognitionJob(.pcm(.speech, isBigEndian: false))
            #expect(try await !pool.begin(next))
            #expect(try await !pool.begin(next, waitingUpTo: .milliseconds(20)))
        }
    }

    @Test func aTaskThatIsCancelledWaitsNoLonger() async throws {
        try await withBusyPool { pool, _ in
            let next = try RecognitionJob(.pcm(.speech, isBigEndian: false))
            let waiting = Task { try await pool.begin(next, waitingUpTo: .seconds(3_600)) }
            waiting.cancel()
            #expect(try await !waiting.value)
        }
    }

    @Test func nobodyWaitsForAPoolThatIsStopped() async throws {
        try await withBusyPool { pool, job in
            let next = try RecognitionJob(.pcm(.speech, isBigEndian: false))
            async let isBegun = pool.begin(next, waitingUpTo: .seconds(3_600))
            async let stopped: Void = pool.stop()
            #expect(try await !isBegun)
            job.body.fail(.brokenOff)
            await stopped
        }
    }
}
