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
    private func add(
        _ source: sending any CaptureSource, to loop: CaptureLoop,
        _ ring: ByteRing = ByteRing(minimumCapacity: 1 << 17), tail: Tail = .speech,
        control: CaptureControl = CaptureControl(), account: CaptureAccount = CaptureAccount(),
        closing: Duration = .seconds(1),
        tell: @escaping @Sendable (CaptureEvent) -> Void = { _ in }
    ) {
        loop.add(
            CaptureStage(
                source: source, encoder: WAVEncoder(), producer: ring.takeProducer(),
                plan: CapturePlan(tail: tail), control: control, account: account, tell: tell),
            closing: closing)
    }

    @Test func twoHundredTakesCompleteOnOneThread() async throws {
        let count = 200
        let done = Gate()
        let ended = Mutex<[CaptureEnd]>([])
        let threads = Mutex<Set<pthread_t>>([])
        let loop = try CaptureLoop(onWrite: {})
        defer { loop.shutDown() }
        var consumers: [SharedConsumer] = []
        let accounts = (0..<count).map { _ in CaptureAccount() }
        for account in accounts {
            let ring = ByteRing(minimumCapacity: 1 << 17)
            let steps = [CaptureStageScript.Step](repeating: .frames(320), count: 100)
            consumers.append(SharedConsumer(ring.takeConsumer()))
            add(CaptureStageScript(isLive: false, steps), to: loop, ring, account: account) {
                guard case .ended(let end) = $0 else { return }
                threads.withLock { _ = $0.insert(pthread_self()) }
                let isLast = ended.withLock {
                    $0.append(end)
                    return $0.count == count
                }
                if isLast { done.open() }
            }
        }
        try #require(await done.wait())
        #expect(ended.withLock { $0.allSatisfy { $0.cause == .finished && $0.gaps.isEmpty } })
        #expect(threads.withLock { $0.count } == 1)
        #expect(accounts.allSatisfy { $0.capturedFrames == 32_000 && $0.encodedFrames == 32_000 })
        #expect(consumers.allSatisfy { $0.byteCount() == 64_044 })
    }

    @Test func aReplayThatIsAlwaysDueDoesNotKeepADescriptorFromBeingSeen() async throws {
        let ready = try Wakeup()
        let done = Gate()
        let replayControl = CaptureControl()
        let loop = try CaptureLoop(onWrite: {})
        defer { loop.shutDown() }
        add(
            CaptureStageScript(isLive: false, [.restForEver]), to: loop, control: replayControl)
        add(
            CaptureStageScript(
                isLive: false,
                [.act { ready.signal() }, .descriptor(ready.descriptor), .frames(320)]),
            to: loop
        ) { if case .ended = $0 { done.open() } }
        #expect(await done.wait())
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
        let control = CaptureControl()
        add(
            Microphone(device: card.deviceName), to: loop, ByteRing(minimumCapacity: 1 << 20),
            tail: .none, control: control, closing: .patience
        ) {
            if case .began = $0 { began.open() }
            if case .ended = $0 { cardEnded.open() }
        }
        #expect(await began.wait())
        control.requestStop(keepsTail: false)
        loop.wake()
        #expect(await comesTrue { card.account.closes > 0 })
        #expect(card.account.closes == 1)
        add(CaptureStageScript([.frames(320)]), to: loop) {
            if case .ended = $0 { ended.open() }
        }
        #expect(await ended.wait())
        // The take of the card waits for it, as the next one may want it.
        #expect(!cardEnded.isOpen)
        card.setBlocking(nil)
        #expect(await cardEnded.wait())
        loop.shutDown()
    }

    @Test func theJournalIsToldOfAnEndThatComesWithoutBytes() async throws {
        let (told, finished) = (Gate(), Gate())
        let ring = ByteRing(minimumCapacity: 1 << 14)
        let consumer = SharedConsumer(ring.takeConsumer())
        let loop = try CaptureLoop(onWrite: {
            told.open()
            if consumer.isFinished { finished.open() }
        })
        defer { loop.shutDown() }
        let resume = try Wakeup()
        add(CaptureStageScript([.frames(320), .descriptor(resume.descriptor)]), to: loop, ring)
        try #require(await told.wait())
        resume.signal()
        #expect(await finished.wait())
    }
}

private final class SharedConsumer: Sendable {
    private let consumer: ByteRing.Consumer
    init(_ consumer: consuming ByteRing.Consumer) { self.consumer = consumer }
    var isFinished: Bool { consumer.isFinished }

    func byteCount() -> Int {
        var bytes: [UInt8] = []
        consumer.takeAll(into: &bytes)
        return bytes.count
    }
}
