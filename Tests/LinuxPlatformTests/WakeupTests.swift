// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform

@Suite struct WakeupTests {
    private func isReadable(_ wakeup: Wakeup) -> Bool {
        var descriptor = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) > 0
    }

    @Test func manySignalsCountAsOneAndCostOneWrite() throws {
        let wakeup = try Wakeup()
        for _ in 0..<3 { wakeup.signal() }
        var written: UInt64 = 0
        try #require(read(wakeup.descriptor, &written, 8) == 8)
        #expect(written == 1)
        wakeup.drain()
        #expect(!isReadable(wakeup))
        wakeup.signal()
        #expect(isReadable(wakeup))
    }

    @Test func noSignalIsLost() async throws {
        let wakeup = try Wakeup()
        let count = Counter()
        let threads = try (0..<4).map { _ in
            try NamedThread(name: "signals") {
                for _ in 0..<5_000 {
                    count.value.add(1, ordering: .relaxed)
                    wakeup.signal()
                }
            }
        }
        let seen = await onOwnThread {
            var seen = 0
            while seen < 20_000 {
                var descriptor = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&descriptor, 1, 30_000) > 0 else { break }
                wakeup.drain()
                seen = count.value.load(ordering: .relaxed)
            }
            return seen
        }
        for thread in threads { thread.join() }
        #expect(seen == 20_000)
    }
}

/// What several threads count together.
private final class Counter: Sendable {
    let value = Atomic(0)
}
