// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct MicrophoneOverrunTests {
    /// The place of each frame proves the gap: frames after it are where the card says they are.
    @Test(arguments: ["", "plug:"])
    func anOverrunIsCountedToTheFrame(through plugin: String) async throws {
        let card = try VirtualMicrophone(.withRing(ofFrames: 3_200))
        let recording = try await MicrophoneRecorder.record(plugin + card.deviceName) {
            try $0.record(untilPosition: 1_600)
            // From where it is: a late read has taken more than was asked for.
            $0.stall(card, untilFrame: $0.recording.position + 8_000)
            try $0.record(untilPosition: 16_000)
        }
        #expect(recording.failure == nil)
        #expect(recording.firstWrongFrame == nil)
        let lost = recording.gaps.reduce(0) { $0 + $1.frames }
        let margins = recording.gaps.count * 320
        #expect(lost >= 8_000 - 3_200)
        // Not one frame more than the ring could not hold, but for the margin.
        #expect(card.account.stale <= lost)
        #expect(lost <= card.account.stale + margins)
        #expect(card.account.starts == 1)
    }

    @Test func aPauseThatTheRingHoldsLosesNothing() async throws {
        let card = try VirtualMicrophone()
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            try $0.record(untilPosition: 1_600)
            $0.stall(card, untilFrame: 1_600 + 16_000)
            try $0.record(untilPosition: 24_000)
        }
        #expect(recording.gaps.isEmpty)
        #expect(recording.firstWrongFrame == nil)
    }

    @Test func severalOverrunsAddUp() async throws {
        let card = try VirtualMicrophone(.withRing(ofFrames: 1_600))
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            for _ in 0..<3 {
                try $0.record(untilPosition: $0.recording.position + 640)
                $0.stall(card, untilFrame: $0.recording.position + 3_200)
            }
            try $0.record(untilPosition: $0.recording.position + 3_200)
        }
        #expect(recording.gaps.count >= 3)
        #expect(recording.firstWrongFrame == nil)
    }

    @Test(arguments: [false, true])
    func anOverrunBeforeTheStopIsPartOfTheTake(stopsTheCard: Bool) async throws {
        var offer = VirtualCard.withRing(ofFrames: 3_200)
        offer.alwaysStops = stopsTheCard
        let card = try VirtualMicrophone(offer)
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            try $0.record(untilPosition: 640)
            $0.stall(card, untilFrame: 8_000)
            try $0.stop()
        }
        #expect(recording.hasEnded)
        #expect(recording.failure == nil)
        #expect(recording.position >= (stopsTheCard ? 6_400 : 8_000))
        #expect(stopsTheCard ? recording.gaps.count == 1 : !recording.gaps.isEmpty)
        #expect(stopsTheCard || recording.firstWrongFrame == nil)
    }

    /// A PCM that stops does not say how much it lost; the clock does.
    @Test(arguments: ["", "plug:"])
    func aCardThatStopsIsStartedAgainAndItsGapMeasured(through plugin: String) async throws {
        var offer = VirtualCard.withRing(ofFrames: 3_200)
        offer.alwaysStops = true
        let card = try VirtualMicrophone(offer)
        let recording = try await MicrophoneRecorder.record(plugin + card.deviceName) {
            try $0.record(untilPosition: 1_600)
            $0.stall(card, untilFrame: 1_600 + 8_000)
            try $0.record(untilPosition: 16_000)
        }
        #expect(recording.failure == nil)
        let account = card.account
        #expect(account.stops >= 1)
        #expect(account.starts == account.stops + 1)
        #expect(recording.gaps.count == account.stops)
        let lost = recording.gaps.reduce(0) { $0 + $1.frames }
        // 100 ms for every start: the moment of it is known to the scheduler only.
        #expect(abs(lost - account.lost) <= 1_600 * account.stops)
        // Whatever the clock said, what comes before the first gap and what follows the last is
        // whole and in order. A busy machine may let the card stop in between once more.
        let first = recording.gaps.first?.position ?? 0
        let last = recording.gaps.last.map { $0.position + $0.frames } ?? 0
        let shift = account.lastStart - last
        #expect(recording.firstWrongFrame(without: first..<last, shiftedBy: shift) == nil)
    }

    @Test(arguments: [VirtualMicrophone.Suspending.resumable, .forGood])
    func aSuspendedCardGoesOnWithAGap(_ way: VirtualMicrophone.Suspending) async throws {
        let card = try VirtualMicrophone()
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            try $0.record(untilPosition: 1_600)
            card.suspend(way)
            try $0.run { !$0.gaps.isEmpty }
            try $0.record(untilPosition: $0.recording.position + 3_200)
        }
        #expect(recording.failure == nil)
        #expect(recording.gaps.count == 1)
        let account = card.account
        #expect(account.starts == 2)
        let gap = recording.gaps.first ?? .init(position: 0, frames: 0)
        #expect(abs(gap.position + gap.frames - account.lastStart) <= 1_600)
    }
}
