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

@Suite struct MarkTests {
    @Test func aMarkIsTakenOnceHoweverOftenItIsSet() {
        let marks = Marks()
        let (first, second) = (Mark(in: marks), Mark(in: marks))
        for mark in [first, second, first] { mark.set() }
        let taken = marks.take()
        #expect(taken.count == 2 && taken[0] === first && taken[1] === second)
        #expect(marks.take().isEmpty)
        first.set()
        #expect(marks.take().count == 1)
    }

    @Test func whatIsDoneBeforeAMarkIsSeenByTheThreadThatTakesIt() async throws {
        let marks = Marks()
        let counts = (0..<4).map { _ in (mark: Mark(in: marks), counter: Counter()) }
        let threads = try counts.map { count in
            try NamedThread(name: "marks") {
                for _ in 0..<20_000 {
                    count.counter.value.add(1, ordering: .relaxed)
                    count.mark.set()
                }
            }
        }
        let seen = await onOwnThread {
            var seen = [Int](repeating: 0, count: 4)
            let limit = ContinuousClock.now + .patience
            while seen != [20_000, 20_000, 20_000, 20_000], .now < limit {
                for mark in marks.take() {
                    let index = counts.firstIndex { $0.mark === mark } ?? 0
                    seen[index] = counts[index].counter.value.load(ordering: .relaxed)
                }
            }
            return seen
        }
        for thread in threads { thread.join() }
        #expect(seen == [20_000, 20_000, 20_000, 20_000])
        #expect(marks.take().isEmpty)
    }
}

/// What several threads count together.
private final class Counter: Sendable {
    let value = Atomic(0)
}
