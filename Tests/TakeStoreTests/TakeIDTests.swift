// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import TakeStore

@Suite struct TakeIDTests {
    @Test func aNameIsTheTimeAnd50RandomBits() {
        var random = SeededRandom(seed: 1)
        let date = Date(timeIntervalSince1970: 1_795_238_553)
        let id = TakeID(at: date, using: &random)
        #expect(id.text.hasPrefix("20261121-052233-"))
        #expect(id.text.count == 28)
        #expect(TakeID(id.text) == id)
        #expect(TakeID(at: date, using: &random) != id)
    }

    @Test func namesOfOneSecondAreInTheOrderOfTheirMoments() {
        var random = SeededRandom(seed: 1)
        let names = (0..<500).map { number in
            let seconds = 1_795_238_553 + Double(number) / 500
            return TakeID(at: Date(timeIntervalSince1970: seconds), using: &random).text
        }
        #expect(names == names.sorted())
        #expect(names.allSatisfy { $0.hasPrefix("20261121-052233-") })
    }

    @Test(arguments: [0, 0.0001, -1, -315_576_000])
    func aNameStandsBehindTheNewestWhateverTheClockSays(_ step: Double) throws {
        var random = SeededRandom(seed: 1)
        let date = Date(timeIntervalSince1970: 1_795_238_553.9995)
        var newest = TakeID(at: date, using: &random)
        for _ in 0..<2_000 {
            let next = TakeID(at: date + step, after: newest, using: &random)
            #expect(next.text > newest.text && TakeID(next.text) == next)
            newest = next
        }
        #expect(newest.text.hasPrefix("20261121-052235-"))
        // It is the clock's again, as soon as that is ahead.
        let later = TakeID(at: date + 9, after: newest, using: &random)
        #expect(later.text.hasPrefix("20261121-052242-"))
    }

    @Test(arguments: ["20260231-000000-k3f9q2m7x4tz", "99991231-235959-zzzzzzzzzzzz"])
    func aNameThatIsOfNoUseIsNoReasonToWait(_ newest: String) throws {
        var random = SeededRandom(seed: 1)
        let date = Date(timeIntervalSince1970: 1_795_238_553)
        let last = try #require(TakeID(newest))
        let id = TakeID(at: date, after: last, using: &random)
        #expect(id.text.hasPrefix("20261121-052233-"))
    }

    @Test(arguments: [
        (0, "19700101-000000-"), (1_795_238_553, "20261121-052233-"),
        (1_767_323_045, "20260102-030405-"), (1_709_164_800, "20240229-000000-"),
        (4_102_444_799, "20991231-235959-"),
    ])
    func aNameSaysWhenTheTakeBegan(seconds: Int, text: String) {
        var random = SeededRandom(seed: 1)
        let date = Date(timeIntervalSince1970: TimeInterval(seconds))
        let id = TakeID(at: date + 0.75, using: &random)
        #expect(id.date == date)
        #expect(id.text.hasPrefix(text))
    }

    @Test(arguments: ["20260231-000000", "20261301-000000", "20260101-240000", "99999999-999999"])
    func aNameThatOnlyLooksLikeATimeHasNone(moment: String) throws {
        #expect(try #require(TakeID(moment + "-k3f9q2m7x4tz")).date == nil)
    }

    @Test func theRandomPartIsMadeOf32Letters() {
        var random = SeededRandom(seed: 2)
        var letters = Set<Character>()
        for _ in 0..<200 {
            letters.formUnion(TakeID(at: Date(), using: &random).text.suffix(12))
        }
        #expect(String(letters.sorted()) == "0123456789abcdefghjkmnpqrstvwxyz")
    }

    @Test(arguments: [
        "", ".", "..", "/", "last", "notes", "20261121-052233-k3f9q2m7x4t",
        "20261121-052233-k3f9q2m7x4tz0", "20261121-052233-k3f9q2m7x4tz-copy",
        "20261121-052233-K3F9Q2M7X4TZ", "20261121-052233-k3f9q2m7x4t/",
        "2026112a-052233-k3f9q2m7x4tz",
        "20261121_052233_k3f9q2m7x4tz", "20261121-052233-k3f9q2m7x4té",
        "20261121--052233k3f9q2m7x4tz",
    ])
    func whatCannotBeANameIsNone(text: String) {
        #expect(TakeID(text) == nil)
    }

    @Test func aNameIsAJSONString() throws {
        let text = "20261121-052233-k3f9q2m7x4tz"
        let id = try #require(TakeID(text))
        let bytes = try JSONEncoder().encode([id])
        #expect(String(decoding: bytes, as: UTF8.self) == "[\"\(text)\"]")
        #expect(try JSONDecoder().decode([TakeID].self, from: bytes) == [id])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([TakeID].self, from: Data("[\"../..\"]".utf8))
        }
    }
}

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
