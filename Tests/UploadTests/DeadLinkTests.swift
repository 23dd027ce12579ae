// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Upload

/// A link that dies without a word: the kernel still takes bytes that are never acknowledged.
@Suite(.enabled(if: NetworkNamespace.isAvailable, "needs root, ip and tc"))
struct DeadLinkTests {
    /// Sends each at so many bytes a second, kills the link of all, and waits until all notice it.
    private func deadLink(
        _ sendings: [(bytesPerSecond: Int, isSealed: Bool)], stall: Duration
    ) async throws -> [TransferResult] {
        let network = try NetworkNamespace()
        let ends = sendings.map(\.isSealed)
        let (server, uploads) = try network.inside {
            let server = try RecordingServer(otherwise: [.readHead, .readOn])
            let uploads = try ends.map { isSealed in
                try Upload(
                    to: server.url(), bytes(3_200), isSealed: isSealed,
                    deadlines: TransferDeadlines(stall: stall, answer: .ages))
            }
            return (server, uploads)
        }
        for number in uploads.indices {
            _ = try #require(await server.wait(untilBytes: 3_200, ofRequest: number))
        }
        try network.cut()
        let deadline = ContinuousClock.now + .patience
        var results = [TransferResult?](repeating: nil, count: uploads.count)
        while let first = results.firstIndex(where: { $0 == nil }), .now < deadline {
            for (number, upload) in uploads.enumerated() where results[number] == nil {
                let count = sendings[number].bytesPerSecond / 50
                if count > 0 { try upload.append(bytes(count)) }
                // Waiting for the first gives all of them their pace.
                let limit = number == first ? Duration.milliseconds(20) : .zero
                results[number] = await upload.result(within: limit)
            }
        }
        return try results.map { try #require($0) }
    }

    private func isBroken(_ result: TransferResult) -> Bool {
        switch result.ending {
        case .timedOut(.stall), .connectionLost: true
        default: false
        }
    }

    @Test func aDeadLinkIsNoticed() async throws {
        // PCM, Opus, a source that is silent, and an answer that is awaited.
        let sendings: [(bytesPerSecond: Int, isSealed: Bool)] = [
            (32_000, false), (3_000, false), (0, false), (0, true),
        ]
        let results = try await deadLink(sendings, stall: .seconds(2))
        for (sending, result) in zip(sendings, results) {
            #expect(isBroken(result), "\(sending): \(result.ending)")
            #expect(result.isBodyComplete == sending.isSealed)
        }
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
        let results = try await deadLink(
            [(bytesPerSecond, false)], stall: TransferDeadlines().stall)
        #expect(results.allSatisfy { isBroken($0) }, "\(results.map(\.ending))")
        let time = ContinuousClock.now - began
        print("\(bytesPerSecond) bytes a second: a dead link is noticed within \(time)")
        #expect(time < .seconds(10))
    }
}
