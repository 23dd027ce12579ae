// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AudioDevices
@testable import Utter

/// Takes from a sound card with a real-time clock.
@Suite(.serialized) struct TakeMicrophoneTests {
    private func samples(_ bytes: [UInt8]) -> [Int16] {
        (0..<bytes.count / 2).map {
            Int16(truncatingIfNeeded: Int(bytes[2 * $0]) | Int(bytes[2 * $0 + 1]) << 8)
        }
    }

    @Test func aSpokenTakeIsWholeWithItsTail() async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let take = try bench.start(Microphone(device: card.deviceName), to: server.url())
        _ = try #require(await server.wait(untilBytes: 16_000))
        take.stop()
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "heard")
        let heard = samples(try #require(await server.finishedRequest()).body)
        #expect(heard.count >= 8_000)
        #expect(heard == (0..<heard.count).map { VirtualMicrophone.sample(at: $0) })
        #expect(outcome.account.gapFrames == 0)
        #expect(outcome.account.capturedFrames == heard.count)
        #expect(outcome.capture.gaps.isEmpty)
        #expect(card.account.closes == 1)
    }

    @Test(arguments: [VirtualMicrophone.Unplugging.withRing, .afterRing])
    func whatALostMicrophoneHeardIsSent(_ way: VirtualMicrophone.Unplugging) async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let take = try bench.start(Microphone(device: card.deviceName), to: server.url())
        _ = try #require(await server.wait(untilBytes: 16_000))
        card.unplug(way)
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "heard")
        guard case .source(.deviceLost) = outcome.capture.cause else {
            Issue.record("\(outcome.capture.cause)")
            return
        }
        let heard = samples(try #require(await server.finishedRequest()).body)
        #expect(heard.count >= 8_000)
        #expect(heard == (0..<heard.count).map { VirtualMicrophone.sample(at: $0) })
        #expect(outcome.account.encodedFrames == heard.count)
    }

    @Test func anOverrunIsACountedGapInATrueTimeline() async throws {
        // 100 ms of ring, and a reader that is held up for longer.
        let card = try VirtualMicrophone(.withRing(ofFrames: 1_600))
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let late = LateMicrophone(Microphone(device: card.deviceName), by: .milliseconds(500))
        let take = try bench.start(late, to: server.url())
        _ = try #require(await server.wait(untilBytes: 32_000))
        take.stop()
        let outcome = try await take.end()
        let account = outcome.account
        #expect(account.gapFrames > 0)
        #expect(!outcome.capture.gaps.isEmpty)
        #expect(outcome.capture.gaps.allSatisfy { $0.cause == .overrun })
        #expect(outcome.capture.gaps.reduce(0) { $0 + $1.frames } == account.gapFrames)
        #expect(account.capturedFrames + account.gapFrames == account.encodedFrames)
        #expect(account.encodedFrames * 2 + 44 == account.encodedBytes)
        #expect(account.encodedBytes == account.journaledBytes)
        #expect(account.sentBytes == account.journaledBytes - account.bodyOffset)
        let key = "\"\(take.id.text)\""
        let request = try #require(server.requests.first { $0["Idempotency-Key"] == key })
        let heard = samples(request.body)
        #expect(heard.count == account.encodedFrames)
        // Behind every gap stands the frame that was captured there, not earlier or later.
        for (frame, sample) in heard.enumerated() {
            let isGap = outcome.capture.gaps.contains {
                ($0.start..<$0.start + $0.frames).contains(frame)
            }
            let expected = isGap ? 0 : VirtualMicrophone.sample(at: frame)
            if sample != expected {
                Issue.record("frame \(frame) of \(heard.count), gaps \(outcome.capture.gaps)")
                break
            }
        }
    }

    @Test func aTakeIsNoLongerThanAllowed() async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let take = try bench.start(Microphone(device: card.deviceName), to: server.url()) {
            $0.capture = CapturePlan(longest: .milliseconds(700))
        }
        let outcome = try await take.end()
        #expect(outcome.capture.cause == .limitReached)
        #expect(outcome.account.encodedFrames == 11_200)
        #expect(try #require(await server.finishedRequest()).body.count == 22_400)
    }

    @Test func aMicrophoneThatIsNotThereIsTheOutcome() async throws {
        try VirtualMicrophone.prepare()
        let server = try RecordingServer()
        let bench = try Bench()
        let take = try bench.start(Microphone(device: "nowhere"), to: server.url())
        guard
            case .failure(.capture(.deviceNotFound("nowhere", let reason?))) =
                try await take.end().result
        else {
            Issue.record("another outcome")
            return
        }
        // In ALSA's words.
        #expect(reason.contains("nowhere"))
    }
}

/// A microphone of which one read blocks for a while, 200 ms after the start.
private final class LateMicrophone: CaptureSource {
    private let microphone: Microphone
    private let delay: Duration
    private let framesUntilDelay = Atomic(3_200)

    init(_ microphone: Microphone, by delay: Duration) {
        self.microphone = microphone
        self.delay = delay
    }

    var name: String { microphone.name }
    var isLive: Bool { true }

    func open() throws(CaptureError) -> StreamFormat { try microphone.open() }

    func read(into frames: inout MutableSpan<Int16>) throws(CaptureError) -> SourceRead {
        let read = try microphone.read(into: &frames)
        let before = framesUntilDelay.load(ordering: .relaxed)
        guard before > 0, case .frames(let count) = read else { return read }
        framesUntilDelay.store(before - count, ordering: .relaxed)
        if before <= count { usleep(UInt32(delay / .microseconds(1))) }
        return read
    }

    func appendPollDescriptors(to descriptors: inout [pollfd]) {
        microphone.appendPollDescriptors(to: &descriptors)
    }

    func isReady(_ descriptors: Span<pollfd>) -> Bool { microphone.isReady(descriptors) }
    func requestStop() { microphone.requestStop() }
    func close() { microphone.close() }
}
