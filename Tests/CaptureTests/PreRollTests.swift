// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import TestSupport
import Testing

@testable import AudioCore
@testable import AudioDevices
@testable import Capture

/// A microphone that is open all the time, and used by one take after the other.
@Suite(.serialized) struct PreRollTests {
    /// Reads the microphone to the end, as a take does; the end is asked for once `count` frames are
    /// read.
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

    /// Carries out what a take does, on the thread of the microphone.
    private func onThread<Value: Sendable>(
        of keeper: PreRoll, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let end = Settlement<Result<Value, any Error>>()
        try #require(keeper.perform { end.settle(Result { try body() }) })
        return try await end.value.get()
    }

    private func wait(for reason: SourceWait, of source: any CaptureSource) {
        var events = PolledDescriptors()
        var pause = Duration.seconds(10)
        if case .until = reason {} else { source.addDescriptors(to: &events) }
        if case .until = reason { pause = .milliseconds(5) }
        if case .forDescriptorsOrUntil = reason { pause = .milliseconds(60) }
        repeat {
            guard events.wait(.until(.now + pause)) else { return }
        } while !source.isReady(events)
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
        // So that there is more than is remembered.
        #expect(await comesTrue { card.account.captured >= 16_000 })
        let first = try await onThread(of: keeper) { try frames(of: keeper, stopAfter: 12_000) }
        let begin = try #require(start(of: first, upTo: 160_000))
        #expect(begin > 0)
        // The next one remembers nothing of the first.
        let second = try await onThread(of: keeper) { try frames(of: keeper, stopAfter: 1_600) }
        let next = try #require(start(of: second, upTo: 480_000))
        #expect(next >= begin + first.count)
        #expect(card.account.closes == 0)
    }

    /// Nothing that is said in a pause is recorded or remembered.
    @Test func aPauseClosesTheDeviceAndTheNextTakeHasItOpen() async throws {
        let card = try VirtualMicrophone()
        let keeper = try PreRoll(Microphone(device: card.deviceName), length: .milliseconds(500))
        defer { keeper.shutDown() }
        #expect(await comesTrue { card.account.captured >= 1_600 })
        try await onThread(of: keeper) {
            _ = try keeper.open()
            keeper.pause()
        }
        #expect(card.account.closes == 1)
        let behind = try await onThread(of: keeper) { try frames(of: keeper, stopAfter: 1_600) }
        #expect(behind.count >= 1_600 && card.account.closes == 1)
    }

    @Test func aDeviceThatIsNotThereIsTheTakesError() async throws {
        try VirtualMicrophone.prepare()
        let keeper = try PreRoll(Microphone(device: "nowhere"), length: .milliseconds(500))
        defer { keeper.shutDown() }
        try await onThread(of: keeper) {
            let error = #expect(throws: CaptureError.self) { _ = try keeper.open() }
            #expect(error?.description.hasPrefix("no capture device named 'nowhere'") == true)
            keeper.close()
        }
    }

    @Test func aDeviceThatBreaksInATakeIsOpenedAnewForTheNext() async throws {
        let card = try VirtualMicrophone()
        let keeper = try PreRoll(Microphone(device: card.deviceName), length: .milliseconds(100))
        defer { keeper.shutDown() }
        try await onThread(of: keeper) {
            _ = try keeper.open()
            card.unplug()
            #expect(throws: CaptureError.self) {
                while true {
                    var buffer = [Int16](repeating: 0, count: 1_600)
                    var room = buffer.mutableSpan
                    if case .wait(let reason) = try keeper.read(into: &room) {
                        wait(for: reason, of: keeper)
                    }
                }
            }
            keeper.close()
            card.unplug(nil)
        }
        let count = try await onThread(of: keeper) {
            try frames(of: keeper, stopAfter: 1_600).count
        }
        #expect(count >= 1_600)
        #expect(card.account.closes == 1)
    }

    @Test func theEndOfTheProgramClosesTheDeviceAndRefusesTakes() async throws {
        let card = try VirtualMicrophone()
        let keeper = try PreRoll(Microphone(device: card.deviceName), length: .milliseconds(100))
        _ = try await onThread(of: keeper) { try frames(of: keeper, stopAfter: 160) }
        await onOwnThread { keeper.shutDown() }
        #expect(card.account.closes == 1)
        let late = try LiveTake(ScriptedMicrophone([]), keptOpenBy: keeper)
        #expect(
            await late.end()?.cause
                == .source(.deviceUnusable(device: card.deviceName, reason: "it is closed")))
        #expect(card.account.opens == 1)
    }

    @Test func takesAreServedInTheirOrder() async throws {
        let source = try ScriptedMicrophone([.idle])
        let keeper = try PreRoll(source, length: .milliseconds(100))
        let first = try LiveTake(source, keptOpenBy: keeper)
        #expect(await first.opened.wait())
        let second = try LiveTake(source, keptOpenBy: keeper)
        let third = try LiveTake(source, keptOpenBy: keeper)
        source.add([.frames(320), .idle])
        #expect(await first.began.wait())
        #expect(!second.opened.isOpen)
        first.stop()
        #expect(await first.end()?.cause == .finished)
        #expect(await second.opened.wait())
        #expect(!third.opened.isOpen)
        source.add([.frames(16), .idle])
        #expect(await second.began.wait())
        second.stop()
        #expect(await second.end()?.cause == .finished)
        #expect(await third.opened.wait())
        // The device stays open when a take ends; at the end of all it is closed by its thread.
        #expect(!source.isClosed.isOpen)
        keeper.retire()
        third.stop()
        #expect(await third.end()?.cause == .tooShort(frames: 0))
        #expect(await source.isClosed.wait())
        #expect(first.samples() == (0..<320).map { Int16($0) })
        #expect(second.samples() == (320..<336).map { Int16($0) })
        #expect(source.threads.count == 1)
    }

    @Test func aDriverThatHangsInATakeLosesItAndTouchesNothingOfIt() async throws {
        let source = try ScriptedMicrophone([.idle], hangsIn: .reading)
        let keeper = try PreRoll(source, length: .milliseconds(100))
        let take = try LiveTake(source, keptOpenBy: keeper, patience: .seconds(2))
        #expect(await take.opened.wait())
        source.add([.frames(320), .idle])
        #expect(await take.began.wait())
        #expect(await source.hangs.wait())
        #expect(
            await take.end()?.cause == .source(.deviceHangs(device: "scripted", seconds: 2)))
        #expect(await take.ringFinishes())
        #expect(take.samples() == (0..<320).map { Int16($0) })
        // The next take is told at once, or has a device of its own.
        #expect(keeper.isOver)
        let next = try LiveTake(source, keptOpenBy: keeper)
        #expect(
            await next.end()?.cause
                == .source(.deviceUnusable(device: "scripted", reason: "it is closed")))
        #expect(!source.isClosed.isOpen)
        source.goesOn.open()
        #expect(await source.isClosed.wait())
        #expect(take.account.capturedFrames == 320)
        #expect(take.samples().count == 320)
        #expect(take.ends.value == 1)
    }

    @Test func aDriverThatHangsBetweenTakesIsGivenUpByTheTakeThatWaitsForIt() async throws {
        let source = try ScriptedMicrophone([.frames(320), .idle], hangsIn: .reading)
        let keeper = try PreRoll(source, length: .milliseconds(100))
        #expect(await source.hangs.wait())
        let take = try LiveTake(source, keptOpenBy: keeper)
        #expect(await take.late.wait())
        take.stop()
        #expect(await take.end()?.cause == .tooShort(frames: 0))
        #expect(keeper.isOver)
        source.goesOn.open()
        #expect(await source.isClosed.wait())
        #expect(take.samples().isEmpty)
        #expect(take.ends.value == 1)
    }

    @Test(
        arguments: [
            // Ten times as many as are remembered, and some more: the oldest give way.
            ([.frames(16_000), .frames(7), .idle], 14_407..<16_007),
            // A hole is not remembered.
            ([.frames(320), .gap(1), .frames(16), .idle], 320..<336),
        ] as [([ScriptedMicrophone.Step], Range<Int>)])
    func whatIsRememberedIsTheLastThatIsWhole(
        _ steps: [ScriptedMicrophone.Step], _ remembered: Range<Int>
    ) async throws {
        let source = try ScriptedMicrophone(steps)
        let keeper = try PreRoll(source, length: .milliseconds(100))
        #expect(await source.idles.wait())
        let take = try LiveTake(source, keptOpenBy: keeper)
        #expect(await take.began.wait())
        take.stop()
        let end = await take.end()
        #expect(end?.cause == .finished)
        #expect(end?.gaps.isEmpty == true)
        #expect(take.samples() == remembered.map { Int16($0) })
        keeper.shutDown()
    }
}
