// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Utter

/// Which services are worth asking again while many takes are sent.
@Suite struct ServiceGateTests {
    private func service(_ url: String, token: String? = nil) throws -> ServiceGate.Service {
        .init(
            try RecognitionService(
                url: ServiceURL(url), credential: try token.map { try Credential(secret: $0) }))
    }

    @Test func theGateClosesAnOriginAtOnceForWhatConcernsAllOfIt() throws {
        let hopeless: [TakeFailure] = [
            .insecure(reason: "", host: ""), .notTLS(reason: "", host: ""),
            .notDelivered(.cannotConnect(""), host: ""),
            .notDelivered(.cannotResolve(""), host: ""),
        ]
        for failure in hopeless {
            var gate = ServiceGate()
            gate.note(failure, at: try service("http://a/x"))
            #expect(gate.reason(against: try service("http://a/x")) == failure.description)
            #expect(gate.reason(against: try service("http://a/y")) == failure.description)
            #expect(gate.reason(against: try service("http://b/x")) == nil)
        }
    }

    @Test func aDeadProxyClosesItsOwnWayOnly() throws {
        var other = try RecognitionService(url: ServiceURL("http://a/x"))
        other.connection.proxy = try Proxy("http://127.0.0.1:9")
        var gate = ServiceGate()
        gate.note(.notDelivered(.cannotConnect(""), host: ""), at: .init(other))
        #expect(gate.reason(against: .init(other)) != nil)
        #expect(gate.reason(against: try service("http://a/x")) == nil)
    }

    @Test func aRefusedTokenClosesItsOwnURLWithThatTokenOnly() throws {
        var gate = ServiceGate()
        gate.note(
            .tokenRefused(status: 401, message: nil), at: try service("http://a/x", token: "1"))
        #expect(gate.reason(against: try service("http://a/x", token: "1")) != nil)
        #expect(gate.reason(against: try service("http://a/x", token: "2")) == nil)
        #expect(gate.reason(against: try service("http://a/y", token: "1")) == nil)
    }

    @Test func aForeignRedirectClosesItsOwnURLOnly() throws {
        var gate = ServiceGate()
        gate.note(.redirectRefused(location: "", reason: ""), at: try service("http://a/x"))
        #expect(gate.reason(against: try service("http://a/x")) != nil)
        #expect(gate.reason(against: try service("http://a/x?y")) == nil)
    }

    @Test func theGateIsPatientWithWhatMayBeTheTakesOwnFault() throws {
        let service = try service("http://a/x")
        let broken = TakeFailure.unavailable(status: 500, message: nil)
        var gate = ServiceGate()
        let others: [TakeFailure?] = [.refused(status: 422, message: nil), nil]
        for other in others {
            for _ in 0..<7 { gate.note(broken, at: service) }
            gate.note(other, at: service)
        }
        for _ in 0..<7 { gate.note(broken, at: service) }
        #expect(gate.reason(against: service) == nil)
        gate.note(broken, at: service)
        #expect(gate.reason(against: service) != nil)
    }

    @Test func aServiceThatSaysThatItIsBusyIsBelievedTheSecondTime() throws {
        let service = try service("http://a/x")
        var gate = ServiceGate()
        gate.note(.unavailable(status: 503, message: nil), at: service)
        #expect(gate.reason(against: service) == nil)
        gate.note(.unavailable(status: 429, message: nil), at: service)
        #expect(gate.reason(against: service) != nil)
    }
}
