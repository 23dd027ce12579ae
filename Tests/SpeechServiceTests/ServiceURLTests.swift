// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService

@Suite struct ServiceURLTests {
    private static let elsewhere =
        "its path has a '.' or '..' between slashes, and would lead elsewhere"

    @Test(arguments: [
        ("http://localhost:8080/stt", "http://localhost:8080", "/stt"),
        ("HTTPS://Speech.Example:443", "https://speech.example", "/"),
        ("https://speech.example?v=1", "https://speech.example", "/?v=1"),
        ("http://h:/a", "http://h", "/a"),
        ("http://h:80/a", "http://h", "/a"),
        ("https://h:80/a", "https://h:80", "/a"),
        ("http://[::1]:9/x", "http://[::1]:9", "/x"),
        ("http://[0:0:0:0:0:0:0:1]/x", "http://[::1]", "/x"),
        ("http://[2001:DB8::0:1]/", "http://[2001:db8::1]", "/"),
        ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:127.0.0.1]", "/"),
        ("http://h/a/..b/c./...?x=/../%20#/../frag", "http://h", "/a/..b/c./...?x=/../%20"),
        ("http://bücher.example/", "http://xn--bcher-kva.example", "/"),
        ("https://BÜCHER.example:444/", "https://xn--bcher-kva.example:444", "/"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example", "/"),
        ("http://straße.example/", "http://xn--strae-oqa.example", "/"),
        ("http://h/ü?q=ü", "http://h", "/%c3%bc?q=%c3%bc"),
        ("http://h/a b", "http://h", "/a%20b"),
        ("http://0x7f.1/", "http://127.0.0.1", "/"),
    ])
    func aURLIsTakenApart(text: String, origin: String, target: String) throws {
        let url = try ServiceURL(text)
        #expect(url.origin.description == origin)
        #expect(url.target == target)
        #expect(url.text == origin + target)
    }

    @Test(arguments: [
        ("http://h/a/../b", Self.elsewhere), ("http://h/a/.%2E?b", Self.elsewhere),
        ("http://h/%2e/b", Self.elsewhere), ("http://h/a%2F..%2fb", Self.elsewhere),
        ("", "it must begin with http:// or https://"),
        ("speech.example/x", "it must begin with http:// or https://"),
        ("localhost:8080", "it must begin with http:// or https://"),
        ("file:///etc/passwd", "it must begin with http:// or https://"),
        ("http:h", "it must begin with http:// or https://"),
        ("http://:80/", "it has no host"),
        ("http://h:0/", "the port must be a number from 1 to 65535"),
        ("http://h:65536/", "the port must be a number from 1 to 65535"),
        ("http://h:+1/", "the port must be a number from 1 to 65535"),
        ("http://h:8a/", "the port must be a number from 1 to 65535"),
        ("http://h:99999999999999999999/", "the port must be a number from 1 to 65535"),
        ("http://h /", "the host may hold letters, digits, '-' and '.' only"),
        ("http://h/\r\nX: y", "it holds a control character"),
        ("http://h/\u{7F}", "it holds a control character"),
        ("http://h/\0@evil/", "it holds a control character"),
        ("http://h{/", "the host may hold letters, digits, '-' and '.' only"),
        ("http://h%2Fa/", "the host may hold letters, digits, '-' and '.' only"),
        ("http://\u{FFFF}.example/", "the host is not a name that can be looked up"),
        ("http://[::1", "the address in brackets is not IPv6"),
        ("http://[1::2::3]/", "the address in brackets is not IPv6"),
        ("http://[1:2:3:4:5:6:7]/", "the address in brackets is not IPv6"),
        ("http://[::127.0.0.256]/", "the address in brackets is not IPv6"),
        ("http://[fe80::1%25eth0]/", "an IPv6 address may have no zone here"),
        ("http://[::1]x/", "the port must be a number from 1 to 65535"),
    ])
    func whatCannotBePostedToIsRefused(text: String, reason: String) {
        let error = #expect(throws: ServiceError.self) { try ServiceURL(text) }
        guard case .invalidURL(_, reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aPasswordIsRefusedAndNotRepeated() {
        let expected = ServiceError.userInfoInURL(text: "https://…@h/x")
        #expect(throws: expected) { try ServiceURL("https://me:secret@h/x?key=secret") }
        let error = #expect(throws: ServiceError.self) {
            try ServiceURL("me:secret@h/x?key=secret")
        }
        let words = error.map { "\($0)" } ?? ""
        #expect(!words.isEmpty && !words.contains("secret") && !words.contains("me:"))
    }

    @Test func aQueryIsNotShown() throws {
        let url = try ServiceURL("https://h/x?key=secret")
        var dumped = ""
        dump(url, to: &dumped)
        #expect("\(url) \(String(reflecting: url)) \(dumped)".contains("secret") == false)
        #expect(url.text.hasSuffix("?key=secret"))
    }

    /// RFC 3986 §5.4, with `http` and without fragments, which are never sent.
    @Test(arguments: [
        ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
        ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"),
        (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"), ("g;x?y#s", "/b/c/g;x?y"), ("", "/b/c/d;p?q"),
        (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"),
        ("../..", "/"), ("../../", "/"), ("../../g", "/g"), ("../../../g", "/g"),
        ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."),
        (".g", "/b/c/.g"), ("g..", "/b/c/g.."), ("..g", "/b/c/..g"), ("./../g", "/b/g"),
        ("./g/.", "/b/c/g/"), ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"),
        ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"), ("g?y/./x", "/b/c/g?y/./x"),
        ("g?y/../x", "/b/c/g?y/../x"),
    ])
    func aReferenceIsResolved(reference: String, target: String) throws {
        let base = try ServiceURL("http://a/b/c/d;p?q")
        let resolved = try base.resolving(location: reference)
        #expect(resolved.target == target)
        #expect(resolved.origin == base.origin)
    }

    @Test(arguments: [
        ("https://b.example/x", "https://b.example/x"), ("//g", "http://g/"),
        ("//a:8080/x", "http://a:8080/x"), ("HTTP://A:80/x", "http://a/x"),
        ("//bücher.example/x", "http://xn--bcher-kva.example/x"),
    ])
    func aLocationMayNameAnotherOrigin(location: String, text: String) throws {
        let base = try ServiceURL("http://a/b/c/d;p?q")
        let resolved = try base.resolving(location: location)
        #expect(resolved.text == text)
        #expect((resolved.origin == base.origin) == (text == "http://a/x"))
    }

    @Test(arguments: [
        "file:///etc/passwd", "ftp://h/", "http://u:p@h/", "g:h", "javascript:1", "/\r\nX:",
        "http://h:70000/", "//u@h/",
    ])
    func aLocationThatCannotBePostedToIsRefused(location: String) throws {
        let base = try ServiceURL("http://a/b")
        #expect(throws: ServiceError.self) { try base.resolving(location: location) }
    }

    @Test(arguments: [
        ("http://localhost/", true), ("http://LOCALHOST:1/", true), ("http://127.0.0.1/", true),
        ("http://127.9.9.9/", true), ("http://[::1]/", true), ("http://a.localhost/", true),
        ("http://127.0.0.1.evil.example/", false), ("http://localhost.evil/", false),
        ("http://127.1/", true), ("http://2130706433/", true), ("http://10.0.0.1/", false),
        ("http://[::2]/", false),
    ])
    func thisMachineIsKnownByName(text: String, isLoopback: Bool) throws {
        let url = try ServiceURL(text)
        #expect(url.origin.isLoopback == isLoopback)
        #expect(url.origin.isInClear == !isLoopback)
    }

    /// The host is compared, kept and sent in one form, whatever the locale is.
    @Test func anOriginHasNoPathAndOneFormOfAnInternationalName() throws {
        let (own, plain) = (
            try Origin("https://bücher.example"), try Origin("https://xn--bcher-kva.example")
        )
        #expect(own == plain)
        let base = try ServiceURL("https://xn--bcher-kva.example/a")
        #expect(try base.resolving(location: "https://BÜCHER.example/b").origin == own)
        #expect(try Origin("https://b.example:443/") == ServiceURL("https://b.example/x").origin)
        #expect(throws: ServiceError.self) { try Origin("https://b.example/x") }
        #expect(throws: ServiceError.self) { try Origin("b.example") }
    }
}
