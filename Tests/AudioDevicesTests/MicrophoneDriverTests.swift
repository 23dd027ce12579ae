// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Capture

/// A driver that says what cannot be so.
@Suite struct MicrophoneDriverTests {
    /// What it has is never given: that is silence, and no reason to ask without a pause.
    @Test func aDriverThatRefusesEveryReadIsGivenUp() async throws {
        let card = try VirtualMicrophone()
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            try $0.record(untilPosition: 3_200)
            card.setRefusing()
            try $0.recordToEnd()
        }
        #expect(recording.failure == .deviceSilent(device: card.deviceName, seconds: 5))
        #expect(recording.frames >= 3_200)
        #expect(recording.firstWrongFrame == nil)
    }

    @Test func aReadThatClaimsTooMuchGivesNoMoreThanWasAskedFor() async throws {
        let card = try VirtualMicrophone()
        card.setBoasting()
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            try $0.record(untilPosition: 3_200)
        }
        #expect(recording.failure == nil)
        #expect(recording.reads.allSatisfy { $0.frames <= 128_000 })
    }

    @Test func aPositionThatNoCardCanHaveEndsNothingButTheTake() async throws {
        let card = try VirtualMicrophone()
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            try $0.record(untilPosition: 3_200)
            card.setPosition(1 << 61)
            try $0.recordToEnd()
        }
        #expect(recording.failure == .deviceSilent(device: card.deviceName, seconds: 5))
        #expect(recording.frames >= 3_200)
    }
}
