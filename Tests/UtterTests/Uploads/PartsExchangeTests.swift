// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Utter

/// Recordings that are sent in parts, to a store that is a value.
@Suite struct PartsExchangeTests {
    private func run(_ world: inout PartsWorld) {
        let seed: Comment = "\(world.size) bytes"
        world.run()
        #expect(world.faults.isEmpty, seed)
        let joined = world.store.object ?? []
        #expect(joined.first?.lowerBound == 0, seed)
        #expect(joined.last?.upperBound == world.size, seed)
        let isWhole = zip(joined, joined.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound }
        #expect(isWhole, seed)
        #expect(world.mostAtOnce <= 4)
    }

    /// Sends a take once, to a store that is made so.
    private func end(
        size: Int = 200, isLive: Bool = false, _ change: (inout PartsStore) -> Void
    ) throws -> PartsWorld {
        var world = try PartsWorld(size: size, isLive: isLive)
        change(&world.store)
        world.runOnce()
        #expect(world.faults.isEmpty)
        return world
    }

    @Test(arguments: [0, 1, 9, 10, 11, 19, 20, 21, 200], [true, false])
    func aRecordingOfAnyLengthIsStoredOnce(_ size: Int, _ isLive: Bool) throws {
        var world = try PartsWorld(size: size, isLive: isLive)
        run(&world)
        #expect(world.store.uploads.isEmpty)
        #expect(world.store.requests.last == (size <= 10 ? "whole" : "complete"))
    }

    /// Whatever is lost, refused, forgotten or killed.
    @Test(arguments: [true, false]) func theStoreHasTheRecordingInTheEnd(_ isLive: Bool) throws {
        var random = SeededRandom()
        for _ in 0..<400 {
            let seed = random.seed
            var world = try PartsWorld(
                size: Int.random(in: 0...300, using: &random), isLive: isLive,
                faults: Int.random(in: 1...8, using: &random),
                random: SeededRandom(seed: random.next()))
            run(&world)
            #expect(world.store.uploads.isEmpty, "seed \(seed): \(world.made)")
            guard world.faults.isEmpty else {
                Issue.record("seed \(seed): \(world.made)")
                break
            }
        }
    }

    @Test(arguments: [5, 100]) func anObjectOfAnotherIsNotReplaced(_ size: Int) throws {
        let world = try end(size: size) { ($0.object, $0.isOfAnother) = ([0..<1], true) }
        guard case .failure(.refused(412, let words, _)) = world.ending?.result else {
            Issue.record("\(world.ending as Any)")
            return
        }
        #expect(words == "another object of that name is there")
        #expect(world.store.isOfAnother)
        #expect(world.store.uploads.isEmpty)
    }

    /// A take that is sent again, though the store has it.
    @Test func anUploadOfWhatIsThereIsAborted() throws {
        let world = try end { $0.object = [0..<200] }
        #expect(world.store.requests.suffix(3) == ["complete", "look", "abort"])
        #expect(world.store.uploads.isEmpty)
    }

    @Test(arguments: [true, false]) func anUploadThatIsRefusedIsAborted(_ isLive: Bool) throws {
        let world = try end(isLive: isLive) { $0.refusesParts = true }
        guard case .failure(.refused(400, _, _)) = world.ending?.result else {
            Issue.record("\(world.ending as Any)")
            return
        }
        #expect(world.store.requests.last == "abort")
        #expect(world.store.uploads.isEmpty)
    }

    /// The answer to its making is lost, it is refused, or it is not joined; then the store is away.
    @Test(arguments: [("create", 500, true), ("part", 400, false), ("complete", 409, false)])
    func anUploadThatCannotBeAbortedNowIsAbortedLater(
        _ step: String, _ status: Int, _ isHeard: Bool
    ) throws {
        var world = try end {
            $0.lies = [
                (step, (status, [], ""), 1, isHeard), ("abort", (503, [], ""), 4, false),
            ]
        }
        #expect(world.store.uploads.count == 1)
        #expect(world.store.requests.last == "abort")
        run(&world)
        #expect(world.store.uploads.isEmpty)
    }

    /// A key that may write, and not abort.
    @Test func anUploadThatMayNotBeAbortedIsLeft() throws {
        let world = try end {
            $0.lies = [("create", (500, [], ""), 1, true), ("abort", (403, [], ""), .max, false)]
        }
        #expect(world.store.uploads.count == 1)
        #expect(world.store.requests.last == "complete")
    }

    @Test func aStoreThatNeverJoinsIsAskedFourTimes() throws {
        let world = try end { $0.refusesToJoin = true }
        #expect(world.store.requests.count { $0 == "complete" } == 4)
        #expect(world.store.requests.count { $0 == "abort" } == 4)
        #expect(world.store.uploads.isEmpty)
        if case .success = world.ending?.result { Issue.record("it was never joined") }
    }

    static let page: PartsStore.Answer = (
        200, [("content-type", "text/html")], "<!DOCTYPE html><title>Hotel</title>"
    )
    static let zeros = String(repeating: "0", count: 32)
    static let lies: [(step: String, answer: PartsStore.Answer)] = [
        ("whole", (200, [], "")), ("whole", (204, [], "")), ("whole", page),
        ("whole", (200, [("etag", "x")], "<html><body>log in</body></html>")),
        ("whole", (200, [("etag", "x")], #"{"error":"quota"}"#)),
        ("whole", (200, [("etag", "x")], "<Error><Code>SlowDown</Code></Error>")),
        ("whole", (200, [("etag", "\"\"")], "")),
        ("whole", (200, [("etag", #""d41d8cd98f00b204e9800998ecf8427e""#)], "")),
        ("whole", (200, [("etag", zeros)], "")),
        ("part", (200, [("etag", "W/\"\(zeros)\"")], "")),
        ("complete", (200, [], "<R><ETag>&quot;\(zeros)-2&quot;</ETag></R>")),
        ("create", page), ("create", (200, [], "<R><UploadId>u1</UploadId>")),
        ("part", page), ("part", (200, [], "")),
        ("complete", (200, [], "")), ("complete", (204, [], "")), ("complete", page),
        ("complete", (200, [], "<R><ETag>x</ETag>")), ("complete", (200, [], "<R><ETa")),
        ("complete", (200, [], "<Error><Code>InternalError</Code></Error>")),
        ("complete", (200, [], #"{"error":"x"}"#)), ("complete", (200, [], "ok")),
    ]

    /// Whether the store has heard of the request or not, once or each time.
    @Test(arguments: lies, [(1, true), (1, false), (.max, true), (.max, false)])
    func noAnswerIsBelievedThatProvesNothing(
        _ lie: (step: String, answer: PartsStore.Answer), _ use: (times: Int, isHeard: Bool)
    ) throws {
        let world = try end(size: lie.step == "whole" ? 5 : 200) {
            $0.lies = [(lie.step, lie.answer, use.times, use.isHeard)]
        }
        switch world.ending?.result {
        case .success:
            #expect(world.store.object != nil)
            #expect(world.store.uploads.isEmpty)
        case .failure(let failure):
            #expect(use.times > 1)
            // Another time the network may be another.
            #expect(!failure.isForGood, "\(failure)")
        case nil: Issue.record("it has no end")
        }
    }

    /// Tags of stores that have the bytes; one of Google's begins with a hyphen.
    @Test(arguments: [
        "\"-CKicn4fknbUCEAE=\"", "W/\"x\"", "\"d41d8cd98f00b204e9800998ecf8427f-3\"", "0-1", "00",
    ])
    func aTagOfBytesIsBelieved(_ tag: String) {
        #expect(StoreTag.areProof(["tag": tag], ofByteCount: 1))
    }

    /// A key that may write alone: what an answer was is not guessed, and the upload stays.
    @Test func whatMayNotBeLookedAtIsNotThrownAway() throws {
        for _ in 0..<100 {
            var random = SeededRandom()
            // A fourth upload in a row that the store has forgotten is a refusal for good.
            var world = try PartsWorld(
                size: 200, isLive: Bool.random(using: &random), faults: 3, random: random)
            world.store.refusesLooks = true
            world.runOnce()
            let seed: Comment = "seed \(random.seed), \(world.made)"
            #expect(world.faults.isEmpty, seed)
            // But for one that was found empty.
            let requests = world.store.requests
            let isKept = zip(requests, requests.dropFirst()).allSatisfy {
                $1 != "abort" || ["list", "abort"].contains($0)
            }
            #expect(isKept, seed)
            if case .success? = world.ending?.result { #expect(world.store.object != nil, seed) }
        }
    }

    /// As others were known to fail at.
    @Test(arguments: [(500_000_000, 300 << 10), (200_000_000, 20_000_000)])
    func manyPartsGoThroughAWindowOfFour(_ size: Int, _ part: Int) throws {
        var world = try PartsWorld(size: size, random: SeededRandom(seed: 7)) {
            ($0.smallest, $0.largest) = (part, part)
        }
        run(&world)
        let count = (size + part - 1) / part
        #expect(world.store.requests.count { $0 == "part" } == count)
        #expect(world.store.requests.count == count + 2)
    }

    @Test func aPartIsLongEnoughForTheMostParts() throws {
        var world = try PartsWorld(size: 1_000) { $0.count = 5 }
        run(&world)
        #expect(world.store.object?.count == 5)
    }

    @Test func theTableIsReadBackAsItWasWritten() {
        var table = PartsTable()
        table.make(["upload": "u 1"])
        for count in [10, 20, 0, 5] { table.cut(count) }
        table.parts[1].tag = "\"a b\""
        table.parts[3].tag = ""
        var back = PartsTable(from: table.values)
        #expect(back.queue == [0, 2])
        back.queue = []
        #expect(back == table)
        #expect(PartsTable(from: ["parts": "x"]).stage == .none)
    }
}

@Suite struct PartsPaceTests {
    /// Sends parts for which each of `count` connections has `rate(count)` bytes a second.
    private func laneCount(after parts: Int, rate: (Int) -> Double) -> Int {
        var pace = PartsPace(limit: 4)
        for _ in 0..<parts {
            let rate = rate(pace.laneCount)
            pace.note(8_000_000, in: .seconds(8_000_000 / rate))
        }
        return pace.laneCount
    }

    @Test func connectionsAreAsManyAsHaveSomethingOfIt() {
        // Each has its own speed.
        #expect(laneCount(after: 1) { _ in 1e6 } == 2)
        #expect(laneCount(after: 30) { _ in 1e6 } == 4)
        // All share one link, or one that is as fast as two.
        #expect(laneCount(after: 30) { 1e6 / Double($0) } == 1)
        #expect(laneCount(after: 30) { min(1e6, 2e6 / Double($0)) } == 2)
    }

    @Test func aPartTakesEightSeconds() {
        var pace = PartsPace(limit: 1)
        #expect(pace.partByteCount == nil)
        pace.note(5_000_000, in: .seconds(10))
        #expect(pace.partByteCount == 4_000_000)
        #expect(pace.laneCount == 1)
    }
}
