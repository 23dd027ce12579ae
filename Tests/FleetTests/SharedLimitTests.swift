// SPDX-License-Identifier: Apache-2.0

import Glibc
import LinuxPlatform
import TestSupport
import Testing
import Utter

@testable import Fleet

private let natsServer = "/usr/sbin/nats-server"

/// A limit in the values of a real queue.
@Suite(.enabled(if: access(natsServer, X_OK) == 0))
struct SharedLimitTests {
    private static let rate = ServiceRate(requests: 60)

    /// What two workers took out together, by the bucket that they share.
    private struct Account: Sendable {
        var passed = 0
        var before: TokenBucket
        var after: TokenBucket
    }

    @Test func twoWorkersTakeNoMoreThanTheirLimitTogether() async throws {
        let proxy = try FaultProxy(to: 9)
        proxy.stop()
        let (port, folder) = (proxy.port, try TemporaryFolder())
        let server = try CommandRun(
            natsServer, ["-js", "-a", "127.0.0.1", "-p", "\(port)", "-sd", folder.path("queue")],
            environment: CommandRun.cleanEnvironment)
        defer { server.signal(SIGKILL) }
        let place = QueuePlace(servers: ["nats://127.0.0.1:\(port)"])
        let found = try await NamedThread.result(name: "limit-test") { () throws(QueueFailure) in
            try Self.race(at: place)
        }
        let account = try found.get()
        let (before, after) = (account.before.requests ?? 0, account.after.requests ?? 0)
        // What was there, what came in meanwhile by the server's clock, and what is left.
        let filled = (account.after.at - account.before.at) * (Self.rate.requests ?? 0) / 60
        #expect(Double(account.passed) <= before + filled - after + 1e-6)
        #expect(after >= 0)
        #expect(account.passed >= Int(before))
    }

    /// Has both ask at the same time, more often than the limit allows.
    private static func race(at place: QueuePlace) throws(QueueFailure) -> Account {
        let (first, second) = (try worker("a", at: place), try worker("b", at: place))
        _ = first.limits.take("s", audio: 0)
        let before = try bucket(first.values)
        let passed = Observed(0)
        let threads = [first, second].compactMap { worker in
            // Without a thread the count is too low, and the test fails.
            try? NamedThread(name: "worker") {
                for _ in 0..<30 where worker.limits.take("s", audio: 0) == nil {
                    passed.update { $0 += 1 }
                }
            }
        }
        for thread in threads { thread.join() }
        return Account(
            passed: passed.look { $0 }, before: before, after: try bucket(second.values))
    }

    private static func worker(
        _ name: String, at place: QueuePlace
    ) throws(QueueFailure) -> (limits: FleetLimits, values: NATSValues) {
        let queue = try queue(at: place)
        let values = try NATSValues("limits", of: queue)
        let workers = try NATSValues("workers", lifetime: .seconds(300), of: queue)
        return (
            FleetLimits(["s": rate], values: values, workers: workers, worker: name), values
        )
    }

    /// Connects once the server is there.
    private static func queue(at place: QueuePlace) throws(QueueFailure) -> NATSQueue {
        let end = ContinuousClock.now + .patience
        while ContinuousClock.now < end {
            // It may not listen yet.
            if let queue = try? NATSQueue(place) { return queue }
            _ = waits(.milliseconds(50))
        }
        return try NATSQueue(place)
    }

    private static func bucket(_ values: NATSValues) throws(QueueFailure) -> TokenBucket {
        let found = try values.get("limit.s")
        return found.flatMap { decoded(TokenBucket.self, $0.bytes) } ?? TokenBucket()
    }
}
