// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import TakeStore

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

        /// A class, since what a file does holds it.
        final class Present: Sendable { let state = Mutex(State()) }

        let present = Present()
        var state: State { present.state.withLock { $0 } }
        let files: [FailingFile]
        let journals: [Journal]

        init(_ count: Int, in folder: Folder) throws {
            files = try (0..<count).map { FailingFile(try folder.createFile("\($0).wav")) }
            journals = files.map { Journal(file: $0, path: "/nowhere") }
            for (number, file) in files.enumerated() {
                file.faults.descriptor = Int32(number)
                file.faults.onSync = { [present] in
                    present.state.withLock {
                        ($0.singles, $0.now) = ($0.singles + 1, $0.now + .milliseconds(2))
                    }
                }
            }
        }

        func makeWorker() -> SyncWorker {
            var worker = SyncWorker(
                now: { [present] in present.state.withLock { $0.now } },
                syncAll: { [present] descriptors in
                    present.state.withLock { state in
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
                        present.state.withLock { $0.now = max($0.now, min(due, end)) }
                    case .untilWoken: present.state.withLock { $0.now = end }
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
        disk.present.state.withLock { $0.errors[7] = EIO }
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
        disk.present.state.withLock { $0.room = room }
        var worker = disk.makeWorker()
        #expect(try disk.live(&worker) == [5 * (20 - room), 5])
        #expect(disk.journals.allSatisfy { $0.durableByteCount == 15 })
    }

    @Test func journalsThatBeganAtAnyTimeAreSoonDueTogether() throws {
        let disk = try Disk(30, in: folder)
        var worker = SyncWorker(
            now: { disk.state.now },
            syncAll: { descriptors in
                disk.present.state.withLock { $0.together += 1 }
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
