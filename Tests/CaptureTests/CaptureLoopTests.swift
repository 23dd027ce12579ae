// SPDX-License-Identifier: Apache-2.0

import AudioCodecs
import AudioCore
import Glibc
import LinuxPlatform
import Synchronization
import Testing

@testable import Capture

@Suite struct CaptureLoopTests {
    @Test func aLoopThatIsShutDownAtAnyMomentEnds() throws {
        let done = try Wakeup()
        let thread = try NamedThread(name: "test") {
            for round in 0..<2_000 {
                // A loop that cannot start ends as well.
                let loop = try? CaptureLoop(onWrite: {})
                // Meets the thread at another place of its first turn each time.
                let moment = ContinuousClock.now + .nanoseconds(round % 2_000 * 50)
                while .now < moment {}
                loop?.shutDown()
            }
            done.signal()
        }
        try #require(captureLoopWait(for: done))
        thread.join()
    }

    @Test func twoHundredTakesCompleteOnOneThread() throws {
        let count = 200
        let done = try Wakeup()
        let ended = Mutex<[CaptureEnd]>([])
        let threads = Mutex<Set<pthread_t>>([])
        let loop = try CaptureLoop(onWrite: {})
        defer { loop.shutDown() }
        var consumers = CaptureLoopConsumers()
        let accounts = (0..<count).map { _ in CaptureAccount() }
        for account in accounts {
            let ring = ByteRing(minimumCapacity: 1 << 17)
            let steps = [CaptureStageScript.Step](repeating: .frames(320), count: 100)
            consumers.add(ring.takeConsumer())
            loop.add(
                CaptureStage(
                    source: CaptureStageScript(isLive: false, steps), encoder: WAVEncoder(),
                    producer: ring.takeProducer(), plan: CapturePlan(), control: CaptureControl(),
                    account: account, onOpen: { _ in },
                    onEnd: { end in
                        threads.withLock { _ = $0.insert(pthread_self()) }
                        let isLast = ended.withLock {
                            $0.append(end)
                            return $0.count == count
                        }
                        if isLast { done.signal() }
                    }))
        }
        try #require(captureLoopWait(for: done))
        #expect(ended.withLock { $0.allSatisfy { $0.cause == .finished && $0.gaps.isEmpty } })
        #expect(threads.withLock { $0.count } == 1)
        #expect(accounts.allSatisfy { $0.capturedFrames == 32_000 && $0.encodedFrames == 32_000 })
        #expect(consumers.byteCounts() == Array(repeating: 64_044, count: count))
    }

    @Test func aReplayThatIsAlwaysDueDoesNotKeepADescriptorFromBeingSeen() throws {
        let ready = try Wakeup()
        let done = try Wakeup()
        let replayControl = CaptureControl()
        let loop = try CaptureLoop(onWrite: {})
        defer { loop.shutDown() }
        let replayRing = ByteRing(minimumCapacity: 1 << 14)
        loop.add(
            CaptureStage(
                source: CaptureStageScript([.restForEver]), encoder: WAVEncoder(),
                producer: replayRing.takeProducer(), plan: CapturePlan(), control: replayControl,
                account: CaptureAccount(), onOpen: { _ in }, onEnd: { _ in }))
        let ring = ByteRing(minimumCapacity: 1 << 14)
        loop.add(
            CaptureStage(
                source: CaptureStageScript([
                    .act { ready.signal() }, .descriptor(ready.descriptor), .frames(320),
                ]), encoder: WAVEncoder(), producer: ring.takeProducer(), plan: CapturePlan(),
                control: CaptureControl(), account: CaptureAccount(), onOpen: { _ in },
                onEnd: { _ in done.signal() }))
        #expect(captureLoopWait(for: done))
        replayControl.requestCancel()
    }

    @Test func theJournalIsToldOfAnEndThatComesWithoutBytes() throws {
        let told = try Wakeup()
        let finished = try Wakeup()
        let ring = ByteRing(minimumCapacity: 1 << 14)
        let consumer = CaptureLoopSharedConsumer(ring.takeConsumer())
        let loop = try CaptureLoop(onWrite: {
            told.signal()
            if consumer.isFinished { finished.signal() }
        })
        defer { loop.shutDown() }
        let resume = try Wakeup()
        loop.add(
            CaptureStage(
                source: CaptureStageScript([.frames(320), .descriptor(resume.descriptor)]),
                encoder: WAVEncoder(), producer: ring.takeProducer(), plan: CapturePlan(),
                control: CaptureControl(), account: CaptureAccount(), onOpen: { _ in },
                onEnd: { _ in }))
        try #require(captureLoopWait(for: told))
        resume.signal()
        #expect(captureLoopWait(for: finished))
    }
}

/// Waits until a wake-up was signalled; false after a minute.
func captureLoopWait(for wakeup: Wakeup) -> Bool {
    var descriptor = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
    let count = poll(&descriptor, 1, 60_000)
    if count == 1 { wakeup.drain() }
    return count == 1
}

private struct CaptureLoopConsumers {
    private var all: [CaptureLoopSharedConsumer] = []

    mutating func add(_ consumer: consuming ByteRing.Consumer) {
        all.append(CaptureLoopSharedConsumer(consumer))
    }

    func byteCounts() -> [Int] { all.map { $0.byteCount() } }
}

private final class CaptureLoopSharedConsumer: Sendable {
    private let consumer: ByteRing.Consumer
    init(_ consumer: consuming ByteRing.Consumer) { self.consumer = consumer }
    var isFinished: Bool { consumer.isFinished }

    func byteCount() -> Int {
        var count = 0
        while true {
            let used = consumer.consume { $0.count }
            if used == 0 { return count }
            count += used
        }
    }
}
