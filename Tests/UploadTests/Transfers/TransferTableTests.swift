// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import LinuxPlatform
@testable import Upload

/// What takes cost the transfer thread, in counts.
@Suite struct TransferTableTests {
    /// Transfers on a table that the test's thread drives.
    private final class Bench {
        let table: TransferTable
        let wakeup: Wakeup
        let bodies: [GrowingBytes]
        let marks: [Mark]
        let recorders: [TransferRecorder]
        var sentByteCount = 0

        init(_ count: Int, to url: String) throws {
            let wakeup = try Wakeup()
            self.wakeup = wakeup
            table = try TransferTable(wokenBy: wakeup)
            bodies = (0..<count).map { _ in GrowingBytes() }
            marks = (0..<count).map { _ in Mark(in: wakeup.marks) }
            recorders = (0..<count).map { _ in TransferRecorder() }
            for index in 0..<count {
                var request = TransferRequest(
                    url: url, headers: [], body: RequestBody(bodies[index]))
                request.growth = marks[index]
                table.obey(
                    .start(
                        TransferCommand.Start(
                            id: TransferID(number: index), request: request,
                            observer: recorders[index], notBefore: .now, due: .now)))
            }
        }

        deinit { table.cancelEverything() }

        /// Each take of `range` says 20 ms, and the thread is woken once for all.
        func speak(_ range: Range<Int>) {
            for index in range {
                bodies[index].append([UInt8](repeating: 1, count: 640))
                marks[index].set()
            }
            wakeup.signal()
            if table.wait(milliseconds: -1) { wakeup.takeBack() }
            _ = table.turn()
        }

        /// Turns until all that was said is sent and nothing is ready; false when it does not come.
        func comesToRest(after byteCount: Int) -> Bool {
            let limit = ContinuousClock.now + .patience
            while ContinuousClock.now < limit {
                let acts = table.actCount
                _ = table.turn()
                _ = table.wait(milliseconds: 10)
                let sent = recorders.map { $0.record.look { $0.sentByteCount } }
                if acts == table.actCount, sent.allSatisfy({ $0 == byteCount }) { return true }
            }
            return false
        }
    }

    @Test(arguments: [1, 10, 300])
    func aTurnCostsTimeForTheTakesThatHaveGrownAlone(count: Int) async throws {
        let server = try RecordingServer()
        let url = server.url()
        try await onOwnThread {
            Result {
                let bench = try Bench(count, to: url)
                bench.speak(0..<count)
                try #require(bench.comesToRest(after: 640))
                let table = bench.table
                var before = (table.actCount, table.lookCount, table.roundCount)
                for _ in 0..<5 { bench.speak(0..<count) }
                // One turn of libcurl sends the bytes, the next hears that there are no more. What is
                // more belongs to rounds, and to timers of libcurl.
                #expect(table.actCount - before.0 >= 10 * count)
                #expect(table.actCount - before.0 <= 11 * count)
                let rounds = table.roundCount - before.2
                #expect(table.lookCount - before.1 <= (5 + rounds) * count)
                try #require(bench.comesToRest(after: 6 * 640))

                before = (table.actCount, table.lookCount, table.roundCount)
                for _ in 0..<50 { bench.speak(0..<1) }
                #expect(table.actCount - before.0 <= 100 + count)
                let more = table.roundCount - before.2
                #expect(table.lookCount - before.1 <= 50 + more * count)
            }
        }.get()
    }

    @Test func withoutTransfersTheWaitEndsWithTheWakeUpAndNoSooner() async throws {
        let (wakeup, isWaiting) = (try Wakeup(), Gate())
        let isSignalled = Observed(false)
        let ends = Observed(0)
        let waiting = try NamedThread(name: "transfer") {
            var worker = TransferWorker(wokenBy: wakeup)
            let pause = worker.turn(isLast: false)
            guard pause == .untilWoken else { return }
            isWaiting.open()
            // libcurl takes no negative time: it would not wait.
            repeat {
                worker.wait(for: wakeup, pause)
                ends.update { $0 += 1 }
            } while !isSignalled.value
        }
        #expect(await isWaiting.wait())
        isSignalled.update { $0 = true }
        wakeup.signal()
        await onOwnThread { waiting.join() }
        #expect(ends.value == 1)
    }
}
