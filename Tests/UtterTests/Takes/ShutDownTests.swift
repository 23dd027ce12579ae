// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import TakeStore
@testable import Utter

/// A pipeline that ends before the takes that it carries have been told to leave.
@Suite struct ShutDownTests {
    @Test func aTakeThatIsOnItsWayIsKeptAndNotCancelled() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, .stallUntil(gate)])
        let bench = try Bench()
        let take = try bench.replay([Int16](repeating: 1_000, count: 8_000), to: server.url())
        let log = EventLog(take)
        #expect(await log.wait { $0.isSent })
        bench.pipeline.shutDown()
        #expect(try await take.end().result == .failure(.left))
        #expect(try bench.spool.store().take(take.id).manifest().state == .kept)
    }
}
