// SPDX-License-Identifier: Apache-2.0

import AudioCore
import Glibc
import LinuxPlatform
import Synchronization
import TestSupport
import Testing

@testable import TakeStore

@Suite struct LoopShutDownTests {
    @Test func aJournalLoopThatIsShutDownAtAnyMomentEnds() throws {
        let done = try Wakeup()
        let thread = try NamedThread(name: "test") {
            for round in 0..<2_000 {
                // A loop that cannot start ends as well.
                let loop = try? JournalLoop(onAppend: {})
                // Meets the thread at another place of its first turn each time.
                let moment = ContinuousClock.now + .nanoseconds(round % 2_000 * 50)
                while .now < moment {}
                loop?.shutDown()
            }
            done.signal()
        }
        try #require(takeStoreWait(for: done))
        thread.join()
    }

    @Test func aSyncLoopThatIsShutDownAtAnyMomentEnds() throws {
        let done = try Wakeup()
        let thread = try NamedThread(name: "test") {
            for round in 0..<2_000 {
                // A loop that cannot start ends as well.
                let loop = try? SyncLoop()
                // Meets the thread at another place of its first turn each time.
                let moment = ContinuousClock.now + .nanoseconds(round % 2_000 * 50)
                while .now < moment {}
                loop?.shutDown()
            }
            done.signal()
        }
        try #require(takeStoreWait(for: done))
        thread.join()
    }

    @Test func whatTheRingHoldsAtTheShutDownReachesTheJournal() throws {
        let opened = try Wakeup()
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let journal = Journal(file: try makeNamelessFile(), path: nil)
        let loop = try JournalLoop(onAppend: {})
        loop.add(
            ring: ring.takeConsumer(),
            open: {
                opened.signal()
                return .success(journal)
            }, onGrowth: {}, onSeal: { _ in })
        try #require(takeStoreWait(for: opened))
        let bytes = [UInt8](repeating: 7, count: 1_000)
        let isStored = producer.write(bytes.span)
        loop.shutDown()
        #expect(isStored)
        #expect(journal.byteCount == 1_000)
        #expect(!journal.isSealed)
    }

    @Test func aJobGivenAfterTheShutDownKeepsNothingAlive() throws {
        let loop = try SyncLoop()
        loop.shutDown()
        weak var kept: Wakeup?
        do {
            let wakeup = try Wakeup()
            kept = wakeup
            loop.perform { wakeup.signal() }
        }
        #expect(kept == nil)
    }

    @Test func jobsGivenBeforeTheShutDownAreDone() throws {
        let count = Mutex(0)
        let loop = try SyncLoop()
        for _ in 0..<100 { loop.perform { count.withLock { $0 += 1 } } }
        loop.shutDown()
        #expect(count.withLock { $0 } == 100)
    }
}

/// Waits until a wake-up was signalled; false after a minute.
func takeStoreWait(for wakeup: Wakeup) -> Bool {
    var descriptor = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
    let limit = Int32(Duration.patience.components.seconds) * 1_000
    let count = poll(&descriptor, 1, limit)
    if count == 1 { wakeup.drain() }
    return count == 1
}
