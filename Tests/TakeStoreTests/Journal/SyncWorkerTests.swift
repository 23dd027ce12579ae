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
            var togetherCost = Duration.milliseconds(20)
            var error: Int32?
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
            for file in files {
                file.faults.fileSystem = 1
                file.faults.onSync = { [present] in
                    present.state.withLock {
                        ($0.singles, $0.now) = ($0.singles + 1, $0.now + .milliseconds(2))
                    }
                }
                file.faults.onFileSystemSync = { [present] in
                    present.state.withLock { state in
                        state.together += 1
                        state.now += state.togetherCost
                        return state.error
                    }
                }
            }
        }

        func makeWorker() -> SyncWorker {
            var worker = SyncWorker(now: { [present] in present.state.withLock { $0.now } })
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
        disk.present.state.withLock { $0.error = EIO }
        disk.files[7].faults.syncError = EIO
        var worker = disk.makeWorker()
        #expect(try disk.live(&worker)[1] == 1)
        let failed = disk.journals.indices.filter { disk.journals[$0].condition.failure != nil }
        #expect(failed == [7])
        #expect(disk.journals[7].durableByteCount == 0)
        #expect(disk.journals[8].durableByteCount == 15)
    }

    /// Other programs may have left gigabytes to the same file system.
    @Test func whatOthersHaveLeftToTheDiskIsNotWrittenInEachInterval() throws {
        let disk = try Disk(20, in: folder)
        disk.present.state.withLock { $0.togetherCost = .milliseconds(900) }
        var worker = disk.makeWorker()
        #expect(try disk.live(&worker) == [4 * 20, 1])
        #expect(disk.journals.allSatisfy { $0.durableByteCount == 15 })
    }
}
