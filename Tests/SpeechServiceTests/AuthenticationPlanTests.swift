// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Settings
@testable import SpeechService

/// What a service's description says of its secrets.
@Suite struct AuthenticationPlanTests {
    private func plan(_ text: String) throws -> AuthenticationPlan {
        try plan(of: try SettingsDocument.parse(text))
    }

    private func plan(of table: SettingsTable) throws -> AuthenticationPlan {
        var reader = SettingsReader(table, name: "auth")
        let plan = try AuthenticationPlan(&reader)
        try reader.finish()
        return plan
    }

    private func reason(_ text: String) -> String? {
        let error = #expect(throws: SettingsError.self) { try plan(text) }
        return error?.reason
    }

    /// The plan of a profile that extends another one.
    private func plan(_ own: String, extending base: String) throws -> AuthenticationPlan {
        try plan(
            of: SettingsDocument.parse(base, file: "shipped/base.toml")
                .extended(by: try SettingsDocument.parse(own, file: "/home/own.toml")))
    }

    @Test func anotherKindLeavesWhatTheProfileThatIsExtendedSaysOfItsOwn() throws {
        let none = try plan("kind = 'none'", extending: "variable = 'OPENAI_API_KEY'")
        #expect(none.parts.isEmpty)
        let bearer = try plan(
            "kind = 'bearer'",
            extending: "kind = 'header'\nheader = 'X-Key'\nform = 'Key {}'\nvariable = 'V'")
        #expect(bearer.token?.place == .header("Authorization"))
        #expect(bearer.token?.source == .variable("V"))
        #expect(throws: SettingsError.self) {
            try plan("kind = 'bearer'\nheader = 'X-Key'", extending: "variable = 'V'")
        }
    }

    @Test func anEmptySourceIsToldWithItsPlace() throws {
        let error = #expect(throws: SettingsError.self) {
            try plan("variable = ''", extending: "variable = 'OPENAI_API_KEY'")
        }
        #expect(error?.place?.file == "/home/own.toml")
        #expect(
            error?.reason
                == "'auth.variable' is empty: a service without a token has 'auth = false'")
    }

    /// What is sent for the secret `name:sesame`, and where.
    @Test(
        arguments: [
            ("", .header("Authorization"), "Bearer name:sesame"),
            ("kind = 'bearer'", .header("Authorization"), "Bearer name:sesame"),
            (
                "kind = 'scheme'\nscheme = 'Token'", .header("Authorization"),
                "Token name:sesame"
            ),
            ("kind = 'header'\nheader = 'xi-api-key'", .header("xi-api-key"), "name:sesame"),
            (
                "kind = 'header'\nheader = 'Authorization'\nform = 'Key {}!'",
                .header("Authorization"), "Key name:sesame!"
            ),
            ("kind = 'query'\nparameter = 'key'", .query("key"), "name%3Asesame"),
            ("kind = 'basic'", .header("Authorization"), "Basic bmFtZTpzZXNhbWU="),
            (
                "kind = 'basic'\nuser = 'apikey'", .header("Authorization"),
                "Basic YXBpa2V5Om5hbWU6c2VzYW1l"
            ),
        ] as [(String, Credential.Place, String)])
    func aSecretIsWrittenAsItsKindSays(
        _ text: String, _ place: Credential.Place, _ value: String
    ) throws {
        let part = try #require(try plan(text).token)
        #expect(part.place == place)
        #expect(part.isRequired)
        let credential = try Credential(place: part.place, form: part.form, secret: "name:sesame")
        #expect(credential.value == value)
    }

    @Test func whatOneKindAloneHasNamesItAndAServiceWithoutSecretsSaysSo() throws {
        #expect(try plan("kind = 'none'") == AuthenticationPlan())
        #expect(try plan("scheme = 'Token'") == plan("kind = 'scheme'\nscheme = 'Token'"))
        #expect(try plan("header = 'X-Key'") == plan("kind = 'header'\nheader = 'X-Key'"))
    }

    @Test func aSecretComesFromOnePlace() throws {
        #expect(try plan("variable = 'A'").token?.source == .variable("A"))
        #expect(try plan("file = '/a'").token?.source == .file("/a"))
        #expect(try plan("command = 'pass a'").token?.source == .command("pass a"))
        #expect(try plan("credential = 'a'").token?.source == .credential("a"))
        #expect(try plan("optional = true").token?.isRequired == false)
        #expect(
            reason("variable = 'A'\nfile = '/a'")
                == "'auth.file': the secret comes from one place")
    }

    @Test(arguments: [
        ("kind = 'bearr'", "'auth.kind' cannot be 'bearr'; did you mean 'bearer'?"),
        ("kind = 'scheme'", "'auth.scheme' is missing"),
        ("kind = 'header'", "'auth.header' is missing"),
        (
            "kind = 'header'\nheader = 'Host'",
            "header 'Host' cannot be sent: utter sets it itself"
        ),
        (
            "kind = 'header'\nheader = 'X'\nform = 'Key'",
            "'auth.form': 'Key' does not say where the token goes"
        ),
        ("kind = 'query'", "'auth.parameter' is missing"),
        ("kind = 'basic'\nuser = 'a:b'", "'auth.user' cannot be 'a:b'"),
        ("kind = 'aws-sigv4'", "'auth.region' is missing"),
        ("kind = 'bearer'\nscheme = 'Token'", "'auth.scheme' is not known"),
        ("[exchange]\nbody = ''", "'auth.exchange.url' is missing"),
        ("kind = 'bearer'\nuser = { variable = 'A' }", "'auth.user' must be a string here"),
    ])
    func aMistakeIsNamed(_ text: String, _ expected: String) {
        #expect(reason(text)?.hasPrefix(expected) == true, "\(reason(text) ?? "none")")
    }

    @Test func aTokenThatIsFetchedStandsWhereItsKindSays() throws {
        let plan = try plan(
            """
            kind = 'scheme'
            scheme = 'Token'
            variable = 'ID_AND_SECRET'
            [exchange]
            url = 'https://{region}.example/issue?c={user}'
            headers = { Authorization = 'Basic {base64}', RqUID = '{uuid}' }
            body = 'scope={scope}'
            token = 'access_token'
            expires = 'expires_at'
            """
        ).resolved { ["region": "eu", "scope": "a b"][$0] }
        #expect(plan.token?.place == .part("key"))
        #expect(plan.token?.source == .variable("ID_AND_SECRET"))
        guard case .token(let exchange) = plan.use else {
            Issue.record("it is \(plan.use)")
            return
        }
        #expect(exchange.url == "https://eu.example/issue?c={user}")
        #expect(exchange.body == "scope=a b")
        #expect(exchange.headers.map(\.value) == ["Basic {base64}", "{uuid}"])
        #expect(exchange.place == .header("Authorization"))
        #expect(exchange.form.description == "Token {}")
        let answers = [
            (#"{"access_token":"t","expires_at":1000000060000}"#, Duration.seconds(60)),
            (#"{"access_token":"t","expires_at":"1000000090"}"#, .seconds(90)),
            (#"{"access_token":"t","expires_at":1800}"#, .seconds(1_800)),
            (#"{"access_token":"t"}"#, .seconds(300)),
        ]
        for (text, lifetime) in answers {
            let read = exchange.read(Array(text.utf8), at: 1e9)
            #expect(read?.token == "t")
            #expect(read?.lifetime == lifetime)
        }
        #expect(exchange.read(Array("{}".utf8), at: 0) == nil)
        #expect(exchange.read(Array("t".utf8), at: 0) == nil)
    }

    @Test func aSignatureNamesItsSecrets() throws {
        let plan = try plan(
            """
            kind = 'aws-sigv4'
            region = '{region}'
            service = 'lex'
            variable = 'AWS_SECRET_ACCESS_KEY'
            user = { variable = 'AWS_ACCESS_KEY_ID' }
            session = { variable = 'AWS_SESSION_TOKEN', optional = true }
            """
        ).resolved { $0 == "region" ? "eu-west-1" : nil }
        #expect(plan.use == .amazonSignature(region: "eu-west-1", service: "lex"))
        #expect(plan.parts.map(\.place) == [.part("key"), .part("user"), .part("session")])
        #expect(plan.parts.map(\.isRequired) == [true, true, false])
    }

    @Test func aParameterThatHoldsASecretIsAddedToTheURL() throws {
        var service = try RecognitionService(url: ServiceURL("https://speech.example/a?b=c"))
        service.add(
            try Credential(place: .query("key"), form: .percentEncoded, secret: "s/1"))
        #expect(service.url.text == "https://speech.example/a?b=c&key=")
        #expect(service.opening(service.url).text == "https://speech.example/a?b=c&key=s%2F1")
    }
}
