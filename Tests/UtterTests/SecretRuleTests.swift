// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService
@testable import TakeStore
@testable import Utter

/// Which secret goes with a delivery, and where none may go.
@Suite struct SecretRuleTests {
    private static let variable = SecretSource.variable("UTTER_TOKEN")

    /// A service that may want a token, what a caller offers, and what comes of it.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var url = "https://a.example/x"
        /// Where the profile looks for the token; nil is a service without a profile.
        var profile: SecretSource?
        /// The origin of the profile, if it is not that of the URL.
        var home: String?
        var isRequired = false
        /// What stands in the plan already.
        var given: Credential?
        var offers: @Sendable (inout SecretOffers) throws -> Void = { _ in }
        var absent: [SecretSource] = []
        /// The secrets that a kept take remembers; nil is a new take.
        var remembered: [DeliveryManifest.Secret]?
        var result: String
    }

    private static func remembered(
        _ origin: String = "https://a.example", header: String? = "Authorization",
        query: String? = nil, _ change: (inout DeliveryManifest.Secret) -> Void
    ) -> DeliveryManifest.Secret {
        var secret = DeliveryManifest.Secret(
            header: header, query: query, form: header == nil ? "{percent}" : "Token {}",
            origin: origin)
        change(&secret)
        return secret
    }

    /// The usual token, whose URL leads elsewhere now.
    @Sendable private static func offerElsewhere(_ offers: inout SecretOffers) throws {
        (offers.usual, offers.usualURL) = (variable, .variable("UTTER_URL"))
        offers.claim = .only(try Origin("https://b.example"))
    }

    static let file = SecretSource.file("/t")
    static let cases = [
        // What is given goes where the delivery goes.
        Case(
            testDescription: "a given token goes before all others", profile: .variable("OWN"),
            offers: { ($0.token, $0.usual) = (file, variable) },
            result: "Authorization: Bearer {} of the file '/t'"),
        Case(
            testDescription: "a given token goes elsewhere, and the profile's does not",
            profile: .variable("OWN"), home: "https://b.example", offers: { $0.token = file },
            result: "Authorization: Bearer {} of the file '/t'"),
        Case(
            testDescription: "a given token stands where the caller says",
            offers: { ($0.token, $0.position) = (file, (.query("key"), .percentEncoded)) },
            result: "key= {percent} of the file '/t'"),
        Case(
            testDescription: "a place without a token is refused",
            offers: { $0.position = (.query("key"), .percentEncoded) },
            result: "there is no token to send as query parameter 'key'"),
        // What a profile or the settings name stays at their origin.
        Case(
            testDescription: "a profile's token goes to its origin", profile: .variable("OWN"),
            result: "Authorization: Bearer {} of the variable OWN"),
        Case(
            testDescription: "a profile's token goes nowhere else", profile: .variable("OWN"),
            home: "https://b.example", result: ""),
        Case(
            testDescription: "another port is another origin", profile: .variable("OWN"),
            home: "https://a.example:8443", result: ""),
        Case(
            testDescription: "a token that is needed and not set is named",
            profile: .variable("OWN"), isRequired: true, absent: [.variable("OWN")],
            result: "https://a.example wants a token, and OWN is not set"),
        Case(
            testDescription: "of a service elsewhere nothing is named", profile: .variable("OWN"),
            home: "https://b.example", isRequired: true,
            result: "https://a.example wants a token, and there is none"),
        Case(
            testDescription: "the settings go before the profile", profile: .variable("OWN"),
            offers: { $0.settled = (file, try Origin("https://a.example")) },
            result: "Authorization: Bearer {} of the file '/t'"),
        Case(
            testDescription: "the settings' token stays at its origin", profile: .variable("OWN"),
            offers: { $0.settled = (file, try Origin("https://b.example")) }, result: ""),
        Case(
            testDescription: "the usual token goes before the settings' at the URL beside it",
            profile: .variable("OWN"),
            offers: {
                let origin = try Origin("https://a.example")
                ($0.settled, $0.usual, $0.claim) = ((file, origin), variable, .only(origin))
            }, result: "Authorization: Bearer {} of the variable UTTER_TOKEN"),
        // The usual token is that of the URL beside it.
        Case(
            testDescription: "the usual token goes to a URL", offers: { $0.usual = variable },
            result: "Authorization: Bearer {} of the variable UTTER_TOKEN"),
        Case(
            testDescription: "the usual token goes to no service that is named",
            profile: .variable("OWN"), offers: { $0.usual = variable },
            absent: [.variable("OWN")], result: ""),
        Case(
            testDescription: "the usual token goes to a named service whose URL is named as well",
            profile: .variable("OWN"),
            offers: { ($0.usual, $0.isURLNamed) = (variable, true) }, absent: [.variable("OWN")],
            result: "Authorization: Bearer {} of the variable UTTER_TOKEN"),
        Case(
            testDescription: "the usual token belongs to the URL beside it",
            offers: { ($0.usual, $0.claim) = (variable, .only(try Origin("https://b.example"))) },
            result: ""),
        Case(
            testDescription: "beside a URL that cannot be read the usual token goes nowhere",
            offers: { ($0.usual, $0.claim) = (variable, .nowhere) }, result: ""),
        // A kept take.
        Case(
            testDescription: "a kept take asks where it asked before, and writes as before",
            remembered: [remembered { $0.command = "pass" }],
            result: "Authorization: Token {} of the command 'pass'"),
        Case(
            testDescription: "what it remembers for one origin goes to no other",
            remembered: [remembered("https://b.example") { $0.command = "pass" }], result: ""),
        Case(
            testDescription: "a kept take without a token gets the usual one at a named URL alone",
            offers: { $0.usual = variable }, remembered: [], result: ""),
        Case(
            testDescription: "a kept take without a token gets the usual one at a named URL",
            offers: { ($0.usual, $0.isURLNamed) = (variable, true) }, remembered: [],
            result: "Authorization: Bearer {} of the variable UTTER_TOKEN"),
        Case(
            testDescription: "what was typed is missed",
            absent: [.given], remembered: [remembered(header: "X-Key") { _ in }],
            result: "is not sent without its header 'X-Key': not there"),
        Case(
            testDescription: "a token that is given stands in for the one that is remembered",
            offers: { $0.token = file }, absent: [.file("")],
            remembered: [remembered { $0.file = "" }],
            result: "Authorization: Token {} of the file '/t'"),
        Case(
            testDescription: "a file of header fields is read again",
            remembered: [remembered(header: nil) { ($0.headerFile, $0.form) = ("/h", "{}") }],
            result: "file of header fields {} of the file '/h'"),
        Case(
            testDescription: "a file of header fields that was a pipe is missed",
            absent: [.headerFile("")],
            remembered: [remembered(header: nil) { $0.headerFile = "" }],
            result: "is not sent without its file of header fields: not there"),
        Case(
            testDescription: "a file of header fields stands in for a field that was typed",
            given: Credential(headerFile: "/new"), absent: [.given],
            remembered: [remembered(header: "X-Key") { _ in }],
            result: "file of header fields {} of the file '/new'"),
        Case(
            testDescription: "header fields given anew stand in for the file of those before",
            given: Credential(headerFile: "/new"), absent: [.headerFile("/h")],
            remembered: [remembered(header: nil) { $0.headerFile = "/h" }],
            result: "file of header fields {} of the file '/new'"),
        Case(
            testDescription: "the settings' token stands in for one that is gone",
            offers: { $0.substitute = .command("pass") }, absent: [file],
            remembered: [remembered { $0.file = "/t" }],
            result: "Authorization: Token {} of the command 'pass'"),
        Case(
            testDescription: "the usual token is not sent where it led once",
            offers: offerElsewhere, remembered: [remembered { $0.variable = "UTTER_TOKEN" }],
            result: "is not sent without its header 'Authorization': UTTER_TOKEN belongs to "
                + "https://b.example, where UTTER_URL leads"),
        Case(
            testDescription: "nor is what stood in the usual URL", url: "https://a.example/x?key=",
            offers: offerElsewhere,
            remembered: [remembered(header: nil, query: "key") { $0.variable = "UTTER_URL" }],
            result: "is not sent without its query parameter 'key': it was in UTTER_URL, which "
                + "leads to https://b.example now"),
        Case(
            testDescription: "a URL that is given anew may have no room for a secret",
            remembered: [remembered(header: nil, query: "key") { $0.command = "pass" }],
            result: ""),
    ]

    @Test(arguments: cases)
    func theFirstThatBelongsThereIsSent(_ this: Case) throws {
        var service = try RecognitionService(url: ServiceURL(this.url))
        if let profile = this.profile {
            service.authentication.token?.source = profile
            let home = try this.home.map { try Origin($0) }
            service.authentication.origin = home ?? service.url.origin
        }
        service.authentication.token?.isRequired = this.isRequired
        if let given = this.given { service.add(given) }
        var plan = DeliveryPlan(service: service)
        var offers = SecretOffers()
        try this.offers(&offers)
        let absent = this.absent
        offers.find = { source, _ in
            absent.contains(source) ? .absent(reason: "not there") : .asked
        }
        #expect(result(of: &plan, offers, this.remembered) == this.result)
    }

    private func result(
        of plan: inout DeliveryPlan, _ offers: SecretOffers,
        _ remembered: [DeliveryManifest.Secret]?
    ) -> String {
        do throws(SecretRefusal) {
            try plan.addSecrets(offers, remembered: remembered)
        } catch {
            return error.description
        }
        return plan.service.credentials.map { credential in
            #expect(!credential.isKnown)
            let place =
                switch credential.place {
                case .header(let name): "\(name):"
                case .query(let name): "\(name)="
                case .part(let name): name
                case .fields, .proxy, .body: "\(credential.place)"
                }
            return "\(place) \(credential.form) of \(credential.source)"
        }.joined(separator: ", ")
    }

    @Test(arguments: [
        ("http://192.0.2.1:8/x", [], false, "http://192.0.2.1:8"),
        ("http://192.0.2.1:8/x", [], true, nil), ("http://127.0.0.1:8/x", [], false, nil),
        ("https://a.example/x", ["http://b.example"], false, "http://b.example"),
        ("https://a.example/x", ["https://b.example"], false, nil),
    ])
    func noSecretTravelsInTheClear(
        _ url: String, _ others: [String], _ isAllowed: Bool, _ clear: String?
    ) throws {
        var plan = DeliveryPlan(
            service: try RecognitionService(url: ServiceURL(url)),
            redirectOrigins: try others.map { try Origin($0) })
        plan.allowsSecretsInClear = isAllowed
        #expect(plan.secretFailure == nil)
        // Whether it is known already makes no difference.
        for credential in [Credential(askedOf: Self.file), try Credential(secret: "sesame")] {
            plan.service.add(credential)
            let reason = clear.map {
                "header 'Authorization' holds a secret, and would travel in the clear to \($0)"
            }
            #expect(plan.secretFailure == reason.map { .secretMissing(reason: $0) })
        }
    }

    @Test func aTakeWhoseSecretWouldTravelInTheClearIsKeptUnsent() async throws {
        let bench = try Bench()
        let take = try bench.replay([1, 2, 3], to: "http://192.0.2.1:8/x") {
            $0.delivery.service.add(try Credential(secret: "sesame"))
        }
        let outcome = try await take.end()
        let failure = try #require(take.run.plan.secretFailure)
        #expect(outcome.result == .failure(failure))
        #expect(outcome.account.capturedFrames == 3)
        #expect(outcome.attempts.isEmpty)
    }
}
