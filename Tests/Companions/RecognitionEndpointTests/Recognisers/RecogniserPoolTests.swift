// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore
@testable import RecognitionEndpoint

/// Waiting for a recogniser that works at another job.
@Suite struct RecogniserPoolTests {
    private func job() throws -> RecognitionJob {
        try RecognitionJob(.pcm(.speech, isBigEndian: false))
    }

    /// Whether an empty body gets its empty text.
    private func hears(_ pool: RecogniserPool) async throws -> Bool {
        let job = try job()
        #expect(pool.submit(job))
        job.body.finish()
        return await job.events.next() == .final(Recognition())
    }

    /// A pool whose only recogniser works at a job.
    private func withBusyPool(
        waiting: Int = 16, _ body: (RecogniserPool, RecognitionJob) async throws -> Void
    ) async throws {
        let pool = RecogniserPool(
            TestEndpoint.soundless, maximumCount: 1, maximumWaitingCount: waiting)
        try await pool.warmUp()
        let job = try job()
        #expect(pool.submit(job))
        try await body(pool, job)
        job.fail(.brokenOff)
        await pool.stop()
        #expect(pool.threadCount == 0)
    }

    @Test func aJobThatWasGivenUpTakesNoRecogniser() async throws {
        let pool = RecogniserPool(TestEndpoint.soundless, maximumCount: 1)
        try await pool.warmUp()
        let gone = try job()
        gone.fail(.brokenOff)
        #expect(pool.submit(gone))
        #expect(pool.busyCount == 0)
        // Each job waits until the program is ready again.
        for _ in 0..<5 { #expect(try await hears(pool)) }
        await pool.stop()
    }

    @Test func thoseWhoWaitGetItInTheOrderInWhichTheyCame() async throws {
        try await withBusyPool { pool, job async throws in
            var jobs: [RecognitionJob] = []
            for _ in 0..<10 {
                let next = try self.job()
                #expect(pool.submit(next))
                #expect(pool.isCrowded)
                jobs.append(next)
            }
            job.fail(.superseded)
            #expect(await job.events.next() == .failed(.superseded))
            for (place, next) in jobs.enumerated() {
                // It has the recogniser once the one before it has its end, and those behind it wait.
                try #require(jobs.map(\.isOver) == jobs.indices.map { $0 <= place })
                next.body.finish()
                #expect(await next.events.next() == .final(Recognition()))
            }
        }
    }

    @Test func afterABurstOneRecogniserIsKept() async throws {
        let pool = RecogniserPool(TestEndpoint.soundless, maximumCount: 3, idleTime: .zero)
        try await pool.warmUp()
        let jobs = try (0..<3).map { _ in try job() }
        for job in jobs { #expect(pool.submit(job)) }
        #expect(pool.threadCount == 3)
        for job in jobs {
            job.body.finish()
            #expect(await job.events.next() == .final(Recognition()))
        }
        let deadline = ContinuousClock.now + .patience
        while pool.threadCount > 1 || pool.busyCount > 0, deadline > .now { await Task.yield() }
        #expect(pool.threadCount == 1)
        #expect(pool.busyCount == 0)
        await pool.stop()
    }

    @Test func aModelThatIsGoneFailsTheJobsUntilItIsBack() async throws {
        let folder = try TemporaryFolder()
        let words = Array("go G OW\nforward F AO R W ER D\n".utf8)
        let grammar = Array("#JSGF V1.0; grammar g; public <a> = go forward;".utf8)
        let model = [
            "-jsgf", try folder.write(grammar, to: "test.gram"),
            "-dict", try folder.write(words, to: "words.dict"),
        ]
        let pool = RecogniserPool(TestEndpoint.recogniser(model), maximumCount: 1)
        #expect(try await hears(pool))
        // The decoder for the next job may be loaded already, but not the one after it.
        try folder.write([], to: "words.dict")
        _ = try await hears(pool)
        #expect(try await !hears(pool))
        #expect(try await !hears(pool))
        try folder.write(words, to: "words.dict")
        _ = try await hears(pool)
        #expect(try await hears(pool))
        await pool.stop()
        #expect(pool.threadCount == 0)
    }

    @Test func onlySoManyWaitAndNoneForAPoolThatIsStopped() async throws {
        try await withBusyPool(waiting: 1) { pool, job async throws in
            let first = try self.job()
            #expect(pool.submit(first))
            #expect(try !pool.submit(self.job()))
            // One that has been given up waits no longer.
            first.fail(.brokenOff)
            #expect(await first.events.next() == .failed(.brokenOff))
            let next = try self.job()
            #expect(pool.submit(next))
            async let stopped: Void = pool.stop()
            #expect(await next.events.next() == .failed(.shuttingDown))
            #expect(try !pool.submit(self.job()))
            job.fail(.brokenOff)
            await stopped
        }
    }
}
