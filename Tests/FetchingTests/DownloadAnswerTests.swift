// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Fetching

@Suite struct DownloadAnswerTests {
    private static let tag = "\"a\""
    private static let rest = FileRequest(FilePart(byteCount: 40, total: 100, tag: tag))

    private func step(
        _ request: FileRequest, _ status: Int, _ fields: [String: String] = [:]
    ) -> FileRequest.Step {
        request.step(status: status, headers: fields.map { (name: $0.key, value: $0.value) })
    }

    @Test func aPartIsAskedForWithItsTagAlone() {
        let fields = Self.rest.fields.map { "\($0.name): \($0.value)" }
        #expect(
            fields == ["Accept-Encoding: identity", "Range: bytes=40-", "If-Range: \"a\""])
        let untagged = FileRequest(FilePart(byteCount: 40, total: 100))
        #expect(untagged.fields.map(\.name) == ["Accept-Encoding"])
        let range = FileRequest(FilePart(byteCount: 5, total: 50, tag: Self.tag), of: 100..<150)
        #expect(range.fields[1].value == "bytes=105-149")
        #expect(FileRequest(knownTag: "\"b\"").fields.last?.value == "\"b\"")
    }

    @Test func aPartThatFitsIsAppended() {
        let found = step(Self.rest, 206, ["content-range": "bytes 40-99/100", "etag": Self.tag])
        #expect(found == .take(at: 40, skipping: 0, Self.rest.part))
        // Only some of it: the rest is asked for again.
        let some = step(Self.rest, 206, ["content-range": "bytes 40-59/100", "etag": Self.tag])
        #expect(some == .take(at: 40, skipping: 0, Self.rest.part))
    }

    @Test(arguments: [
        ["content-range": "bytes 41-99/100", "etag": "\"a\""],
        ["content-range": "bytes 0-99/100", "etag": "\"a\""],
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
        #expect(step(complete, 416) == .anew)
        #expect(
            step(complete, 416, ["content-range": "bytes */100", "etag": "\"b\""]) == .anew)
        #expect(step(FileRequest(), 416) == .refused(status: 416))
    }

    @Test func otherAnswersAreToldApart() {
        #expect(step(FileRequest(knownTag: Self.tag), 304) == .unchanged)
        #expect(step(FileRequest(), 304) == .unusable("it answers 304, unasked"))
        #expect(step(FileRequest(), 302, ["location": "/b"]) == .moved(to: "/b"))
        for status in [408, 425, 429, 500, 503] {
            #expect(step(FileRequest(), status) == .busy(status: status, after: nil))
        }
        for status in [204, 401, 403, 404, 410] {
            #expect(step(FileRequest(), status) == .refused(status: status))
        }
        #expect(
            step(FileRequest(), 200, ["content-encoding": "gzip"])
                == .unusable("it comes in the encoding 'gzip', unasked"))
    }

    @Test func whatAServerSaysOfTheNextTryCounts() {
        let found = FileRequest().step(status: 503, headers: [(name: "retry-after", value: "7")])
        #expect(found == .busy(status: 503, after: 7))
        let date = FileRequest().step(
            status: 429, headers: [(name: "retry-after", value: "Wed, 25 Nov 2026 09:00:00 GMT")])
        #expect(date == .busy(status: 429, after: nil))
    }
}
