// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Upload

@Suite struct ResponseHeadTests {
    private static let tooLong = ResponseHead.Step.unusable(
        reason: "the response's head is longer than 256 KiB or 200 lines")

    /// Feeds lines and returns what each did.
    private func steps(
        of lines: [String], into head: inout ResponseHead
    ) -> [ResponseHead.Step] {
        var steps: [ResponseHead.Step] = []
        for line in lines { steps.append(head.accumulate(line + "\r\n")) }
        return steps
    }

    @Test func theBlankLineCompletesTheHead() {
        var head = ResponseHead()
        let steps = steps(
            of: ["HTTP/1.1 200 OK", "Content-Type:  text/plain ", "X-Empty:", ""], into: &head)
        #expect(steps == [.goesOn, .goesOn, .goesOn, .complete(status: 200)])
        #expect(head.isComplete)
        #expect(head.status == 200)
        #expect(head.header("content-type") == "text/plain")
        #expect(head.header("x-empty") == "")
        #expect(head.header("missing") == nil)
    }

    @Test(.spec("RFC 9110 §15.2")) func interimResponsesAreSkippedWithTheirFields() {
        var head = ResponseHead()
        let steps = steps(
            of: [
                "HTTP/1.1 100 Continue", "", "HTTP/1.1 103 Early Hints", "Link: </x>", "",
                "HTTP/1.1 401 Unauthorized", "WWW-Authenticate: Bearer", "",
            ], into: &head)
        let ends: [ResponseHead.Step] = [
            .interim(status: 100), .interim(status: 103), .complete(status: 401),
        ]
        #expect(steps.filter { $0 != .goesOn } == ends)
        #expect(steps.last == ends.last)
        #expect(head.status == 401)
        #expect(head.headers.map(\.name) == ["www-authenticate"])
    }

    @Test func whatAProxySaidBeforeIsForgotten() {
        var head = ResponseHead()
        _ = steps(
            of: ["HTTP/1.1 100 Continue", "Via: proxy", "", "HTTP/1.0 503 Busy", "A: b", ""],
            into: &head)
        #expect(head.status == 503)
        #expect(head.headers.map(\.name) == ["a"])
    }

    @Test(.spec("RFC 9110 §6.5")) func trailersChangeNothing() {
        var head = ResponseHead()
        _ = steps(of: ["HTTP/1.1 200 OK", "A: b", ""], into: &head)
        let later = steps(
            of: ["Content-Type: text/evil", "", "HTTP/1.1 500 Broken", "X: y", ""], into: &head)
        #expect(later == [.goesOn, .goesOn, .goesOn, .goesOn, .goesOn])
        #expect(head.isComplete)
        #expect(head.status == 200)
        #expect(head.headers.map(\.name) == ["a"])
    }

    @Test func aHeadOfTooManyLinesIsRefused() {
        var head = ResponseHead()
        let lines = (0..<ResponseHead.lineLimit).map { "X-\($0): y" }
        let steps = steps(of: ["HTTP/1.1 200 OK"] + lines, into: &head)
        #expect(steps.firstIndex(of: Self.tooLong) == ResponseHead.lineLimit)
    }

    @Test func interimResponsesCountTowardsTheLimit() {
        var head = ResponseHead()
        let storm = (0..<150).flatMap { _ in ["HTTP/1.1 102 Processing", ""] }
        #expect(steps(of: storm, into: &head).contains(Self.tooLong))
    }

    @Test func trailersCountTowardsTheLimit() {
        var head = ResponseHead()
        let trailers = (0..<300).map { "T\($0): x" }
        #expect(steps(of: ["HTTP/1.1 200 OK", ""] + trailers, into: &head).contains(Self.tooLong))
    }

    @Test func aHeadOfTooManyBytesIsRefused() {
        var head = ResponseHead()
        let line = "X: " + String(repeating: "y", count: ResponseHead.byteLimit / 4)
        #expect(
            steps(of: ["HTTP/1.1 200 OK", line, line, line, line], into: &head).last
                == Self.tooLong)
    }

    @Test(arguments: ["HTTP/1.1 abc", "HTTP/1.1", "HTTP/", "HTTP/1.1 2 0 0"])
    func aHeadWithoutAFinalStatusIsNeverComplete(_ line: String) {
        var head = ResponseHead()
        #expect(steps(of: [line, ""], into: &head) == [.goesOn, .goesOn])
        #expect(!head.isComplete)
    }

    @Test func linesWithoutAColonAreSkipped() {
        var head = ResponseHead()
        _ = steps(of: ["HTTP/1.1 200 OK", "no colon", "A: b:c", ""], into: &head)
        #expect(head.headers.map(\.value) == ["b:c"])
    }

    @Test func theFirstFieldOfANameCounts() {
        var head = ResponseHead()
        _ = steps(of: ["HTTP/2 307", "Location: /a", "LOCATION: /b", ""], into: &head)
        #expect(head.status == 307)
        #expect(head.header("location") == "/a")
    }
}
