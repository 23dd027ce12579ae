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

    /// A failure of the first closes so many of these: itself, its URL, or its origin.
    private static let services: [(url: String, token: String)] = [
        ("http://a/x", "1"), ("http://a/x", "2"), ("http://a/x?y", "1"), ("http://a/y", "1"),
        ("http://b/x", "1"),
    ]

    @Test(
        arguments: [
            (.tokenRefused(status: 401, message: nil), 1), (.secretMissing(reason: ""), 1),
            (.redirectRefused(location: "", reason: ""), 2),
            (.insecure(reason: "", host: ""), 4), (.notTLS(reason: "", host: ""), 4),
            (.notDelivered(.cannotConnect(""), host: ""), 4),
            (.notDelivered(.cannotResolve(""), host: ""), 4), (.proxyRefused(status: 407), 4),
        ] as [(TakeFailure, Int)])
    func theGateClosesAtOnceWhatAFailureConcerns(_ failure: TakeFailure, _ count: Int) throws {
        let services = try Self.services.map { try service($0.url, token: $0.token) }
        var gate = ServiceGate()
        gate.note(failure, at: services[0])
        let reasons = services.map { gate.reason(against: $0) }
        #expect(reasons[..<count].allSatisfy { $0 == failure.description })
        #expect(reasons[count...].allSatisfy { $0 == nil })
    }

    @Test func aDeadProxyClosesItsOwnWayOnly() throws {
        var other = try RecognitionService(url: ServiceURL("http://a/x"))
        other.connection.proxy = try Proxy("http://127.0.0.1:9")
        var gate = ServiceGate()
        gate.note(.notDelivered(.cannotConnect(""), host: ""), at: .init(other))
        #expect(gate.reason(against: .init(other)) != nil)
        #expect(gate.reason(against: try service("http://a/x")) == nil)
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
