// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import RecognitionEndpoint

/// The endpoint's page for browsers; PagePeerTests has a browser.
@Suite struct PageTests {
    private static let own = "Origin: http://test"

    @Test func itsFilesLoadNothingOfOthers() async throws {
        try await TestEndpoint.serve(each: PageFile.allCases) {
            TestEndpoint.withoutSound(&$0)
            $0.serve(EndpointPage())
        } _: { client, file in
            let (head, body) = try client.get(file.rawValue)
            #expect(head.status == 200)
            #expect(
                head.fields["content-security-policy"] == "default-src 'none'; script-src 'self'; "
                    + "style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
                    + "form-action 'none'; frame-ancestors 'none'")
            #expect(head.fields["referrer-policy"] == "no-referrer")
            #expect(head.fields["x-content-type-options"] == "nosniff")
            #expect(
                ["://", "=\"//", "(//"].allSatisfy { !body.contains($0) }, "a link leads elsewhere")
            // A recognised text may contain any marks.
            #expect(
                ["innerHTML", "insertAdjacent", "document.write"].allSatisfy { !body.contains($0) })
        }
    }

    /// With an operator or without: what is sent, PAGE being the token of the page, and its status.
    private static let visits: [Bool: [(fields: [String], status: Int)]] = [
        false: [
            ([own, "Authorization: Bearer PAGE"], 200),
            // Behind TLS.
            (["Origin: https://test", "Authorization: Bearer PAGE"], 200),
            // No token, and another one.
            ([own], 401), ([own, "Authorization: Bearer PAGEX"], 401),
            // Another site, another port and a file.
            (["Origin: http://evil.example", "Authorization: Bearer PAGE"], 403),
            (["Origin: http://test:81", "Authorization: Bearer PAGE"], 403),
            (["Origin: null", "Authorization: Bearer PAGE"], 403),
            // No page.
            ([], 200),
            // Faults without an operator, and for a guest without an origin.
            ([own, "Authorization: Bearer PAGE", "X-Misbehave: status=418"], 403),
            (["Authorization: Bearer PAGE", "X-Misbehave: status=418"], 403),
        ],
        true: [
            // No page and no token.
            ([], 401),
            // The page beside an operator, and the operator in the page.
            ([own, "Authorization: Bearer PAGE"], 200),
            ([own, "Authorization: Bearer right"], 200),
            // Faults for a page and for the operator.
            (["Authorization: Bearer PAGE", "X-Misbehave: status=418"], 403),
            ([own, "Authorization: Bearer right", "X-Misbehave: status=418"], 418),
        ],
    ]

    @Test(arguments: [false, true])
    func aPageNeedsItsOwnOriginAndAToken(hasOperator: Bool) async throws {
        let page = EndpointPage()
        try await TestEndpoint.serve(each: Self.visits[hasOperator] ?? []) {
            TestEndpoint.withoutSound(&$0)
            $0.serve(page)
            $0.allowsFaults = true
            $0.bearerToken = hasOperator ? BearerToken("right") : nil
        } _: { client, visit in
            let fields = visit.fields.map { $0.replacing("PAGE", with: page.secret) }
            let answer = try client.post(
                [UInt8](repeating: 0, count: 3_200), ["Content-Type: audio/l16;rate=16000"] + fields
            )
            #expect(answer.head.status == visit.status, "\(visit.fields): \(answer.body)")
            #expect(!answer.body.contains(page.secret))
        }
    }

    @Test func aTicketOpensOneSessionAndSoon() async throws {
        let begin = ContinuousClock.now
        let later = Mutex(Duration.zero)
        let page = EndpointPage { begin + later.withLock { $0 } }
        try await TestEndpoint.run {
            TestEndpoint.withoutSound(&$0)
            $0.serve(page)
        } _: { port, _ in
            let authority = "127.0.0.1:\(port)"
            func client(_ ticket: String) throws -> SocketClient {
                try SocketClient(
                    "ws://\(authority)/v1/realtime", "Origin: http://\(authority)",
                    "Sec-WebSocket-Protocol: utter.page, utter.ticket.\(ticket)")
            }
            let body = try await onThread {
                try RawClient(port: port).post(
                    [], [Self.own, "Authorization: Bearer \(page.secret)"], to: "/page/ticket"
                ).body
            }
            let ticket = try #require(body.firstMatch(of: /"ticket":"([0-9a-f]{32})"/)).1
            let first = try client(String(ticket))
            _ = try await first.messages(until: "created")
            #expect(try await client(String(ticket)).end().refused == 401)
            #expect(try await client("").end().refused == 401)
            let old = page.makeTicket()
            later.withLock { $0 = EndpointPage.ticketLifetime + .nanoseconds(1) }
            #expect(try await client(old).end().refused == 401)
            let stranger = try SocketClient(
                "ws://\(authority)/v1/realtime", "Origin: http://\(authority)")
            #expect(try await stranger.end().refused == 401)
        }
    }

    @Test func ticketsThatAreNotUsedMakeRoom() {
        let page = EndpointPage()
        let tickets = (0...EndpointPage.ticketLimit).map { _ in page.makeTicket() }
        #expect(!page.redeem(tickets[0]))
        #expect(tickets.dropFirst().allSatisfy(page.redeem))
    }

    @Test func theRequestsOfAllAreForTheOperatorAlone() async throws {
        let page = EndpointPage()
        let answers = try await TestEndpoint.run {
            TestEndpoint.withoutSound(&$0)
            $0.serve(page)
            $0.bearerToken = BearerToken("right")
        } _: { port, _ in
            try await onThread {
                try [page.secret, "right"].map { token in
                    let client = try RawClient(port: port)
                    _ = try client.post(
                        [], ["Content-Type: text/html", "Authorization: Bearer \(token)"])
                    let asks = try RawClient(port: port)
                    try asks.sendHead(
                        "/page/requests", ["Authorization: Bearer \(token)"], method: "GET",
                        framing: "Content-Length: 0")
                    return try asks.readAnswer()
                }
            }
        }
        #expect(answers.map(\.head.status) == [403, 200])
        #expect(answers[1].body.contains(#""path":"/recognize","peer":"127.0.0.1:"#))
        // A guest's try stands there, the operator's own looks do not.
        #expect(answers[1].body.ranges(of: "/page/").count == 1)
        #expect(!answers[1].body.contains(page.secret))
    }
}
