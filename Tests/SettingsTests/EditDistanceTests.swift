// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings

@Suite struct EditDistanceTests {
    @Test(arguments: [
        ("", "", 0), ("", "abc", 3), ("list", "list", 0), ("lst", "list", 1), ("ilst", "list", 1),
        ("lsit", "list", 1), ("url", "for", 3), ("kitten", "sitting", 3), ("ca", "abc", 3),
    ])
    func theDistanceIsThatOfTheFewestSlips(_ one: String, _ other: String, _ distance: Int) {
        #expect(EditDistance.between(one, other) == distance)
        #expect(EditDistance.between(other, one) == distance)
    }

    @Test(arguments: [
        ("url", nil), ("fro", "for"), ("answer-timeot", "answer-timeout"), ("x", nil), ("t", nil),
        ("conn", "connect-timeout"), ("", nil), ("ot", "to"),
    ])
    func onlyWhatIsNearIsMeant(_ typed: String, _ meant: String?) {
        let words = ["for", "to", "answer-timeout", "connect-timeout"]
        #expect(EditDistance.nearest(to: typed, among: words) == meant)
    }
}
