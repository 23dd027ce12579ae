// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import TakeStore

@Suite struct SyncLoopTests {
    @Test func whatWasWrittenBecomesDurableByItself() throws {
        let scratch = try TemporaryFolder()
        let loop = try SyncLoop()
        defer { loop.shutDown() }
        let journal = Journal(
            file: PlainFile(try scratch.folder().createFile("audio.wav")), path: scratch.path)
        loop.add(journal)
        for round in 1...3 {
            try journal.append([UInt8](repeating: 1, count: 1_000).span)
            // A generous bound for a slow machine; the sync itself needs no signal.
            let limit = ContinuousClock.now + .patience
            while journal.durableByteCount < round * 1_000, .now < limit { sched_yield() }
            #expect(journal.durableByteCount == round * 1_000)
        }
    }

    @Test func theShutDownMakesTheLastBytesDurable() throws {
        let scratch = try TemporaryFolder()
        let folder = try scratch.folder()
        let loop = try SyncLoop()
        let journals = try (0..<50).map { number in
            let journal = Journal(
                file: PlainFile(try folder.createFile("\(number).wav")), path: scratch.path)
            loop.add(journal)
            return journal
        }
        for journal in journals {
            try journal.append([1, 2, 3].span)
            journal.seal()
        }
        loop.shutDown()
        #expect(journals.allSatisfy { $0.durableByteCount == 3 })
    }

    @Test func jobsAreDoneInTheirOrderOnOneThread() throws {
        let done = try Wakeup()
        let order = Mutex<[Int]>([])
        let loop = try SyncLoop()
        defer { loop.shutDown() }
        for number in 0..<1_000 {
            loop.perform {
                order.withLock { $0.append(number) }
                if number == 999 { done.signal() }
            }
        }
        try #require(takeStoreWait(for: done))
        #expect(order.withLock { $0 } == Array(0..<1_000))
    }

    @Test func aJobMayGiveAnotherJob() throws {
        let done = try Wakeup()
        let loop = try SyncLoop()
        defer { loop.shutDown() }
        loop.perform { loop.perform { done.signal() } }
        #expect(takeStoreWait(for: done))
    }

    @Test func hundredsOfJournalsAndJobsTakeTurns() throws {
        let count = 300
        let scratch = try TemporaryFolder()
        let folder = try scratch.folder()
        let (isWaiting, mayBegin, done) = (try Wakeup(), try Wakeup(), try Wakeup())
        let loop = try SyncLoop()
        defer { loop.shutDown() }
        // Everything is there before the first of it is done.
        loop.perform {
            isWaiting.signal()
            _ = takeStoreWait(for: mayBegin)
        }
        try #require(takeStoreWait(for: isWaiting))
        let settled = Mutex<Set<Int>>([])
        let settledAtJob = Mutex<[Int]>([])
        let journals = try (0..<count).map { number in
            let journal = Journal(
                file: PlainFile(try folder.createFile("\(number).wav")), path: scratch.path)
            try journal.append([UInt8](repeating: 1, count: 1_000).span)
            journal.seal()
            loop.add(journal) {
                guard journal.isSettled else { return }
                let isLast = settled.withLock {
                    $0.insert(number)
                    return $0.count == count
                }
                if isLast { done.signal() }
            }
            loop.perform {
                let now = settled.withLock { $0.count }
                settledAtJob.withLock { $0.append(now) }
            }
            return journal
        }
        mayBegin.signal()
        try #require(takeStoreWait(for: done))
        #expect(journals.allSatisfy { $0.durableByteCount == 1_000 })
        // Between two jobs there was one sync: of one journal, or of all together.
        let settledBefore = settledAtJob.withLock { $0 }
        #expect(settledBefore.first == 0)
        #expect(settledBefore.enumerated().allSatisfy { $1 >= $0 })
    }
}
