// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioDevices
@testable import Capture

@Suite struct MicrophoneLossTests {
    /// It delivers what its ring holds, or takes it along.
    @Test(
        arguments: [("", .afterRing), ("", .withRing), ("plug:", .withRing)]
            as [(String, VirtualMicrophone.Unplugging)])
    func anUnpluggedCardIsLostAndWhatWasReadIsKept(
        through plugin: String, _ way: VirtualMicrophone.Unplugging
    ) async throws {
        let card = try VirtualMicrophone()
        let device = plugin + card.deviceName
        let recording = try await MicrophoneRecorder.record(device) {
            try $0.record(untilPosition: 8_000)
            card.unplug(way)
            try $0.recordToEnd()
        }
        #expect(
            recording.failure
                == .deviceLost(device: device, frames: recording.position, sampleRate: 16_000))
        #expect(recording.position >= 8_000)
        if way == .afterRing {
            #expect(recording.position == card.account.unpluggedAt)
            #expect(recording.gaps.isEmpty)
        }
        #expect(recording.firstWrongFrame == nil)
    }

    /// It can be prepared and started; ALSA passes the driver's error on, or calls it an overrun.
    @Test(arguments: [EIO, ENODEV, EBADFD], [false, true])
    func aCardThatFailsEveryReadIsLostThoughItStarts(_ code: Int32, hidesCause: Bool) async throws {
        let card = try VirtualMicrophone()
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            try $0.record(untilPosition: 3_200)
            card.setFailing(code, hidesCause: hidesCause)
            try $0.recordToEnd()
        }
        let failure = try #require(recording.failure)
        #expect(failure.isLossInMidTake, "\(failure)")
        if !hidesCause, code != EIO {
            let lost = CaptureError.deviceLost(
                device: card.deviceName, frames: recording.position, sampleRate: 16_000)
            #expect(recording.failure == lost)
            #expect(recording.gaps.isEmpty)
        }
        #expect(card.account.starts <= 11)
        #expect(recording.frames >= 3_200)
        #expect(recording.firstWrongFrame == nil)
    }

    @Test func afterTheLossThereIsOnlyTheEnd() async throws {
        let card = try VirtualMicrophone()
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            try $0.record(untilPosition: 640)
            card.unplug()
            do {
                try $0.recordToEnd()
            } catch is CaptureError {
                try $0.stop()
            }
        }
        #expect(recording.hasEnded)
        #expect(recording.failure == nil)
    }

    @Test func aCardThatIsUnpluggedAtTheStopEndsTheTake() async throws {
        let card = try VirtualMicrophone()
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            try $0.record(untilPosition: 3_200)
            card.unplug(.afterRing)
            try $0.stop()
        }
        #expect(recording.hasEnded)
        #expect(recording.position == card.account.unpluggedAt)
        #expect(recording.firstWrongFrame == nil)
    }

    @Test func aCardThatHangsIsStartedAnewAndThenReported() async throws {
        let card = try VirtualMicrophone()
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            try $0.record(untilPosition: 1_600)
            card.setHanging()
            try $0.recordToEnd()
        }
        #expect(recording.failure == .deviceSilent(device: card.deviceName, seconds: 5))
        // Each second but the last; the timeline is true all the same.
        #expect(card.account.starts == 5)
        #expect(!recording.gaps.isEmpty)
        #expect(recording.firstWrongFrame == nil)
    }

    @Test func aCardThatNeverBeginsIsReportedAfterTenSeconds() async throws {
        let card = try VirtualMicrophone()
        card.setHanging()
        let recording = try await MicrophoneRecorder.record("plug:" + card.deviceName) {
            try $0.recordToEnd()
        }
        #expect(
            recording.failure == .deviceSilent(device: "plug:" + card.deviceName, seconds: 10))
        // A headset that is about to begin is not disturbed.
        #expect(card.account.starts == 1)
        #expect(recording.frames == 0)
    }

    @Test func aCardThatSomeoneHoldsIsBusy() async throws {
        let card = try VirtualMicrophone()
        let recording = try await MicrophoneRecorder.record(card.deviceName) { recorder in
            let second = Microphone(device: card.deviceName)
            _ = try second.open()
        }
        #expect(recording.failure == .deviceBusy(device: card.deviceName))
    }

    @Test(arguments: [false, true])
    func aCardThatIsForbiddenOrAbsentAtTheStartIsSaidToBe(isAbsent: Bool) async throws {
        let card = try VirtualMicrophone()
        let device = card.deviceName
        if isAbsent { card.unplug() } else { card.setDenied() }
        let recording = try await MicrophoneRecorder.record(device) { _ in }
        let absent = CaptureError.deviceNotFound(
            device: device, reason: "snd_pcm_open: No such device")
        #expect(recording.failure == (isAbsent ? absent : .permissionDenied(name: device)))
    }

    @Test(arguments: ["no-such-device", "plug:no-such-device", ""])
    func anUnknownNameIsNotFound(_ name: String) async throws {
        try VirtualMicrophone.prepare()
        let recording = try await MicrophoneRecorder.record(name) { _ in }
        #expect(
            recording.failure?.description.hasPrefix("no capture device named '\(name)': ")
                == true)
    }

    @Test func aClosedMicrophoneSaysTheEnd() throws {
        let microphone = Microphone(device: "no-such-device")
        microphone.close()
        var buffer: [Int16] = [0]
        var span = buffer.mutableSpan
        let read = try microphone.read(into: &span)
        #expect(read == .end)
        #expect(microphone.details == nil)
    }

    // MARK: - A driver that says what cannot be so

    /// It refuses each read, or says a position that no card can have: that is silence, and no reason
    /// to ask without a pause, nor to end anything but the take.
    @Test(arguments: [false, true])
    func aDriverThatGivesNothingIsGivenUp(saysAWrongPosition: Bool) async throws {
        let card = try VirtualMicrophone()
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            try $0.record(untilPosition: 3_200)
            if saysAWrongPosition { card.setPosition(1 << 61) } else { card.setRefusing() }
            try $0.recordToEnd()
        }
        #expect(recording.failure == .deviceSilent(device: card.deviceName, seconds: 5))
        #expect(recording.frames >= 3_200)
        #expect(saysAWrongPosition || recording.firstWrongFrame == nil)
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
}
