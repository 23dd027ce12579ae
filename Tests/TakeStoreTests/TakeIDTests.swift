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

    @Test func aSmallNumberHasTwoDigits() {
        var random = SeededRandom(seed: 1)
        let id = TakeID(at: Date(timeIntervalSince1970: 1_767_323_045), using: &random)
        #expect(id.text.hasPrefix("20260102-030405-"))
    }

    @Test(arguments: [0, 1_795_238_553, 1_767_323_045, 1_709_164_800, 4_102_444_799])
    func aNameSaysWhenTheTakeBegan(seconds: Int) {
        var random = SeededRandom(seed: 1)
        let date = Date(timeIntervalSince1970: TimeInterval(seconds))
        #expect(TakeID(at: date + 0.75, using: &random).date == date)
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
