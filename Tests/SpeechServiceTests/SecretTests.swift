// SPDX-License-Identifier: Apache-2.0

import Cryptography
import FoundationEssentials
import TestSupport
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

    /// Programs that utter runs get none of them.
    @Test func theVariablesOfAllSecretsAreKnownWithoutReadingTheProfiles() throws {
        let known = Profiles.shipped.variables
        let read = try Profiles.shipped.names.flatMap { name in
            try Profiles.shipped.profile(name).authentication.parts.compactMap { part in
                if case .variable(let name)? = part.source { name } else { nil }
            }
        }
        #expect(known == Set(read) && known.contains("AWS_ACCESS_KEY_ID"))
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

    @Test(arguments: [
        String(repeating: "0123456789abcdef", count: 4),
        String(repeating: "01", count: 32), String(repeating: "0123456789abcdeF", count: 4),
        "00010203" + String(repeating: "00", count: 28),
        "0001020304" + String(repeating: "00", count: 27), "0123456789abcdef", "",
        String(repeating: "0123456789abcdef", count: 4) + "0", "a passphrase of four words",
    ])
    func aKeyOfABodyIsARandomKey(_ digits: String) {
        for secret in ["utter-key-" + digits, digits] where !secret.isEmpty {
            // Why it is none does not matter here.
            let key = try? EncryptionKey(secret: Array(secret.utf8))
            // As little does it here.
            let credential = try? Credential(place: .body, secret: secret + "\n")
            #expect((credential != nil) == (key?.isPassphrase == false), "\(secret)")
        }
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

/// Secrets go out of a text however they are written there.
@Suite struct RedactionTests {
    private static let secret = #"s/k+ey "1"\x"#

    @Test(arguments: [
        (#"s/k+ey "1"\x"#, "as it is"), ("s%2Fk%2Bey%20%221%22%5Cx", "percent-encoded"),
        ("s%2fk%2bey%20%221%22%5cx", "in lower case"), ("s%2Fk%2Bey+%221%22%5Cx", "of a form"),
        (#"s/k+ey \"1\"\\x"#, "in JSON"), (#"s\/k+ey \"1\"\\x"#, "in JSON with slashes escaped"),
        ("732f6b2b6579202231225c78", "in hexadecimal"), ("732F6B2B6579202231225C78", "in capitals"),
    ])
    func aSpellingIsKnown(_ text: String, _ how: String) {
        let redaction = Redaction([Self.secret])
        #expect(redaction.redacted("a \(text) b") == "a … b", "\(how)")
    }

    @Test func base64IsKnownBehindAnyBeginning() {
        let redaction = Redaction([Self.secret])
        for user in ["", "a", "ab", "abc", "apikey:"] {
            for end in ["", "x", "xy"] {
                let text = Data((user + Self.secret + end).utf8).base64EncodedString()
                let clean = redaction.redacted("Basic \(text)!")
                #expect(clean.contains("…"), "\(user)")
                // What is left of it does not hold three bytes of the secret.
                let rest = clean.replacing("…", with: "")
                #expect(rest.count <= text.count - Self.secret.count + 9)
            }
        }
    }

    /// Messages are shortened, and what is no JSON is shown from the byte where it is none.
    @Test(arguments: [
        ("your key sk-ABCDEFGH…", "your key …"), ("your key sk-ABCDEFGH", "your key …"),
        ("your key sk-A…", "your key …"), ("IJKLMNOP' is no key", "…' is no key"),
        ("MNOP and sk-A", "… and …"), ("sk-ABCDEFGHIJKLMNOP…", "……"),
        // A few letters are there by chance.
        ("your key sk-…", "your key sk-…"), ("NOP", "NOP"), ("", ""), ("…", "…"),
        ("736b2d41424344", "…"), ("c2stQUJDREVG", "…"),
    ])
    func whatACutHasLeftOfASecretGoes(_ text: String, _ clean: String) {
        #expect(Redaction(["sk-ABCDEFGHIJKLMNOP"]).redacted(text) == clean)
    }

    @Test func theLongestSpellingGoesFirst() {
        #expect(Redaction(["abcd", "abcdef"]).redacted("xabcdefx") == "x…x")
        #expect(Redaction(["aa"]).redacted("aaaaa") == "……a")
        #expect(Redaction(["", "abcd"]).redacted("nothing") == "nothing")
    }

    @Test func bytesThatAreNoTextStayAsTheyAre() {
        let bytes: [UInt8] = [0xFF, 0x61, 0x62, 0x63, 0x64, 0xC3]
        let redaction = Redaction(["abcd"])
        #expect(redaction.redacted(bytes) == [0xFF] + Array("…".utf8) + [0xC3])
        #expect(redaction.ranges(in: bytes) == [1..<5])
    }

    @Test func noSecretIsLeftInAnyText() {
        var random = SeededRandom()
        for _ in 0..<200 {
            let secret = String(
                (0..<Int.random(in: 4...12, using: &random)).map { _ in
                    Character(UnicodeScalar(UInt8.random(in: 0x21...0x7E, using: &random)))
                })
            let noise = String(repeating: "é\"", count: Int.random(in: 0...3, using: &random))
            let encoded = ServiceURL.percentEncoded(secret)
            let text = noise + secret + noise + encoded + noise
            let clean = Redaction([secret]).redacted(text)
            #expect(!clean.contains(secret), "\(random)")
            #expect(!clean.contains(encoded), "\(random)")
        }
    }
}
