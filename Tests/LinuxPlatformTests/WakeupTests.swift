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
        #expect(!isReadable(wakeup))
        for _ in 0..<3 { wakeup.signal() }
        var written: UInt64 = 0
        try #require(read(wakeup.descriptor, &written, 8) == 8)
        #expect(written == 1)
        wakeup.drain()
        #expect(!isReadable(wakeup))
        for _ in 0..<2 { wakeup.signal() }
        #expect(isReadable(wakeup))
        wakeup.drain()
        #expect(!isReadable(wakeup))
    }

    @Test(arguments: [true, false]) func noSignalIsLost(isPolled: Bool) async throws {
        let wakeup = try Wakeup(isPolled: isPolled)
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
            let limit = ContinuousClock.now + .patience
            while seen < 20_000, .now < limit {
                wakeup.wait(.until(limit))
                seen = count.value.load(ordering: .relaxed)
            }
            return seen
        }
        for thread in threads { thread.join() }
        #expect(seen == 20_000)
    }
}

@Suite struct SleepingWakeupTests {
    @Test func aSignalBeforeTheWaitIsNotLostAndAllOfThemAreTakenBack() throws {
        let wakeup = try Wakeup(isPolled: false)
        #expect(wakeup.descriptor == -1)
        for _ in 0..<3 { wakeup.signal() }
        wakeup.wait(.untilWoken)
        // There is none left: the time ends the wait, and the next signal the one after.
        wakeup.wait(.until(.now + .milliseconds(1)))
        wakeup.wait(.until(.now - .seconds(1)))
        wakeup.wait(.goesOn)
        wakeup.signal()
        wakeup.wait(.untilWoken)
    }

    @Test func timeIsRoundedUpForAPollAndAMomentThatIsOverIsNow() {
        #expect(WorkerPause.untilWoken.milliseconds == -1)
        #expect(WorkerPause.goesOn.milliseconds == 0)
        #expect(WorkerPause.until(.now - .seconds(1)).milliseconds == 0)
        let rest = WorkerPause.until(.now + .seconds(3_600)).milliseconds
        #expect((3_500_000...3_600_000).contains(rest))
        #expect(WorkerPause.until(.now + .seconds(1e12)).milliseconds == .max)
    }
}

@Suite struct MarkTests {
    @Test func aMarkIsTakenOnceHoweverOftenItIsSet() {
        let marks = Marks()
        let (first, second, third) = (Mark(in: marks), Mark(in: marks), Mark(in: marks))
        for mark in [first, second, first, third] { mark.set() }
        let taken = marks.taken()
        #expect(
            taken.count == 3 && taken[0] === first && taken[1] === second && taken[2] === third)
        #expect(marks.taken().isEmpty)
        first.set()
        #expect(marks.taken().count == 1)
    }

    @Test func aMarkThatIsSetWhileItIsLookedAtIsTakenNextTime() {
        let marks = Marks()
        let (first, second) = (Mark(in: marks), Mark(in: marks))
        first.set()
        second.set()
        var count = 0
        marks.take { mark in
            count += 1
            mark.set()
        }
        #expect(count == 2)
        let taken = marks.taken()
        #expect(taken.count == 2 && taken[0] === first && taken[1] === second)
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
                for mark in marks.taken() {
                    let index = counts.firstIndex { $0.mark === mark } ?? 0
                    seen[index] = counts[index].counter.value.load(ordering: .relaxed)
                }
            }
            return seen
        }
        for thread in threads { thread.join() }
        #expect(seen == [20_000, 20_000, 20_000, 20_000])
        // A mark that was set after its last count had been seen.
        marks.take()
        #expect(marks.taken().isEmpty)
    }
}

/// What several threads count together.
private final class Counter: Sendable {
    let value = Atomic(0)
}
