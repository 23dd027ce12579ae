// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import TakeStore
@testable import Utter

/// Which takes are sent unasked, in which order, and that none holds up another.
@Suite struct KeptTakeTests {
    private let bench: SpoolBench
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    init() throws { bench = try SpoolBench() }

    /// A take with so many failures, the last of which ended so long ago.
    private func take(
        _ number: Int, failures: Int? = nil, ago: TimeInterval = 0,
        change: (inout TakeManifest) -> Void = { _ in }
    ) throws -> KeptTake {
        try bench.keep(number) { manifest in
            manifest.failures = failures
            manifest.beginTransfer(1, at: now - ago, to: manifest.url)
            manifest.endTransfer(1, "answered", at: now - ago, status: 500, wasWhole: false)
            change(&manifest)
        }
    }

    @Test func whatHasFailedGoesBehindWhatHasNot() throws {
        let takes = [
            try take(1, failures: 3), try take(2), try take(3, failures: 1), try take(4),
            try take(5, failures: 3),
        ]
        let order = try [2, 4, 3, 1, 5].map { try bench.id($0) }
        #expect(KeptTake.inSendingOrder(takes).map(\.id) == order)
    }

    @Test(arguments: [
        (1, 0.0, true), (2, 899, false), (2, 900, true), (3, 1_799, false), (3, 1_800, true),
        (9, 86_399, false), (9, 86_400, true), (1_000, 86_400, true),
        // The clock has gone back: the time of the failure says nothing.
        (2, -1, false),
    ])
    func eachFailureDoublesThePauseOfItsOwnTake(
        failures: Int, ago: TimeInterval, isDue: Bool
    ) throws {
        let obstacle = try take(1, failures: failures, ago: ago).obstacle(at: now)
        #expect((obstacle == nil) == isDue)
        if !isDue, case .later(let next) = obstacle { #expect(next > now) }
    }

    @Test func whatWasRefusedForGoodWaitsForAChange() throws {
        let held = try take(1) { $0.isHeld = true }
        #expect(held.obstacle(at: now) == .held)
        #expect(held.obstacle(isChanged: true, at: now) == nil)
    }

    @Test func whatTheServiceMayHaveIsSentByThePlansWordOrTheCallers() throws {
        let usual = try take(1) { $0.taken = 1 }
        let doubtful = try take(2) {
            $0.taken = 1
            $0.delivery?.unknownOutcome = "keep"
        }
        #expect(usual.mayBeDelivered && doubtful.mayBeDelivered)
        #expect(usual.obstacle(at: now) == nil)
        #expect(usual.obstacle(unknownOutcome: .ask, at: now) == .doubtful)
        #expect(doubtful.obstacle(at: now) == .doubtful)
        #expect(doubtful.obstacle(unknownOutcome: .resend, at: now) == nil)
    }

    @Test func whatHasWaitedForTooLongIsOld() throws {
        let store = try bench.spool.store()
        _ = SpoolAge(in: store, at: ClockReading(now - 50 * 86_400), isNoted: true)
        let id = try #require(TakeID("20261215-060000-abcdefghjkmn"))
        let began = try #require(id.date)
        let made = try take(1)
        let take = try store.makeTake(id)
        defer { take.unlock() }
        var manifest = try #require(made.known)
        manifest.id = id
        try bench.folder.write([1], to: "state/takes/\(id.text)/audio.wav")
        try take.save(manifest)
        let days = { (count: Double) in
            SpoolAge(in: store, at: ClockReading(began + count * 86_400))
        }
        #expect(KeptTake(id, in: store, by: days(29)).obstacle(at: now) == nil)
        let old = KeptTake(id, in: store, by: days(31))
        #expect(old.obstacle(at: now) == .old)
        #expect(old.obstacle(waitingUpTo: nil, at: now) == nil)
    }
}
