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
        let order = Observed([Int]())
        let loop = try SyncLoop()
        defer { loop.shutDown() }
        for number in 0..<1_000 { loop.perform { order.update { $0.append(number) } } }
        let done = order.waitBlocking(within: .patience) { $0.count == 1_000 ? $0 : nil }
        #expect(done == Array(0..<1_000))
    }

    @Test func jobsGivenBeforeTheShutDownAreDone() throws {
        let count = Mutex(0)
        let loop = try SyncLoop()
        for _ in 0..<100 { loop.perform { count.withLock { $0 += 1 } } }
        loop.shutDown()
        #expect(count.withLock { $0 } == 100)
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
        let (isWaiting, mayBegin) = (try Wakeup(), try Wakeup())
        let loop = try SyncLoop()
        defer { loop.shutDown() }
        // Everything is there before the first of it is done.
        loop.perform {
            isWaiting.signal()
            _ = takeStoreWait(for: mayBegin)
        }
        try #require(takeStoreWait(for: isWaiting))
        let settled = Observed(Set<Int>())
        let settledAtJob = Mutex<[Int]>([])
        let journals = try (0..<count).map { number in
            let journal = Journal(
                file: PlainFile(try folder.createFile("\(number).wav")), path: scratch.path)
            try journal.append([UInt8](repeating: 1, count: 1_000).span)
            journal.seal()
            loop.add(journal) {
                if journal.isSettled { settled.update { _ = $0.insert(number) } }
            }
            loop.perform {
                let now = settled.value.count
                settledAtJob.withLock { $0.append(now) }
            }
            return journal
        }
        mayBegin.signal()
        try #require(
            settled.waitBlocking(within: .patience) { $0.count == count ? true : nil } == true)
        #expect(journals.allSatisfy { $0.durableByteCount == 1_000 })
        // Between two jobs there was one sync: of one journal, or of all together.
        let settledBefore = settledAtJob.withLock { $0 }
        #expect(settledBefore.first == 0)
        #expect(settledBefore.enumerated().allSatisfy { $1 >= $0 })
    }
}

/// How often the sync thread asks the disk for hundreds of journals, by a clock of the test's own.
@Suite struct SyncWorkerTests {
    /// A disk on which each sync takes its time, and 200 ms are an interval.
    private final class Disk: Sendable {
        struct State {
            var now = ContinuousClock.now + .seconds(3_600)
            var singles = 0
            var together = 0
            /// What a sync of many fails with for one of them, by its descriptor.
            var errors: [Int32: Int32] = [:]
            /// How many of them the kernel takes at once.
            var room = Int.max
        }

        let present = Observed(State())
        var state: State { present.value }
        let files: [FailingFile]
        let journals: [Journal]

        init(_ count: Int, in folder: Folder) throws {
            files = try (0..<count).map { FailingFile(try folder.createFile("\($0).wav")) }
            journals = files.map { Journal(file: $0, path: "/nowhere") }
            for (number, file) in files.enumerated() {
                file.faults.descriptor = Int32(number)
                file.faults.onSync = { [present] in
                    present.update {
                        ($0.singles, $0.now) = ($0.singles + 1, $0.now + .milliseconds(2))
                    }
                }
            }
        }

        func makeWorker() -> SyncWorker {
            var worker = SyncWorker(
                now: { [present] in present.update { $0.now } },
                syncAll: { [present] descriptors in
                    present.update { state in
                        state.together += 1
                        state.now += .milliseconds(20)
                        return descriptors.prefix(state.room).map { number in
                            state.errors[number].map { SystemError(call: "fdatasync", code: $0) }
                        }
                    }
                })
            for journal in journals {
                worker.receive(.tend(SyncWorker.Entry(journal: journal, onChange: {})))
            }
            return worker
        }

        /// Lets a second pass in which each journal grows in each of five intervals, and one more.
        func live(_ worker: inout SyncWorker) throws -> [Int] {
            for round in 0..<6 {
                for journal in journals where round < 5 { try journal.append([1, 2, 3].span) }
                let end = state.now + .milliseconds(200)
                while state.now < end {
                    switch worker.turn(isLast: false) {
                    case .goesOn: break
                    case .until(let due):
                        present.update { $0.now = max($0.now, min(due, end)) }
                    case .untilWoken: present.update { $0.now = end }
                    }
                }
            }
            return [state.singles, state.together]
        }
    }

    private let scratch: TemporaryFolder
    private let folder: Folder

    init() throws {
        scratch = try TemporaryFolder()
        folder = try scratch.folder()
    }

    @Test func hundredsOfJournalsAreOneSyncInAnInterval() throws {
        let disk = try Disk(300, in: folder)
        var worker = disk.makeWorker()
        #expect(try disk.live(&worker) == [0, 5])
        #expect(disk.journals.allSatisfy { $0.durableByteCount == 15 })
    }

    @Test func aFewJournalsAreSyncedEachByItself() throws {
        let disk = try Disk(SyncWorker.crowd, in: folder)
        var worker = disk.makeWorker()
        #expect(try disk.live(&worker) == [5 * SyncWorker.crowd, 0])
    }

    @Test func theFileThatADiskHasFailedIsToldFromTheOthers() throws {
        let disk = try Disk(20, in: folder)
        disk.present.update { $0.errors[7] = EIO }
        var worker = disk.makeWorker()
        #expect(try disk.live(&worker) == [0, 5])
        let failed = disk.journals.indices.filter { disk.journals[$0].condition.failure != nil }
        #expect(failed == [7])
        #expect(disk.journals[7].durableByteCount == 0)
        #expect(disk.journals[8].durableByteCount == 15)
    }

    /// Other programs may use up what the kernel has for such syncs, or a container forbid them.
    @Test(arguments: [0, 5]) func whatIsNotTakenTogetherIsSyncedByItself(room: Int) throws {
        let disk = try Disk(20, in: folder)
        disk.present.update { $0.room = room }
        var worker = disk.makeWorker()
        #expect(try disk.live(&worker) == [5 * (20 - room), 5])
        #expect(disk.journals.allSatisfy { $0.durableByteCount == 15 })
    }

    @Test func journalsThatBeganAtAnyTimeAreSoonDueTogether() throws {
        let disk = try Disk(30, in: folder)
        var worker = SyncWorker(
            now: { disk.state.now },
            syncAll: { descriptors in
                disk.present.update { $0.together += 1 }
                return descriptors.map { _ in nil }
            })
        let begin = disk.state.now
        for (number, journal) in disk.journals.enumerated() {
            var entry = SyncWorker.Entry(journal: journal, onChange: {})
            entry.dueAt = begin + .milliseconds(number * 7)
            worker.receive(.tend(entry))
        }
        _ = try disk.live(&worker)
        let before = disk.state
        _ = try disk.live(&worker)
        #expect(disk.state.together - before.together == 5)
        #expect(disk.state.singles == before.singles)
    }
}

@Suite struct SyncBatchTests {
    @Test func manyFilesAreSyncedWithTheirOwnErrors() throws {
        let scratch = try TemporaryFolder()
        let folder = try scratch.folder()
        let files = try (0..<300).map { number in
            let file = makePlainFile(try folder.createFile("\(number)"))
            try file.write([1, 2, 3].span, at: 0)
            return file
        }
        let pipe = try makePipe()
        defer { for end in [pipe.reading, pipe.writing] { close(end) } }
        let batch = SyncBatch()
        #expect(batch.sync([]) == [])
        let errors = batch.sync(files.compactMap(\.descriptor))
        // All, unless this system has no such calls.
        #expect([0, 300].contains(errors.count))
        #expect(errors.allSatisfy { $0 == nil })
        // The kernel refuses what cannot be synced, and with it what follows.
        #expect(batch.sync([pipe.writing]).count == 0)
    }
}
