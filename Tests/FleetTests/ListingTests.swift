// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TakeStore
import TestSupport
import Testing

@testable import Fleet

struct ListingTests {
    private static let head = #"<?xml version="1.0"?><ListBucketResult xmlns="x"><Name>b</Name>"#

    private func page(_ text: String) -> ListingPage? {
        ListingPage(Array((Self.head + text + "</ListBucketResult>").utf8))
    }

    @Test func objectsAreReadWithTheirLettersPutBack() throws {
        let read = page(
            """
            <Contents><Key>a &amp; b/&lt;ü&gt;&#x41;&#66;&quot;&bad;&.wav</Key><Size>12</Size>
            <ETag>&quot;9f&quot;</ETag><LastModified>2026-11-21T05:22:33.000Z</LastModified>
            </Contents><IsTruncated>true</IsTruncated>
            """)
        let page = try #require(read)
        #expect(page.objects.map(\.key) == ["a & b/<ü>AB\"&bad;&.wav"])
        #expect(page.objects.first?.byteCount == 12)
        #expect(page.objects.first?.tag == "\"9f\"")
        #expect(!page.isLast)
    }

    @Test func aForeignDocumentIsNotAListing() {
        for text in ["", "<html></html>", "<ListBucketResult>", "{}"] {
            #expect(ListingPage(Array(text.utf8)) == nil)
        }
        #expect(page("<Contents><Size>1</Size></Contents><Contents>")?.objects == [])
    }

    private func id(_ number: Int) throws -> TakeID {
        try #require(TakeID("20261121-05\(1_000 + number)-k3f9q2m7x4tz"))
    }

    private func findings(_ takes: [Int], _ marks: [Int]) throws -> [ListingMerge.Finding] {
        var merge = ListingMerge()
        var rest = try marks.map(id)[...]
        return try takes.map { take in try merge.finding(of: id(take)) { rest.popFirst() } }
    }

    @Test func takesWithoutAMarkAreFound() throws {
        #expect(
            try findings([1, 2, 4, 5, 9], [0, 2, 3, 5])
                == [.open, .marked, .open, .marked, .open])
        #expect(try findings([1, 2], []) == [.open, .open])
        #expect(try findings([], [1]) == [])
    }

    @Test func aListingThatIsNotInOrderIsNeverBelieved() throws {
        #expect(try findings([3, 1, 4], [3, 4]) == [.marked, .unsure, .marked])
        // The mark of the first comes behind that of the second.
        #expect(try findings([2, 5, 6], [5, 2, 7]) == [.open, .marked, .unsure])
    }

    @Test func itSaysTheSameAsSets() throws {
        var random = SeededRandom()
        for _ in 0..<200 {
            let takes = (0..<60).filter { _ in Bool.random(using: &random) }
            let marks = (0..<60).filter { _ in Bool.random(using: &random) }
            let expected = takes.map { marks.contains($0) ? ListingMerge.Finding.marked : .open }
            #expect(try findings(takes, marks) == expected)
        }
    }

    @Test func namesAreTheSameEachTimeAndThoseOfTakes() throws {
        let made = Submission.name(at: .init(timeIntervalSince1970: 1e9), of: [1])
        let one = try #require(made)
        #expect(one.text.hasPrefix("20010909-014640-"))
        #expect(Submission.name(at: .init(timeIntervalSince1970: 1e9), of: [1]) == one)
        #expect(Submission.name(at: .init(timeIntervalSince1970: 1e9), of: [2]) != one)
        #expect(FleetLayout.take(ofManifest: FleetLayout.manifest(of: one)) == one)
        #expect(FleetLayout.take(ofMark: FleetLayout.mark(of: one)) == one)
    }
}
