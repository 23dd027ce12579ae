// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import LinuxPlatform
@testable import Upload

@Suite struct TransferWorkerTests {
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
