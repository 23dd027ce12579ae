// SPDX-License-Identifier: Apache-2.0

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
