// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import LinuxPlatform

@Suite struct ThreadExecutorTests {
    /// An executor on a thread of its own, and the number of that thread.
    private func start() async throws -> (ThreadExecutor, thread: pthread_t) {
        let executor = try ThreadExecutor()
        _ = try NamedThread(name: "executor") { executor.run() }
        return (executor, await Task(executorPreference: executor) { pthread_self() }.value)
    }

    @Test func aTaskAndItsChildrenStayOnTheThread() async throws {
        let (executor, thread) = try await start()
        let threads = await Task(executorPreference: executor) {
            await withTaskGroup(of: pthread_t.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        await Task.yield()
                        return pthread_self()
                    }
                }
                return await group.reduce(into: Set([pthread_self()])) { $0.insert($1) }
            }
        }.value
        #expect(threads == [thread])
    }

    @Test func whatOtherThreadsHandOverIsDoneInOrder() async throws {
        let (executor, _) = try await start()
        let (numbers, source) = AsyncStream<Int>.makeStream()
        let seen = Task(executorPreference: executor) {
            await numbers.reduce(into: []) { $0.append($1) }
        }
        let thread = try NamedThread(name: "source") {
            for number in 0..<10_000 { source.yield(number) }
            source.finish()
        }
        #expect(await seen.value == Array(0..<10_000))
        thread.join()
    }
}

@Suite struct SettlementTests {
    @Test func aDeadlineSettlesWhatNothingElseHasSettled() async {
        let settlement = Settlement<Int>()
        #expect(await settlement.value(by: .now, or: 1) == 1)
        settlement.settle(2)
        #expect(await settlement.value == 1)
    }

    @Test func whatIsSettledBeforeTheDeadlineStays() async {
        let settlement = Settlement<Int>()
        settlement.settle(2)
        #expect(await settlement.value(by: .now - .seconds(1), or: 1) == 2)
        #expect(await settlement.value == 2)
    }

    @Test func oneWhoWaitsHearsBeforeTheDeadline() async {
        let settlement = Settlement<Int>()
        async let value = settlement.value(by: .now + .seconds(3_600), or: 1)
        settlement.settle(2)
        #expect(await value == 2)
    }
}
