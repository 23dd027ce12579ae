// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AudioCore
@testable import AudioDevices
@testable import Capture

/// A microphone that is open all the time, and lent to one take after the other.
@Suite(.serialized) struct PreRollTests {
    /// Reads a lent microphone to the end, as the capture thread does; the end is asked for once
    /// `count` frames are read.
    private func frames(of source: any CaptureSource, stopAfter count: Int) throws -> [Int16] {
        #expect(try source.open() == .speech)
        defer { source.close() }
        var samples: [Int16] = []
        var isStopped = false
        while true {
            var buffer = [Int16](repeating: 0, count: 1_600)
            var room = buffer.mutableSpan
            switch try source.read(into: &room) {
            case .frames(let count): samples += buffer[..<count]
            case .gap: Issue.record("frames were lost")
            case .wait(let reason): wait(for: reason, of: source)
            case .end: return samples
            }
            if samples.count >= count, !isStopped {
                source.requestStop()
                isStopped = true
            }
        }
    }

    private func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await onOwnThread { Result { try body() } }.get()
    }

    private func wait(for reason: SourceWait, of source: any CaptureSource) {
        var events: [pollfd] = []
        var pause: Int32 = 10_000
        if case .until = reason {} else { source.appendPollDescriptors(to: &events) }
        if case .until = reason { pause = 5 }
        if case .forDescriptorsOrUntil = reason { pause = 60 }
        repeat {
            guard poll(&events, nfds_t(events.count), pause) > 0 else { return }
        } while !source.isReady(events.span)
    }

    /// Where in the card's time the samples begin, which follow each other without a hole.
    private func start(of samples: [Int16], upTo limit: Int) -> Int? {
        (0..<limit).first { start in
            samples.indices.allSatisfy { samples[$0] == VirtualMicrophone.sample(at: start + $0) }
        }
    }

    @Test func aTakeBeginsWithWhatWasSaidBefore() async throws {
        let card = try VirtualMicrophone()
        let keeper = try PreRoll(Microphone(device: card.deviceName), length: .milliseconds(500))
        defer { keeper.shutDown() }
        try await onThread {
            // So that there is more than is remembered.
            while card.account.captured < 16_000 { poll(nil, 0, 5) }
            let first = try frames(of: keeper.source(), stopAfter: 12_000)
            let begin = try #require(start(of: first, upTo: 160_000))
            #expect(begin > 0)
            // The next one remembers nothing of the first.
            let second = try frames(of: keeper.source(), stopAfter: 1_600)
            let next = try #require(start(of: second, upTo: 480_000))
            #expect(next >= begin + first.count)
        }
        #expect(card.account.closes == 0)
    }

    @Test func aDeviceThatIsNotThereIsTheTakesError() async throws {
        try VirtualMicrophone.prepare()
        let keeper = try PreRoll(Microphone(device: "nowhere"), length: .milliseconds(500))
        defer { keeper.shutDown() }
        try await onThread {
            let source = try keeper.source()
            let error = #expect(throws: CaptureError.self) { _ = try source.open() }
            #expect(error?.description.hasPrefix("no capture device named 'nowhere'") == true)
            source.close()
        }
    }

    @Test func aDeviceThatBreaksInATakeIsOpenedAnewForTheNext() async throws {
        let card = try VirtualMicrophone()
        let keeper = try PreRoll(Microphone(device: card.deviceName), length: .milliseconds(100))
        defer { keeper.shutDown() }
        try await onThread {
            let source = try keeper.source()
            _ = try source.open()
            card.unplug()
            #expect(throws: CaptureError.self) {
                while true {
                    var buffer = [Int16](repeating: 0, count: 1_600)
                    var room = buffer.mutableSpan
                    if case .wait(let reason) = try source.read(into: &room) {
                        wait(for: reason, of: source)
                    }
                }
            }
            source.close()
            card.unplug(nil)
            #expect(try frames(of: keeper.source(), stopAfter: 1_600).count >= 1_600)
        }
        #expect(card.account.closes == 1)
    }

    @Test func theEndOfTheProgramClosesTheDeviceAndRefusesTakes() async throws {
        let card = try VirtualMicrophone()
        let keeper = try PreRoll(Microphone(device: card.deviceName), length: .milliseconds(100))
        try await onThread {
            _ = try frames(of: keeper.source(), stopAfter: 160)
            let late = try keeper.source()
            keeper.shutDown()
            #expect(throws: CaptureError.self) { _ = try late.open() }
        }
        #expect(card.account.closes == 1)
    }

    @Test func samplesGiveWayOldestFirst() {
        var recent = RecentSamples(capacity: 6)
        recent.append([1, 2, 3, 4].span)
        recent.append([5, 6, 7, 8].span)
        #expect(recent.count == 6)
        var buffer = [Int16](repeating: 0, count: 5)
        var room = buffer.mutableSpan
        #expect(recent.remove(into: &room, inMultiplesOf: 2) == 4)
        #expect(buffer[..<4] == [3, 4, 5, 6])
        room = buffer.mutableSpan
        #expect(recent.remove(into: &room, inMultiplesOf: 2) == 2)
        #expect(buffer[..<2] == [7, 8])
    }
}
