// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AudioCore
@testable import LinuxPlatform
@testable import TakeStore

@Suite struct LoopShutDownTests {
    @Test func whatTheRingHoldsAtTheShutDownReachesTheJournal() throws {
        let grown = try Wakeup()
        let ring = ByteRing(minimumCapacity: 4_096)
        let producer = ring.takeProducer()
        let journal = Journal(file: PlainFile(try makeNamelessFile()), path: nil)
        let loop = try JournalLoop(onAppend: {})
        loop.add(
            ring: ring.takeConsumer(), open: { .success(journal) }, onGrowth: { grown.signal() },
            onSeal: { _ in })
        var isStored = producer.write([7].span)
        loop.wake()
        try #require(takeStoreWait(for: grown))
        isStored = producer.write([UInt8](repeating: 7, count: 999).span) && isStored
        loop.shutDown()
        #expect(isStored)
        #expect(journal.byteCount == 1_000)
        #expect(!journal.isSealed)
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
