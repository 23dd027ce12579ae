// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import LinuxPlatform
import TakeStore
import TestSupport
import Testing
import Utter

@testable import Fleet

/// A store whose server answers as a test wants.
private final class StoreBench: Sendable {
    let store: ObjectStore
    let server: RecordingServer
    let numbers = FleetNumbers()
    private let folder: TemporaryFolder

    init(_ answer: @escaping @Sendable (RecordedRequest) -> ServerAnswer) throws {
        folder = try TemporaryFolder()
        server = try RecordingServer(
            otherwise: [.readHead, .readBodyToEnd, .respondBy(answer)])
        try folder.write(
            Array("extends = 's3'\nurl = '\(server.url())b/{key}'\n".utf8), to: "s3.toml")
        let service = try Service(
            folder.path("s3.toml"), words: ["bucket": "b", "key": "fleet/mark"])
        let opened = try ObjectLink(service.delivery) { _ in "secret" }
        store = ObjectStore(try #require(opened), prefix: "fleet", numbers: numbers)
    }

    deinit { store.link.shutDown() }

    /// A store that gives these answers, one after the other, and then stores.
    convenience init(_ answers: [ServerAnswer]) throws {
        let rest = Observed(answers[...])
        try self.init { _ in rest.update { $0.popFirst() } ?? .stored }
    }

    /// A store in memory that lists these objects, and takes others.
    convenience init(listing objects: [String: String], into written: Observed<[String: String]>)
        throws
    {
        try self.init { request in
            let target = request.target.split(separator: "?", maxSplits: 1)
            let key = String(target[0].dropFirst("/b/fleet/".count))
            if request.method == "PUT" {
                let text = String(decoding: request.body, as: UTF8.self)
                written.update { $0[key] = text }
                return .stored
            }
            guard target.count > 1 else {
                return objects[key].map { ServerAnswer(status: 200, text: $0) }
                    ?? ServerAnswer(status: 404, text: "")
            }
            let prefix = target[1].replacing("%2F", with: "/").split(separator: "prefix=fleet/")
                .last
            let keys = objects.keys.filter { key in prefix.map { key.hasPrefix($0) } ?? false }
            let contents = keys.sorted().map { "<Contents><Key>fleet/\($0)</Key></Contents>" }
            return ServerAnswer(
                status: 200, text: "<ListBucketResult>\(contents.joined())</ListBucketResult>")
        }
    }

    /// Asks the store, whose calls block, on a thread of its own.
    func ask<Value: Sendable>(
        _ body: @escaping @Sendable (ObjectStore) throws -> Value
    ) async throws -> Value {
        try await onOwnThread { [store] in Result { try body(store) } }.get()
    }

    func put(_ key: String) async throws -> Bool {
        try await ask { try $0.put(key, [1], if: .absent) }
    }

    /// Why the store gives no object.
    func failure(limit: Int = 16 << 20) async -> StoreFailure? {
        await #expect(throws: StoreFailure.self) {
            _ = try await self.ask { try $0.get("takes/a.wav", limit: limit)?.tag }
        }
    }
}

/// A store that is busy, lies, or does not know conditions.
@Suite struct ObjectStoreTests {
    @Test func aBusyStoreIsAskedAgain() async throws {
        let bench = try StoreBench([
            ServerAnswer(status: 503, text: ""), ServerAnswer(status: 409, text: ""), .stored,
        ])
        #expect(try await bench.put("results/a"))
        #expect(bench.server.requests.count == 3)
        #expect(bench.server.requests.allSatisfy { $0.target == "/b/fleet/results/a" })
        #expect(bench.numbers[.storeErrors] == 2)
    }

    @Test func aConditionThatDoesNotHoldIsSaid() async throws {
        let bench = try StoreBench([ServerAnswer(status: 412, text: "")])
        #expect(try await !bench.put("a"))
        #expect(bench.server.requests.count == 1)
    }

    @Test(arguments: [200, 501])
    func aStoreThatDoesNotHeedConditionsIsRefused(_ status: Int) async throws {
        let bench = try StoreBench { request in
            let isConditional = request.headers.contains {
                $0.name.lowercased().hasPrefix("if-")
            }
            return isConditional && status != 200
                ? ServerAnswer(status: status, text: "") : .stored
        }
        let refusal = await #expect(throws: StoreFailure.self) {
            _ = try await bench.ask { try $0.probe(isOptional: false) }
        }
        #expect(refusal?.isLasting == true)
        let heeds = try await bench.ask { try $0.probe(isOptional: true) }
        #expect(!heeds)
        // A look stands for the condition from then on.
        let before = bench.server.requests.count
        #expect(try await !bench.put("a"))
        #expect(bench.server.requests.dropFirst(before).map(\.method) == ["GET"])
    }

    @Test func aListingThatLeavesThePrefixOrDoesNotGoOnIsNotFollowed() async throws {
        let keys = ["fleet/takes/a", "other/takes/b", "fleet/results/c", "../x", "fleet/takes/"]
        let contents = keys.map { "<Contents><Key>\($0)</Key><Size>1</Size></Contents>" }.joined()
        let bench = try StoreBench { _ in
            ServerAnswer(
                status: 200,
                text: "<ListBucketResult>\(contents)<IsTruncated>true</IsTruncated>"
                    + "</ListBucketResult>")
        }
        let found = try await bench.ask { store in
            var reader = ListingReader(store, "takes/")
            var keys: [String] = []
            while let object = try reader.next() { keys.append(object.key) }
            return keys
        }
        #expect(found == ["takes/a", "takes/"])
        #expect(bench.server.requests.count == 2)
    }

    @Test func textsThatAWorkerHasNotWrittenAreWritten() async throws {
        let ids = (0..<6).map { "20261121-05223\($0)-k3f9q2m7x4tz" }
        func mark(_ number: Int, _ more: String) -> String {
            #"{"version":1,"id":"\#(ids[number])","finished":"x",\#(more)}"#
        }
        let words = #""words":[{"text":"well","start":0,"end":1}]"#
        let timed = #""outcome":"text","text":"well",\#(words)"#
        var objects = [
            "results/\(ids[0]).json": mark(0, #""outcome":"text","text":"well said""#),
            "results/\(ids[1]).json": mark(1, timed), "results/\(ids[1]).srt": "",
            "results/\(ids[2]).json": mark(2, timed), "results/\(ids[2]).txt": "",
            "results/\(ids[2]).vtt": "",
            "results/\(ids[3]).json": mark(3, #""outcome":"death""#),
            "results/\(ids[4]).json": "no mark", "dead/\(ids[3]).json": "",
        ]
        for ending in ["json", "srt", "txt", "vtt"] {
            objects["results/\(ids[5]).\(ending)"] = mark(5, timed)
        }
        let written = Observed<[String: String]>([:])
        let bench = try StoreBench(listing: objects, into: written)
        let count = try await bench.ask { try $0.putMissingTexts { false } }
        #expect(count == 3)
        let texts = written.look { $0 }
        #expect(texts["results/\(ids[0]).txt"] == "well said\n")
        #expect(texts.keys.filter { $0.contains(ids[0]) }.count == 1)
        #expect(texts["results/\(ids[1]).txt"] == "well\n")
        #expect(texts["results/\(ids[1]).vtt"]?.contains("WEBVTT") == true)
        #expect(texts["results/\(ids[2]).srt"]?.contains("well") == true)
        #expect(!texts.keys.contains { key in ids[3...].contains { key.contains($0) } })
    }

    @Test func aDayInAnotherFormIsSaid() async throws {
        let id = "20261121-052233-k3f9q2m7x4tz"
        let places = ["20261121/", "2026/11/21/", "", "2026-11-21/"]
        let keys = places.map { ("takes/\($0)\(id).json", "") }
        let others = ["takes/notes.json": "", "takes/20261121/\(id).wav": ""]
        let objects = Dictionary(uniqueKeysWithValues: keys).merging(others) { $1 }
        let bench = try StoreBench(listing: objects, into: Observed([:]))
        let found = try await bench.ask { try $0.eachTake { _, _, _ in true } }
        #expect(
            found?.hasPrefix("passed over 3 manifests: 'takes/2026/11/21/\(id).json'") == true,
            "\(found ?? "")")
    }

    /// The store's other refusals are those of a worker, or pass.
    @Test(arguments: [400, 403, 405, 410, 416, 451, 301, 501])
    func whatTheStoreRefusesOfOneObjectIsToldApart(_ status: Int) async throws {
        let bench = try StoreBench { _ in ServerAnswer(status: status, text: "") }
        #expect(await bench.failure()?.isRefusal == (400..<500).contains(status))
    }

    /// It is the machine's fault, not the take's, and passes.
    @Test func aStoreThatFindsTheClockWrongSaysSo() async throws {
        let bench = try StoreBench { _ in
            ServerAnswer(
                status: 403, headers: [HeaderField("Content-Type", "application/xml")],
                text: "<Error><Code>RequestTimeTooSkewed</Code></Error>")
        }
        let failure = await bench.failure()
        #expect(failure?.reason.hasSuffix("; this machine's clock is wrong") == true)
        #expect(failure?.isLasting == false && failure?.isRefusal == false)
    }

    @Test func anObjectThatIsTooLongIsNotTaken() async throws {
        let long = String(repeating: "x", count: 100_000)
        let bench = try StoreBench { _ in ServerAnswer(status: 200, text: long) }
        #expect(await bench.failure(limit: 65_536)?.isTooLong == true)
        #expect(bench.server.requests.count == 1)
    }
}

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

    private func findings(_ takes: [Int], _ marks: [Int]) throws -> [ListingMerge.MarkState] {
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
            let expected = takes.map { marks.contains($0) ? ListingMerge.MarkState.marked : .open }
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

extension ServerAnswer {
    /// Stores prove by the tag that they have something.
    fileprivate static let stored = ServerAnswer(
        status: 200, headers: [HeaderField("ETag", "\"1\"")], text: "")
}
