// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Upload

/// What a response makes of the end of its transfer, without a connection.
@Suite struct TransferResponseTests {
    private static let lost = TransferResult.Ending.connectionLost("reset")

    private func response(
        _ head: String..., body: Int = 0, to url: String = "http://a/"
    ) -> TransferResponse {
        var response = TransferResponse(to: url, limit: 1_000)
        for line in head + [""] { _ = response.take(headerLine: line + "\r\n") }
        _ = response.take(bodyByteCount: body)
        return response
    }

    @Test func aRefusalIsAnAnswerHoweverItsBodyEnds() {
        let refusal = response("HTTP/1.1 503 Busy", "Content-Length: 9", body: 2)
        #expect(refusal.isRefusal)
        for own in [nil, TransferResult.Ending.timedOut(.answer)] {
            #expect(refusal.ending(own: own, failure: Self.lost) == .answered)
        }
        #expect(refusal.ending(own: .cancelled, failure: nil) == .cancelled)
        let unreadable = TransferResult.Ending.journalUnreadable("gone")
        #expect(refusal.ending(own: unreadable, failure: nil) == unreadable)
    }

    @Test func aSuccessIsAnAnswerWhenItIsAsLongAsItSaid() {
        let head = ["HTTP/1.1 200 OK", "Content-Length: 2"]
        #expect(
            response(head[0], head[1], body: 2).ending(own: nil, failure: Self.lost) == .answered)
        for body in [1, 3] {
            let other = response(head[0], head[1], body: body)
            #expect(other.ending(own: nil, failure: Self.lost) == Self.lost)
        }
    }

    @Test func aSuccessInChunksIsAnAnswerOnceItsEndHasCome() {
        let chunked = response("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", body: 2)
        #expect(chunked.ending(own: nil, failure: nil) == .answered)
        #expect(chunked.ending(own: nil, failure: Self.lost) == Self.lost)
        #expect(chunked.ending(own: .timedOut(.answer), failure: nil) == .timedOut(.answer))
    }

    @Test func aCloseMarksTheEndInTheClearOnly() {
        #expect(response("HTTP/1.1 200 OK", body: 2).ending(own: nil, failure: nil) == .answered)
        let secure = response("HTTP/1.1 200 OK", body: 2, to: "HTTPS://a/")
        #expect(
            secure.ending(own: nil, failure: nil) == .badResponse("the answer's end is not marked"))
    }

    @Test func aCloseBeforeTheAnswerIsALoss() {
        let none = TransferResponse(to: "http://a/", limit: 1)
        #expect(
            none.ending(own: nil, failure: nil)
                == .connectionLost("the connection was closed without an answer"))
        var half = none
        #expect(half.take(headerLine: "HTTP/1.1 200 OK\r\n") == .goesOn)
        #expect(
            half.ending(own: nil, failure: nil)
                == .connectionLost("the connection was closed in the answer's head"))
    }

    @Test func aBodyThatIsTooLongCannotBeUsed() {
        var long = response("HTTP/1.1 200 OK", "Content-Length: 1001")
        #expect(long.take(bodyByteCount: 1_000) == nil)
        let reason = long.take(bodyByteCount: 1)
        #expect(reason == "the response is longer than 1000 bytes")
        let own = TransferResult.Ending.badResponse(reason ?? "")
        #expect(long.ending(own: own, failure: nil) == own)
    }

    @Test func hoursOfHypothesesAreNoAnswerThatIsTooLong() {
        var streamed = response("HTTP/1.1 200 OK")
        for _ in 0..<32 { #expect(streamed.take(bodyByteCount: 1_000, whileSpeaking: true) == nil) }
        #expect(streamed.take(bodyByteCount: 1_000) == nil)
        #expect(streamed.take(bodyByteCount: 1) != nil)
        #expect(streamed.take(bodyByteCount: 1, whileSpeaking: true) != nil)
    }
}

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
                "HTTP/1.1 100 Continue", "Via: proxy", "", "HTTP/1.1 103 Early Hints",
                "Link: </x>", "", "HTTP/1.0 401 Unauthorized", "WWW-Authenticate: Bearer", "",
            ], into: &head)
        let ends: [ResponseHead.Step] = [
            .interim(status: 100), .interim(status: 103), .complete(status: 401),
        ]
        #expect(steps.filter { $0 != .goesOn } == ends)
        #expect(steps.last == ends.last)
        #expect(head.status == 401)
        #expect(head.headers.map(\.name) == ["www-authenticate"])
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

    /// Such as an upload's offset at each 64 KiB: they may be as many as what was sent allows.
    @Test func interimResponsesAreBoundedByWhatWasSent() {
        let lines = ["HTTP/1.1 104 Upload", "Upload-Offset: 65536", "A: b", ""].map { $0 + "\r\n" }
        for (sent, most) in [(0, 200), (8 << 20, 200 + 1_024)] {
            var head = ResponseHead()
            for _ in 0..<most {
                let steps = lines.map { head.accumulate($0, sent: sent) }
                #expect(steps.last == .interim(status: 104))
            }
            let end = lines.map { head.accumulate($0, sent: sent) }.last
            #expect(end == .unusable(reason: "there are more than \(most) interim responses"))
        }
    }

    static let quarter = "X: " + String(repeating: "y", count: ResponseHead.byteLimit / 4)

    /// Too many lines, too many bytes, and trailers without an end.
    @Test(
        arguments: [
            (
                ["HTTP/1.1 200 OK"] + (0..<ResponseHead.lineLimit).map { "X-\($0): y" },
                ResponseHead.lineLimit
            ),
            (["HTTP/1.1 200 OK", quarter, quarter, quarter, quarter], 4),
            (["HTTP/1.1 200 OK", ""] + (0..<300).map { "T\($0): x" }, nil),
        ] as [([String], Int?)])
    func aHeadThatIsTooLongIsRefused(_ lines: [String], at place: Int?) {
        var head = ResponseHead()
        let found = steps(of: lines, into: &head).firstIndex(of: Self.tooLong)
        #expect(place == nil ? found != nil : found == place)
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
