// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing
import Upload

/// A link that dies without a word: the kernel still takes bytes that are never acknowledged.
@Suite(.enabled(if: NetworkNamespace.isAvailable, "needs root, ip and tc"))
struct DeadLinkTests {
    /// Sends at so many bytes a second, kills the link, and measures until that is noticed.
    private func timeToNotice(
        bytesPerSecond: Int, isSealed: Bool = false, stall: Duration
    ) async throws -> (TransferResult, Duration) {
        let network = try NetworkNamespace()
        let (server, upload) = try network.inside {
            let server = try RecordingServer(otherwise: [.readHead, .readOn])
            let upload = try Upload(
                to: server.url(), bytes(3_200), isSealed: isSealed,
                deadlines: TransferDeadlines(stall: stall, answer: .seconds(300)))
            return (server, upload)
        }
        _ = try #require(await server.wait(untilBytes: 3_200))
        try network.cut()
        let death = ContinuousClock.now
        var result: TransferResult?
        while result == nil, ContinuousClock.now - death < .seconds(60) {
            if bytesPerSecond > 0 { try upload.append(bytes(bytesPerSecond / 50)) }
            result = await upload.result(within: .milliseconds(20))
        }
        let time = ContinuousClock.now - death
        print("\(bytesPerSecond) bytes a second: dead link noticed after \(time)")
        return (try #require(result), time)
    }

    private func isBroken(_ result: TransferResult) -> Bool {
        switch result.ending {
        case .timedOut(.stall), .connectionLost: true
        default: false
        }
    }

    /// PCM, Opus, and a source that is silent.
    @Test(arguments: [32_000, 3_000, 0])
    func aDeadLinkIsNoticed(bytesPerSecond: Int) async throws {
        let (result, time) = try await timeToNotice(
            bytesPerSecond: bytesPerSecond, stall: .seconds(2))
        #expect(isBroken(result), "\(result.ending)")
        #expect(!result.isBodyComplete)
        #expect(time < .seconds(6))
    }

    @Test func aDeadLinkIsNoticedWhileTheAnswerIsAwaited() async throws {
        let (result, time) = try await timeToNotice(
            bytesPerSecond: 0, isSealed: true, stall: .seconds(2))
        #expect(isBroken(result), "\(result.ending)")
        #expect(result.isBodyComplete)
        #expect(time < .seconds(6))
    }

    @Test func aLinkThatIsGoneForLessThanThatIsNoBreak() async throws {
        let network = try NetworkNamespace()
        let (server, upload) = try network.inside {
            let server = try RecordingServer()
            return (server, try Upload(to: server.url(), bytes(3_200)))
        }
        _ = try #require(await server.wait(untilBytes: 3_200))
        try network.cut()
        for turn in 0..<50 {
            try upload.append(bytes(640, from: turn * 640 + 3_200))
            #expect(await upload.result(within: .milliseconds(20)) == nil)
        }
        try network.mend()
        upload.seal()
        let result = try #require(await upload.result())
        #expect(result.ending == .answered)
        #expect(server.requests.first?.body == bytes(3_200 + 50 * 640))
    }

    @Test(
        .enabled(if: getenv("UTTER_SOAK") != nil, "takes a minute"), arguments: [32_000, 3_000, 0])
    func aDeadLinkIsNoticedWithinTenSeconds(bytesPerSecond: Int) async throws {
        let (result, time) = try await timeToNotice(
            bytesPerSecond: bytesPerSecond, stall: TransferDeadlines().stall)
        #expect(isBroken(result), "\(result.ending)")
        #expect(time < .seconds(10))
    }
}
