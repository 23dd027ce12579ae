// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioDevices
@testable import Utter

/// A press inside the tail, and what a take tells of its beginning and its end.
@Suite(.serialized) struct TakeResumeTests {
    private func samples(_ bytes: [UInt8]) -> [Int16] {
        (0..<bytes.count / 2).map {
            Int16(truncatingIfNeeded: Int(bytes[2 * $0]) | Int(bytes[2 * $0 + 1]) << 8)
        }
    }

    @Test func aPressInsideTheTailGoesOnWithTheTake() async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let take = try bench.start(Microphone(device: card.deviceName), to: server.url()) {
            // So long that no load of the machine makes the press late.
            $0.capture.tail = Tail(
                quiet: .seconds(600), usual: .seconds(600), longest: .seconds(600))
        }
        let log = EventLog(take)
        #expect(await log.wait { $0.isBegun })
        take.stop()
        take.resume()
        #expect(await log.wait { $0.isResumed })
        let before = card.account.captured
        _ = try #require(await server.wait(untilBytes: 2 * before + 16_000))
        // That is an end, too.
        card.unplug(.afterRing)
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "heard")
        #expect(outcome.account.gapFrames == 0)
        #expect(outcome.times.stopped == nil)
        let heard = samples(try #require(await server.finishedRequest()).body)
        #expect(heard.count >= before + 8_000)
        #expect(heard == (0..<heard.count).map { VirtualMicrophone.sample(at: $0) })
        let events = try await log.all()
        #expect(events.count { $0.isResumed } == 1)
    }

    @Test func aPressAfterTheTailLeavesTheTakeEnded() async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let take = try bench.start(Microphone(device: card.deviceName), to: server.url()) {
            $0.capture = CapturePlan(tail: .none)
        }
        let log = EventLog(take)
        #expect(await log.wait { $0.isBegun })
        take.stop()
        #expect(await log.wait { $0.isCaptured })
        take.resume()
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "heard")
        #expect(outcome.times.stopped != nil)
        #expect(try await log.all().allSatisfy { !$0.isResumed })
    }

    @Test func itsBeginningAndItsEndAreToldOnceAndInOrder() async throws {
        let card = try VirtualMicrophone()
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let take = try bench.start(Microphone(device: card.deviceName), to: server.url())
        let log = EventLog(take)
        #expect(await log.wait { $0.isBegun })
        _ = try #require(await server.wait(untilBytes: 6_400))
        take.stop()
        let outcome = try await take.end()
        let events = try await log.all()
        let told: [(TakeEvent) -> Bool] = [
            { $0.isListening }, { $0.isBegun }, { $0.isCaptured }, { $0.isSent },
        ]
        let places = told.map { isIt in events.indices.filter { isIt(events[$0]) } }
        #expect(places.allSatisfy { $0.count == 1 })
        #expect(places.flatMap(\.self) == places.flatMap(\.self).sorted())
        // A period after the device was started at the earliest.
        let first = try #require(outcome.times.firstFrame)
        #expect(first > .zero)
        #expect(first <= (try #require(outcome.times.stopped)))
    }
}
