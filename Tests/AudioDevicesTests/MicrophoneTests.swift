// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCore
@testable import AudioDevices
@testable import Capture

@Suite struct MicrophoneTests {
    @Test(
        arguments: [
            ("", VirtualCard(), .speech), ("plug:", VirtualCard(), .speech),
            // Opened directly it is taken as it is.
            ("", .builtIn, StreamFormat(sampleRate: 48_000, channelCount: 2)),
        ] as [(String, VirtualCard, StreamFormat)])
    func noFrameIsLostOrReadTwice(
        through plugin: String, _ offer: VirtualCard, _ format: StreamFormat
    ) async throws {
        let card = try VirtualMicrophone(offer)
        let recording = try await MicrophoneRecorder.record(plugin + card.deviceName) {
            try $0.record(untilPosition: 48_000)
        }
        #expect(recording.format == format)
        #expect(recording.failure == nil)
        #expect(recording.gaps.isEmpty)
        #expect(recording.frames >= 48_000)
        #expect(recording.firstWrongFrame == nil)
        #expect(card.account.stale == 0)
    }

    @Test func aStereoCardIsMixedByPlugAndKeepsItsRate() async throws {
        let card = try VirtualMicrophone(.builtIn)
        let recording = try await MicrophoneRecorder.record("plug:" + card.deviceName) {
            try $0.record(untilPosition: 48_000)
        }
        #expect(recording.format == StreamFormat(sampleRate: 48_000, channelCount: 1))
        #expect(recording.gaps.isEmpty)
        let mixed = zip(recording.samples, 0...).allSatisfy { sample, frame in
            let left = Int(VirtualMicrophone.sample(at: frame, channel: 0))
            let right = Int(VirtualMicrophone.sample(at: frame, channel: 1))
            return abs(Int(sample) - (left + right) / 2) <= 1
        }
        #expect(mixed)
    }

    @Test(arguments: [
        ([8_000], 8_000), ([44_100], 44_100), ([44_100, 48_000], 48_000),
        ([8_000, 44_100], 44_100), ([16_000, 48_000], 16_000), ([32_000, 48_000], 32_000),
    ])
    func theBestRateIsChosen(from rates: [Int], _ best: Int) async throws {
        var offer = VirtualCard()
        offer.rates = rates
        let card = try VirtualMicrophone(offer)
        let recording = try await MicrophoneRecorder.record(card.deviceName) { _ in }
        #expect(recording.failure == nil)
        #expect(recording.format == StreamFormat(sampleRate: best, channelCount: 1))
    }

    @Test(arguments: ["S32_LE", "S24_LE", "S24_3LE"])
    func widerSamplesAreCutTo16Bits(format: String) async throws {
        var offer = VirtualCard()
        offer.formats = [format]
        offer.channels = [2]
        let card = try VirtualMicrophone(offer)
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            try $0.record(untilPosition: 3_200)
        }
        #expect(recording.failure == nil)
        #expect(recording.frames >= 3_200)
        #expect(recording.firstWrongFrame == nil)
    }

    @Test func aCardWithoutUsableSamplesIsRefusedWithWhatItOffers() async throws {
        var offer = VirtualCard()
        offer.formats = ["U8"]
        let card = try VirtualMicrophone(offer)
        let recording = try await MicrophoneRecorder.record(card.deviceName) { _ in }
        #expect(
            recording.failure
                == .formatRefused(
                    device: card.deviceName,
                    detail: "it offers U8, not 16-, 24- or 32-bit samples"))
        #expect(card.account.closes == card.account.opens)
    }

    @Test func theRingIsAsLongAsTheCardAllowsAndThePeriodIsShortEnough() async throws {
        for (offer, ring, milliseconds) in [(VirtualCard(), 128_000, 20), (.builtIn, 16_224, 13)] {
            let card = try VirtualMicrophone(offer)
            _ = try await MicrophoneRecorder.record(card.deviceName) { _ in }
            let account = card.account
            #expect(account.period == account.rate * milliseconds / 1_000)
            #expect(account.buffer == ring)
        }
    }

    /// The double period: taking what came since the interrupt makes the next one go unnoticed.
    @Test(arguments: ["", "plug:"])
    func everyInterruptIsHeard(through plugin: String) async throws {
        var offer = VirtualCard()
        offer.rates = [48_000]
        offer.channels = [2]
        let card = try VirtualMicrophone(offer)
        let recording = try await MicrophoneRecorder.record(plugin + card.deviceName) {
            try $0.record(untilPosition: 96_000)
        }
        #expect(recording.failure == nil)
        let period = card.account.period
        #expect(recording.reads.allSatisfy { ($0.position + $0.frames) % period == 0 })
        // A busy machine makes some of the reads longer, the double period makes all.
        #expect(recording.reads.contains { $0.frames == period })
    }

    /// A sound server's quantum is no multiple of our period; a rest of it need not wait.
    @Test func allThatASoundServerHandsOverIsTakenAtOnce() async throws {
        var offer = VirtualCard()
        offer.chunk = 341
        let server = try VirtualMicrophone(offer)
        server.setPosition(0)
        let recording = try await MicrophoneRecorder.record(server.deviceName) {
            for turn in 1...40 {
                server.setPosition(turn * 341)
                try $0.readAll()
            }
        }
        #expect(recording.failure == nil)
        #expect(recording.gaps.isEmpty)
        #expect(recording.firstWrongFrame == nil)
        // At first it may be taken for a card.
        let ends = recording.reads.suffix(30).map { $0.position + $0.frames }
        #expect(ends.count == 30)
        #expect(ends.allSatisfy { $0 % 341 == 0 }, "\(ends)")
    }

    @Test(arguments: ["", "plug:"])
    func theLastFrameBeforeTheStopIsDelivered(through plugin: String) async throws {
        let card = try VirtualMicrophone()
        let recording = try await MicrophoneRecorder.record(plugin + card.deviceName) {
            try $0.record(untilPosition: 3_200)
            // In the middle of a period.
            $0.stall(card, untilFrame: $0.recording.position + 500)
            let before = card.account.firstFrameAt
            let captured = (MicrophoneRecorder.now() - before) * 16_000 / 1_000_000_000
            try $0.stop()
            let position = $0.recording.position
            guard $0.recording.hasEnded, position >= captured else {
                throw VirtualMicrophoneTimeout(position: captured)
            }
            // It stays at its end.
            $0.stall(card, untilFrame: position + 1_600)
            try $0.stop()
            guard $0.recording.position == position else {
                throw VirtualMicrophoneTimeout(position: position)
            }
        }
        #expect(recording.hasEnded)
        #expect(recording.gaps.isEmpty)
        #expect(recording.firstWrongFrame == nil)
    }

    @Test func aMicrophoneWhoseStopIsTakenBackGoesOnBehindItsEnd() async throws {
        let card = try VirtualMicrophone()
        let recording = try await MicrophoneRecorder.record(card.deviceName) {
            for _ in 0..<3 {
                // In the middle of a period, and the first time before anything is read.
                $0.stall(card, untilFrame: $0.recording.position + 500)
                try $0.stop()
                guard $0.recording.hasEnded else { throw VirtualMicrophoneTimeout(position: 0) }
                $0.goOn()
                try $0.record(untilPosition: $0.recording.position + 3_200)
            }
        }
        #expect(recording.gaps.isEmpty)
        #expect(recording.firstWrongFrame == nil)
        #expect(recording.frames >= 9_600)
        #expect(card.account.opens == 1)
    }

    @Test func closingFreesTheCard() async throws {
        let card = try VirtualMicrophone()
        for _ in 0..<2 {
            let recording = try await MicrophoneRecorder.record(card.deviceName) {
                try $0.record(untilPosition: 320)
                $0.microphone.close()
                $0.microphone.close()
            }
            #expect(recording.failure == nil)
        }
        #expect(card.account.opens == 2)
        #expect(card.account.closes == 2)
    }
}
