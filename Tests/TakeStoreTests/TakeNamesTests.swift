// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import TakeStore

@Suite struct TakeNamesTests {
    private func ids(_ texts: String...) throws -> [TakeID] {
        try texts.map { try #require(TakeID($0)) }
    }

    @Test(
        arguments: [
            ("20261121-052233-k3f9q2m7x4tz", 0), ("20261121", nil), ("20261121-052233", 0),
            ("k3f9", 0), ("K3F9", 0), ("x4tz", 0), ("q2m7", 0), ("052234", 1), ("aaaa", 1),
            ("zzz", -1),
            ("", -1), ("last", -1),
        ] as [(String, Int?)])
    func anyPartOfANameWillDo(_ part: String, _ index: Int?) throws {
        let ids = try ids("20261121-052233-k3f9q2m7x4tz", "20261121-052234-aaaaaaaaaaaa")
        let found = TakeNames(ids).matches(part)
        switch index {
        case nil: #expect(found == ids)
        case -1: #expect(found.isEmpty)
        case let index?: #expect(found == [ids[index]])
        }
    }

    @Test func aBeginningGoesBeforeAMiddle() throws {
        let ids = try ids("20261121-052233-k3f9q2m7x4tz", "20261121-052234-aak3f9aaaaaa")
        #expect(TakeNames(ids).matches("k3f9") == [ids[0]])
        #expect(TakeNames(ids).matches("3f9") == ids)
    }

    @Test func shortNamesAreAsLongAsNeedBe() throws {
        let ids = try ids(
            "20261121-052233-k3f9q2m7x4tz", "20261121-052234-k3f9qaaaaaaa",
            "20261121-052235-202612345678", "20261121-052236-bbbbbbbbbbbb")
        let names = TakeNames(ids).shortNames
        #expect(ids.map { names[$0] } == ["k3f9q2", "k3f9qa", "202612", "bbbb"])
    }

    @Test func aHintNamesATakeByItsFirstLetters() throws {
        let ids = try ids(
            "20261121-052233-k3f9q2m7x4tz", "20261121-052235-2026123456ab",
            "20261121-052235-123456789012")
        #expect(ids.map(\.shortName) == ["k3f9q2", "2026123456a", "123456789012"])
    }

    @Test func everyShortNameMeansItsTakeAlone() throws {
        var generator = SeededRandom(seed: 7)
        let ids = (0..<2_000).map { _ in
            let second = 1_795_238_553 + Double.random(in: 0...86_400, using: &generator)
            return TakeID(at: Date(timeIntervalSince1970: second), using: &generator)
        }
        let all = TakeNames(ids)
        for (id, name) in all.shortNames {
            #expect(all.matches(name) == [id])
            #expect((4...6).contains(name.count))
            #expect(all.matches(id.shortName) == [id])
        }
    }

    @Test(
        arguments: [
            ("last", 0), ("last~0", 0), ("last~2", 2), ("last~", nil), ("last~-1", nil),
            ("last2", nil), ("~1", 1), ("~", nil), ("~-1", nil), ("~k3", nil),
        ] as [(String, Int?)])
    func theLastButSomeCanBeNamed(_ name: String, _ steps: Int?) {
        #expect(TakeNames.stepsBack(name) == steps)
    }
}
