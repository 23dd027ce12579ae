// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Downloads

@Suite struct DownloadAnswerTests {
    private static let tag = "\"a\""
    private static let rest = FileRequest(FilePart(byteCount: 40, total: 100, tag: tag))

    private func step(
        _ request: FileRequest, _ status: Int, _ fields: [String: String] = [:]
    ) -> FileRequest.Step {
        // Dates are numbers of seconds, but for one.
        request.step(status: status, headers: fields.map { (name: $0.key, value: $0.value) }) {
            $0 == Self.date ? 1_000 : Double($0)
        }
    }

    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test(
        .spec("RFC 9110 §8.8.2.2"),
        arguments: [
            (["date": "1060"], date), (["date": "99999"], date), (["date": "1059"], nil),
            (["date": "900"], nil), ([:], nil), (["date": "never"], nil),
            (["date": "1060", "etag": "\"a\""], "\"a\""),
            (["date": "1060", "etag": "W/\"a\""], date),
            (["date": "1001", "etag": "W/\"a\""], "W/\"a\""),
        ] as [([String: String], String?)])
    func aDateThatIsOldEnoughIsAsGoodAsATag(_ fields: [String: String], _ tag: String?) {
        let fields = fields.merging(["last-modified": Self.date]) { $1 }
        #expect(step(FileRequest(), 200, fields) == .take(at: 0, skipping: 0, FilePart(tag: tag)))
    }

    @Test func aPartMayBeTakenByItsDate() {
        let rest = FileRequest(FilePart(byteCount: 40, total: 100, tag: Self.date))
        let range = ["content-range": "bytes 40-99/100"]
        for fields in [range, range.merging(["last-modified": Self.date, "date": "5000"]) { $1 }] {
            #expect(step(rest, 206, fields) == .take(at: 40, skipping: 0, rest.part))
        }
        let other = range.merging(["last-modified": "2000", "date": "5000"]) { $1 }
        #expect(step(rest, 206, other) == .anew)
    }

    /// The range of an answer, behind 40 bytes of a file of 100 bytes, and how many of it are skipped.
    @Test(
        arguments: [
            ("bytes 40-99/100", 100, 0), ("bytes 40-59/100", 100, 0), ("bytes 40-99/*", 100, 0),
            ("bytes 40-59/*", 100, 0), ("bytes 40-99/*", nil, 0),
            ("bytes 30-99/100", 100, 10), ("bytes 0-99/100", nil, 40), ("bytes 39-40/*", 100, 1),
        ] as [(String, Int?, Int)])
    func aPartMayBeginEarlierOrLeaveTheTotalOut(_ range: String, _ total: Int?, _ skipped: Int) {
        let rest = FileRequest(FilePart(byteCount: 40, total: total, tag: Self.tag))
        var part = rest.part
        part.total = total ?? (range.hasSuffix("*") ? nil : 100)
        #expect(
            step(rest, 206, ["content-range": range, "etag": Self.tag])
                == .take(at: 40, skipping: skipped, part))
    }

    @Test func aWholeFileOfTheSameTagIsGoneOnWith() {
        let fields = ["content-length": "100", "etag": Self.tag]
        #expect(step(Self.rest, 200, fields) == .take(at: 40, skipping: 40, Self.rest.part))
        #expect(
            step(Self.rest, 200, ["etag": Self.tag]) == .take(at: 40, skipping: 40, Self.rest.part))
        let range = FileRequest(FilePart(byteCount: 5, total: 50, tag: Self.tag), of: 100..<150)
        #expect(
            step(range, 200, ["content-length": "400", "etag": Self.tag])
                == .take(at: 5, skipping: 105, range.part))
        let longer = step(Self.rest, 200, ["content-length": "101", "etag": Self.tag])
        #expect(longer == .take(at: 0, skipping: 0, FilePart(total: 101, tag: Self.tag)))
    }

    @Test func aCodingIsUndoneUnlessItIsTheFiles() {
        let fields = ["content-encoding": "gzip", "content-length": "9", "etag": Self.tag]
        #expect(step(FileRequest(), 200, fields) == .take(at: 0, skipping: 0, FilePart()))
        let own = step(FileRequest(keepsCoding: true), 200, fields)
        #expect(own == .take(at: 0, skipping: 0, FilePart(total: 9, tag: Self.tag)))
        let part = fields.merging(["content-range": "bytes 40-99/100"]) { $1 }
        #expect(step(Self.rest, 206, part) == .anew)
    }

    @Test func aPartIsAskedForWithItsTagAlone() {
        let fields = Self.rest.fields.map { "\($0.name): \($0.value)" }
        #expect(
            fields == ["Accept-Encoding: identity", "Range: bytes=40-", "If-Range: \"a\""])
        let untagged = FileRequest(FilePart(byteCount: 40, total: 100))
        #expect(untagged.fields.map(\.name) == ["Accept-Encoding"])
        let dated = FileRequest(FilePart(byteCount: 40, tag: Self.date)).fields.last
        #expect(dated?.name == "If-Range" && dated?.value == Self.date)
        let range = FileRequest(FilePart(byteCount: 5, total: 50, tag: Self.tag), of: 100..<150)
        #expect(range.fields[1].value == "bytes=105-149")
        #expect(FileRequest(knownTag: "\"b\"").fields.last?.value == "\"b\"")
        #expect(FileRequest(knownTag: "\"b\"").fields.last?.name == "If-None-Match")
        #expect(FileRequest(knownTag: Self.date).fields.last?.name == "If-Modified-Since")
    }

    @Test(arguments: [
        ["content-range": "bytes 41-99/100", "etag": "\"a\""],
        ["content-range": "bytes 0-39/100", "etag": "\"a\""],
        ["content-range": "bytes 40-119/120", "etag": "\"a\""],
        ["content-range": "bytes 40-99/100", "etag": "\"b\""],
        ["content-range": "bytes 40-99/100", "etag": "W/\"a\""],
        ["content-range": "bytes 40-99/100"], ["content-range": "bytes 40-99/*"],
        ["content-range": "bytes 99-40/100"],
        ["content-range": "bytes 40-100/100"], ["content-range": "items 40-99/100"], [:],
    ])
    func aPartThatDoesNotFitBeginsAnew(_ fields: [String: String]) {
        #expect(step(Self.rest, 206, fields) == .anew)
    }

    @Test func aWholeFileBeginsAnew() {
        let found = step(Self.rest, 200, ["content-length": "120", "etag": "\"b\""])
        #expect(found == .take(at: 0, skipping: 0, FilePart(total: 120, tag: "\"b\"")))
        let weak = step(FileRequest(), 200, ["content-length": "120", "etag": "W/\"b\""])
        #expect(weak == .take(at: 0, skipping: 0, FilePart(total: 120, tag: "W/\"b\"")))
        // It shows that a copy is the same, and not that a part belongs to it.
        let part = FileRequest(FilePart(byteCount: 40, total: 120, tag: "W/\"b\""))
        #expect(part.fields.count == 1)
        #expect(step(FileRequest(), 200) == .take(at: 0, skipping: 0, FilePart()))
    }

    @Test func aStatus200WithAPartIsTakenForWhatItSays() {
        let fields = ["content-range": "bytes 40-99/100", "content-length": "60"]
        #expect(step(Self.rest, 200, fields) == .anew)
        let tagged = step(Self.rest, 200, fields.merging(["etag": Self.tag]) { $1 })
        #expect(tagged == .take(at: 40, skipping: 0, Self.rest.part))
        let unasked = step(FileRequest(), 200, fields)
        #expect(unasked == .unusable("it answers with a part that was not asked for"))
        let whole = step(FileRequest(), 200, ["content-range": "bytes 0-99/100"])
        #expect(whole == .take(at: 0, skipping: 0, FilePart(total: 100)))
    }

    @Test func aRangeThatIsNotKeptIsCutOutOfTheWhole() {
        let request = FileRequest(of: 100..<150)
        let whole = step(request, 200, ["content-length": "1000"])
        #expect(whole == .take(at: 0, skipping: 100, FilePart(total: 50)))
        let part = step(request, 206, ["content-range": "bytes 100-149/1000"])
        #expect(part == .take(at: 0, skipping: 0, FilePart(total: 50)))
        #expect(
            step(request, 200, ["content-length": "149"])
                == .unusable("its file ends before the range"))
        #expect(
            step(request, 206, ["content-range": "bytes 0-49/1000"])
                == .unusable("it answers with a part that was not asked for"))
        #expect(
            step(request, 206, ["content-range": "bytes 100-119/120"])
                == .unusable("its file ends before the range"))
    }

    @Test func aRangeBehindTheEndIsTheWholeOrAnotherFile() {
        let complete = FileRequest(FilePart(byteCount: 100, tag: Self.tag))
        #expect(step(complete, 416, ["content-range": "bytes */100"]) == .whole)
        #expect(step(complete, 416, ["content-range": "bytes */99"]) == .anew)
        // It has never said how long the file is.
        #expect(step(complete, 416) == .whole)
        let known = FileRequest(FilePart(byteCount: 100, total: 120, tag: Self.tag))
        #expect(step(known, 416) == .anew)
        #expect(
            step(complete, 416, ["content-range": "bytes */100", "etag": "\"b\""]) == .anew)
        #expect(step(FileRequest(), 416) == .refused(status: 416))
    }

    @Test func otherAnswersAreToldApart() {
        #expect(step(FileRequest(knownTag: Self.tag), 304) == .unchanged)
        #expect(step(FileRequest(), 304) == .unusable("it answers 304, unasked"))
        #expect(step(FileRequest(), 302, ["location": "/b"]) == .moved(to: "/b"))
        for status in [408, 425, 429, 500, 503] {
            #expect(step(FileRequest(), status) == .busy(status: status))
        }
        for status in [204, 401, 403, 404, 410] {
            #expect(step(FileRequest(), status) == .refused(status: status))
        }
    }
}
