// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

/// What is a secret, how it is written into a request, and that it stays apart from the rest.
@Suite struct SecretTests {
    @Test(arguments: [
        "Authorization", "proxy-authorization", "xi-api-key", "Ocp-Apim-Subscription-Key",
        "X-NLS-Token", "X-Auth-Token", "x-gladia-key", "key", "api_key", "apiKey", "access_token",
        "accesstoken", "Cookie", "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token",
        "Hound-Request-Authentication", "password", "clientSecret", "subscription-key",
    ])
    func aNameOfASecretIsKnown(_ name: String) {
        #expect(SecretName.isSecret(name))
    }

    @Test(arguments: [
        "Idempotency-Key", "X-Model", "Content-Type", "X-Speech-Content", "language", "keywords",
        "keyterm", "model", "max_tokens", "Accept", "X-AAI-Model", "Hound-Request-Info", "author",
        "monkey", "tokenizer", "signal", "",
    ])
    func anyOtherNameIsNone(_ name: String) {
        #expect(!SecretName.isSecret(name))
    }

    @Test(arguments: [
        ("Bearer {}", "a:b", "Bearer a:b"), ("{}", "x", "x"),
        ("Basic {base64}", "user:pass", "Basic dXNlcjpwYXNz"),
        ("Basic {base64}", "Aladdin:open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ("k={} !", "{}", "k={} !"),
    ])
    func aFormHoldsTheSecretOnce(form: String, secret: String, value: String) throws {
        let credential = try Credential(
            place: .header("X"), form: SecretForm(form), secret: secret)
        #expect(credential.value == value)
        #expect(!"\(credential)".contains(secret) || secret == "x" || secret == "{}")
    }

    @Test(arguments: ["", "Bearer", "{} {}", "{}{base64}", "a\r\nb: {}"])
    func aFormThatIsNoneIsRefused(_ form: String) {
        #expect(throws: ServiceError.self) { try SecretForm(form) }
    }

    @Test func secretsOfURLAndFieldsStandApart() throws {
        let service = try RecognitionService(
            url: ServiceURL("https://h/p?model=nova&key=hush%2B&empty=&token=&flag"),
            headers: [HeaderField(line: "X-Api-Key: hush"), HeaderField(line: "X-Model: nova")])
        #expect(service.url.text == "https://h/p?model=nova&key=&empty=&token=&flag")
        #expect(service.headers.map(\.name) == ["X-Model"])
        #expect(service.credentials.map(\.place) == [.header("X-Api-Key"), .query("key")])
        #expect(
            service.opening(service.url).text
                == "https://h/p?model=nova&key=hush%2B&empty=&token=&flag")
    }

    @Test func aSecretInAQueryIsPercentEncodedOnce() throws {
        var service = try RecognitionService(url: ServiceURL("https://h/p?a=1&key=&b=2"))
        service.add(
            try Credential(
                place: .query("key"), form: .percentEncoded,
                secret: "a+b/c=&d%20é".filter(\.isASCII)))
        #expect(
            service.opening(service.url).text == "https://h/p?a=1&key=a%2Bb%2Fc%3D%26d%2520&b=2")
    }

    @Test func ofTwoCredentialsAtOnePlaceTheLaterCounts() throws {
        var service = try RecognitionService(
            url: ServiceURL("https://h/"), credential: Credential(secret: "one"))
        service.add(try Credential(place: .header("AUTHORIZATION"), secret: "two"))
        let fields = service.requestHeaders(contentType: "audio/wav")
        #expect(fields.filter { $0.isNamed("Authorization") }.map(\.value) == ["two"])
    }
}
