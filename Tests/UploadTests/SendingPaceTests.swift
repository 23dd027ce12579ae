// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Upload

@Suite struct SendingPaceTests {
    private let start = ContinuousClock.now

    /// What a transfer that takes all that it may has sent after so many turns of 20 ms.
    private func sent(at bytesPerSecond: Int, turns: Int) -> Int {
        var pace = SendingPace(bytesPerSecond: bytesPerSecond, now: start)
        return (0...turns).reduce(0) { sent, turn in
            let room = pace.room(now: start + .milliseconds(turn * 20))
            pace.spend(room)
            return sent + room
        }
    }

    @Test func aSecondHasItsBytesTheFirstOneABurstAndSilenceEarnsNoMore() {
        #expect((424_000...426_000).contains(sent(at: 100_000, turns: 200)))
        // A byte a second is still sent.
        #expect((10...11).contains(sent(at: 1, turns: 500)))
        var pace = SendingPace(bytesPerSecond: 100_000, now: start)
        pace.spend(pace.room(now: start))
        #expect(pace.room(now: start + .seconds(3_600)) == 25_000)
    }

    @Test func aBodyIsHeldBackAndStillWhole() async throws {
        let (server, upload) = try Upload.begin(
            bytes(100_000), isSealed: true, by: .answer(text: "slow")
        ) {
            $0.bytesPerSecond = 40_000
        }
        try await upload.expectAnswer()
        let request = try #require(server.requests.first)
        #expect(request.body == bytes(100_000))
        // However busy the machine is, no more than a burst is sent at once.
        #expect(request.chunks.allSatisfy { $0.byteCount <= 10_000 })
    }

    @Test func aPauseOfTheSpeakerIsNotHeldBack() async throws {
        // It is as much as a burst: whatever comes behind it has its pace.
        let burst = 16_000
        let (server, upload) = try Upload.begin(bytes(burst), by: .answer(text: "")) {
            $0.bytesPerSecond = 4 * burst
        }
        _ = try #require(await server.wait(untilBytes: burst))
        for turn in 1...5 {
            try upload.append(bytes(640, from: burst + (turn - 1) * 640))
            _ = try #require(await server.wait(untilBytes: burst + turn * 640))
        }
        upload.seal()
        #expect(try #require(await upload.result()).ending == .answered)
    }
}
