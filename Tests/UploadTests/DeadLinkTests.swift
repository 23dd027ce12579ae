// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Upload

/// A link that dies without a word: the kernel still takes bytes that are never acknowledged.
@Suite(.enabled(if: NetworkNamespace.isAvailable, "needs root, ip and tc"))
struct DeadLinkTests {
    /// Sends at so many bytes a second, kills the link, and waits until that is noticed.
    private func deadLink(
        bytesPerSecond: Int, isSealed: Bool = false, stall: Duration
    ) async throws -> TransferResult {
        let network = try NetworkNamespace()
        let (server, upload) = try network.inside {
            let server = try RecordingServer(otherwise: [.readHead, .readOn])
            let upload = try Upload(
                to: server.url(), bytes(3_200), isSealed: isSealed,
                deadlines: TransferDeadlines(stall: stall, answer: .ages))
            return (server, upload)
        }
        _ = try #require(await server.wait(untilBytes: 3_200))
        try network.cut()
        let deadline = ContinuousClock.now + .patience
        var result: TransferResult?
        while result == nil, .now < deadline {
            if bytesPerSecond > 0 { try upload.append(bytes(bytesPerSecond / 50)) }
            result = await upload.result(within: .milliseconds(20))
        }
        return try #require(result)
    }

    private func isBroken(_ result: TransferResult) -> Bool {
        switch result.ending {
        case .timedOut(.stall), .connectionLost: true
        default: false
        }
    }

    /// PCM, Opus, a source that is silent, and an answer that is awaited.
    @Test(arguments: [(32_000, false), (3_000, false), (0, false), (0, true)])
    func aDeadLinkIsNoticed(bytesPerSecond: Int, isSealed: Bool) async throws {
        let result = try await deadLink(
            bytesPerSecond: bytesPerSecond, isSealed: isSealed, stall: .seconds(2))
        #expect(isBroken(result), "\(result.ending)")
        #expect(result.isBodyComplete == isSealed)
    }

    @Test func aLinkThatIsGoneForLessThanThatIsNoBreak() async throws {
        let network = try NetworkNamespace()
        let (server, upload) = try network.inside {
            let server = try RecordingServer()
            let deadlines = TransferDeadlines(stall: .seconds(60))
            return (server, try Upload(to: server.url(), bytes(3_200), deadlines: deadlines))
        }
        _ = try #require(await server.wait(untilBytes: 3_200))
        try network.cut()
        for turn in 0..<50 {
            try upload.append(bytes(640, from: turn * 640 + 3_200))
            #expect(await upload.result(within: .milliseconds(20)) == nil)
        }
        try network.mend()
        upload.seal()
        try await upload.expectAnswer()
        #expect(server.requests.first?.body == bytes(3_200 + 50 * 640))
    }

    @Test(
        .enabled(if: getenv("UTTER_SOAK") != nil, "takes a minute"), arguments: [32_000, 3_000, 0])
    func aDeadLinkIsNoticedWithinTenSeconds(bytesPerSecond: Int) async throws {
        let began = ContinuousClock.now
        let result = try await deadLink(
            bytesPerSecond: bytesPerSecond, stall: TransferDeadlines().stall)
        #expect(isBroken(result), "\(result.ending)")
        let time = ContinuousClock.now - began
        print("\(bytesPerSecond) bytes a second: a dead link is noticed within \(time)")
        #expect(time < .seconds(10))
    }
}
