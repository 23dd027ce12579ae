// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore
@testable import AudioDevices
@testable import Capture
@testable import LinuxPlatform

@Suite struct CaptureLoopTests {
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
                    account: account,
                    tell: {
                        guard case .ended(let end) = $0 else { return }
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
                source: CaptureStageScript(isLive: false, [.restForEver]), encoder: WAVEncoder(),
                producer: replayRing.takeProducer(), plan: CapturePlan(), control: replayControl,
                account: CaptureAccount(), tell: { _ in }))
        let ring = ByteRing(minimumCapacity: 1 << 14)
        loop.add(
            CaptureStage(
                source: CaptureStageScript(
                    isLive: false,
                    [.act { ready.signal() }, .descriptor(ready.descriptor), .frames(320)]),
                encoder: WAVEncoder(), producer: ring.takeProducer(), plan: CapturePlan(),
                control: CaptureControl(), account: CaptureAccount(),
                tell: {
                    guard case .ended = $0 else { return }; done.signal()
                }))
        #expect(captureLoopWait(for: done))
        replayControl.requestCancel()
    }

    @Test func anAlarmRingsOnceAndNotBeforeItsTime() async throws {
        let loop = try CaptureLoop(onWrite: {})
        let rings = Observed<[ContinuousClock.Instant]>([])
        let due = ContinuousClock.now + .milliseconds(30)
        for instant in [due, due + .ages, due + .milliseconds(1)] {
            loop.call(at: instant) { rings.update { $0.append(.now) } }
        }
        loop.wake()
        let rung = await rings.wait(within: .patience) { $0.count < 2 ? nil : $0 }
        loop.wake()
        await onOwnThread { loop.shutDown() }
        #expect(rings.value.count == 2)
        #expect(try #require(rung).allSatisfy { $0 >= due })
    }

    /// A take whose card does not return from closing, and one that is recorded meanwhile.
    @Test func aCardThatTakesLongToCloseHoldsUpNoOtherTake() async throws {
        let card = try VirtualMicrophone()
        card.setBlocking(.closing)
        let (began, cardEnded, ended) = (Gate(), Gate(), Gate())
        let loop = try CaptureLoop(onWrite: {})
        let (cardRing, ring) = (
            ByteRing(minimumCapacity: 1 << 20), ByteRing(minimumCapacity: 1 << 17)
        )
        let control = CaptureControl()
        loop.add(
            CaptureStage(
                source: Microphone(device: card.deviceName),
                encoder: WAVEncoder(), producer: cardRing.takeProducer(),
                plan: CapturePlan(tail: .none), control: control, account: CaptureAccount(),
                tell: {
                    if case .began = $0 { began.open() }
                    if case .ended = $0 { cardEnded.open() }
                }), closing: .patience)
        #expect(await began.wait())
        control.requestStop(keepsTail: false)
        loop.wake()
        await onOwnThread {
            let end = MonotonicTime.now + .patience
            while card.account.closes == 0, MonotonicTime.now < end { poll(nil, 0, 1) }
        }
        #expect(card.account.closes == 1)
        loop.add(
            CaptureStage(
                source: CaptureStageScript([.frames(320)]), encoder: WAVEncoder(),
                producer: ring.takeProducer(), plan: CapturePlan(), control: CaptureControl(),
                account: CaptureAccount(), tell: { if case .ended = $0 { ended.open() } }))
        #expect(await ended.wait())
        // The take of the card waits for it, as the next one may want it.
        #expect(!cardEnded.isOpen)
        card.setBlocking(nil)
        #expect(await cardEnded.wait())
        loop.shutDown()
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
                control: CaptureControl(), account: CaptureAccount(), tell: { _ in }))
        try #require(captureLoopWait(for: told))
        resume.signal()
        #expect(captureLoopWait(for: finished))
    }
}

/// Waits until a wake-up was signalled; false when it was not in time.
func captureLoopWait(for wakeup: Wakeup) -> Bool {
    var descriptor = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
    let limit = Int32(Duration.patience.components.seconds) * 1_000
    let count = poll(&descriptor, 1, limit)
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
