// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import Synchronization
import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore
@testable import Capture

/// A live take on the thread of its microphone, and what becomes of it when the driver hangs.
@Suite struct CardThreadTests {
    @Test func framesGapsAndTheEndComeInTheirOrder() async throws {
        let take = try LiveTake(
            ScriptedMicrophone([.frames(1_000), .gap(48), .gap(2), .frames(30_000), .frames(7)]))
        let end = try #require(await take.end())
        #expect(end.cause == .finished)
        #expect(end.gaps == [Gap(cause: .overrun, start: 1_000, frames: 50)])
        var frames = (0..<31_007).map { Int16(truncatingIfNeeded: $0) }
        frames.insert(contentsOf: repeatElement(0, count: 50), at: 1_000)
        #expect(take.samples() == frames)
        #expect(take.source.isClosed.isOpen)
    }

    @Test func anErrorComesBehindTheFramesBeforeIt() async throws {
        let lost = CaptureError.deviceLost(device: "scripted", frames: 9, sampleRate: 16_000)
        let take = try LiveTake(ScriptedMicrophone([.frames(9), .failure(lost)]))
        #expect(await take.end()?.cause == .source(lost))
        #expect(take.samples().count == 9)
        #expect(take.source.isClosed.isOpen)
    }

    @Test func aStopIsAskedForOnTheThreadOfTheSource() async throws {
        let take = try LiveTake(ScriptedMicrophone([.frames(16), .idle]))
        #expect(await take.began.wait())
        take.stop()
        #expect(await take.end()?.cause == .finished)
        #expect(take.samples().count == 16)
        #expect(take.source.threads.count == 1)
        #expect(take.ends.value == 1)
    }

    /// Each call of the driver does not return until the test says so, long after the take's end.
    @Test(arguments: ScriptedMicrophone.Call.allCases)
    func aDriverThatHangsLosesItsTakeAndTouchesNothingOfIt(
        _ call: ScriptedMicrophone.Call
    ) async throws {
        let source = try ScriptedMicrophone([.frames(320), .idle], hangsIn: call)
        let take = try LiveTake(source, patience: .seconds(2), closing: .milliseconds(50))
        #expect(await take.began.wait())
        if call == .stopping || call == .closing { take.stop() }
        #expect(await source.hangs.wait())
        let end = try #require(await take.end())
        #expect(
            end.cause
                == (call == .closing
                    ? .finished : .source(.deviceHangs(device: "scripted", seconds: 2))))
        #expect(await take.ringFinishes())
        #expect(take.samples() == (0..<320).map { Int16($0) })
        #expect(!source.isClosed.isOpen)
        source.goesOn.open()
        #expect(await source.isClosed.wait())
        #expect(take.account.capturedFrames == 320)
        #expect(take.samples().count == 320)
        #expect(take.ends.value == 1)
    }

    @Test func aCancelledTakeDoesNotWaitForADriverThatHangs() async throws {
        let source = try ScriptedMicrophone([.frames(320), .idle], hangsIn: .reading)
        let take = try LiveTake(source, patience: .seconds(3_600), closing: .milliseconds(20))
        #expect(await source.hangs.wait())
        take.control.requestCancel()
        take.loop.wake()
        #expect(await take.end()?.cause == .cancelled)
        source.goesOn.open()
        #expect(await source.isClosed.wait())
    }

    @Test func aDriverThatIsLateIsSaidToDeliverNothingAndGoesOn() async throws {
        let source = try ScriptedMicrophone([.frames(320), .idle], hangsIn: .reading)
        // Absence is said after a fifth of it; the rest is for this test to go on in.
        let take = try LiveTake(source, patience: .seconds(20))
        #expect(await take.signals.wait(for: [.absent]))
        source.add([.frames(320), .idle])
        source.goesOn.open()
        #expect(await take.signals.wait(for: [.absent, .good]))
        take.stop()
        #expect(await take.end()?.cause == .finished)
        #expect(take.samples().count == 640)
    }

    @Test func aLoopThatEndsLeavesNoCardOpen() async throws {
        let take = try LiveTake(ScriptedMicrophone([.frames(320), .idle]))
        #expect(await take.began.wait())
        await onOwnThread { take.loop.shutDown() }
        #expect(await take.source.isClosed.wait())
    }
}

extension Observed where Value == [SignalState] {
    fileprivate func wait(for states: [SignalState]) async -> Bool {
        // Before this is looked at, the silence may have lasted for a second again.
        await wait(within: .patience) { $0.starts(with: states) ? true : nil } ?? false
    }
}

/// A take of a scripted microphone in a capture loop of its own.
final class LiveTake: Sendable {
    let source: ScriptedMicrophone
    let loop: CaptureLoop
    let control = CaptureControl()
    let account = CaptureAccount()
    let (late, opened, began, ended) = (Gate(), Gate(), Gate(), Gate())
    let signals = Observed<[SignalState]>([])
    let ends = Observed(0)
    /// Turns of the loop after which there is something to look for in the ring, its end too.
    private let writes = Observed(0)
    private let told = Observed<CaptureEnd?>(nil)
    private let consumer: ByteRing.Consumer
    private let bytes = Mutex<[UInt8]>([])

    init(
        _ source: ScriptedMicrophone, keptOpenBy preRoll: PreRoll? = nil,
        patience: Duration = .seconds(5), closing: Duration = .seconds(1)
    ) throws {
        self.source = source
        let ring = ByteRing(minimumCapacity: 1 << 17)
        consumer = ring.takeConsumer()
        loop = try CaptureLoop { [writes] in writes.update { $0 += 1 } }
        loop.add(
            CaptureStage(
                source: preRoll ?? source, encoder: WAVEncoder(), producer: ring.takeProducer(),
                plan: CapturePlan(tail: .none), control: control, account: account,
                // Without the take: its end on the loop's own thread would join that.
                tell: { [late, opened, began, signals, told, ends, ended] event in
                    switch event {
                    case .late: late.open()
                    case .opened: opened.open()
                    case .began: began.open()
                    case .signal(let state): signals.update { $0.append(state) }
                    case .ended(let end):
                        told.update { $0 = end }
                        ends.update { $0 += 1 }
                        ended.open()
                    default: break
                    }
                }),
            patience: patience, closing: closing)
    }

    deinit { loop.shutDown() }

    func stop() {
        control.requestStop(keepsTail: false)
        loop.wake()
    }

    func end() async -> CaptureEnd? {
        await ended.wait() ? told.value : nil
    }

    /// Waits for the end of the ring, which follows the news of it.
    func ringFinishes() async -> Bool {
        await writes.wait(within: .patience) { _ in self.consumer.isFinished ? true : nil }
            ?? false
    }

    /// All that has come through the ring, without the header.
    func samples() -> [Int16] {
        bytes.withLock { bytes in
            consumer.takeAll(into: &bytes)
            return pcm(bytes)
        }
    }
}

/// A microphone that does what a test has written down, and counts its frames up.
final class ScriptedMicrophone: KeptSource, Sendable {
    enum Step: Sendable {
        case frames(Int)
        case gap(Int)
        case failure(CaptureError)
        /// Nothing comes until a stop is asked for, or `add` has been called.
        case idle
    }

    enum Call: CaseIterable, Sendable {
        case reading, polling, judging, stopping, closing
    }

    let name = "scripted"
    let isLive = true
    let (idles, hangs, goesOn, isClosed) = (Gate(), Gate(), Gate(), Gate())
    private let hanging: Call?
    private let news: Wakeup
    private let callers = Mutex<Set<pthread_t>>([])
    private let script: Mutex<Script>

    private struct Script {
        var steps: ArraySlice<Step>
        var added: [Step] = []
        var next = 0
        var isStopped = false
    }

    /// The call hangs at its first time after the first frames.
    init(_ steps: [Step], hangsIn call: Call? = nil) throws {
        script = Mutex(Script(steps: steps[...]))
        hanging = call
        news = try Wakeup()
        if call == .judging { news.signal() }
    }

    var threads: Set<pthread_t> { callers.withLock(\.self) }

    func add(_ steps: [Step]) {
        script.withLock { $0.added += steps }
        news.signal()
    }

    private func note(_ call: Call) {
        callers.withLock { _ = $0.insert(pthread_self()) }
        guard call == hanging, script.withLock({ $0.next > 0 }), !hangs.isOpen else { return }
        hangs.open()
        _ = goesOn.waitBlocking()
    }

    func open() throws(CaptureError) -> StreamFormat { .speech }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        note(.reading)
        return try script.withLock { script throws(CaptureError) in
            if !script.added.isEmpty { (script.steps, script.added) = (script.added[...], []) }
            switch script.isStopped ? nil : script.steps.first {
            case .frames(let left):
                let count = min(left, frames.count)
                for index in 0..<count {
                    frames[index] = Int16(truncatingIfNeeded: script.next)
                    script.next += 1
                }
                script.steps.removeFirst()
                if left > count { script.steps = [.frames(left - count)] + script.steps }
                return .frames(count)
            case .gap(let count):
                script.steps.removeFirst()
                return .gap(frames: count)
            case .failure(let error): throw error
            case .idle:
                idles.open()
                return .wait(.forDescriptors)
            case nil: return .end
            }
        }
    }

    func addDescriptors(to events: inout PolledDescriptors) {
        note(.polling)
        events.add(news.descriptor)
    }

    func isReady(_ events: PolledDescriptors) -> Bool {
        note(.judging)
        news.drain()
        return true
    }

    func requestStop() {
        note(.stopping)
        script.withLock { $0.isStopped = true }
    }

    func takeBackStop() { script.withLock { $0.isStopped = false } }

    func close() {
        note(.closing)
        isClosed.open()
    }
}
