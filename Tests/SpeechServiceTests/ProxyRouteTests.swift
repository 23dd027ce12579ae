// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService

/// Where a request goes, by settings and variables.
@Suite struct ProxyRouteTests {
    private func route(
        _ url: String, _ variables: [String: String],
        _ change: (inout ConnectionSettings) -> Void = { _ in }
    ) -> String? {
        var connection = ConnectionSettings()
        change(&connection)
        return ProxyRoute.proxy(to: url, by: connection) { variables[$0] }
    }

    @Test(
        .spec("libcurl-env(3)"),
        arguments: [
            ("http", ["http_proxy": "a"], "a"), ("http", ["HTTP_PROXY": "a"], nil),
            ("http", ["https_proxy": "a"], nil), ("http", ["ALL_PROXY": "a"], "a"),
            ("http", ["http_proxy": "a", "all_proxy": "b"], "a"),
            ("https", ["http_proxy": "a"], nil), ("https", ["https_proxy": "a"], "a"),
            ("https", ["HTTPS_PROXY": "a"], "a"),
            ("https", ["https_proxy": "a", "HTTPS_PROXY": "b"], "a"),
            ("https", ["HTTPS_PROXY": "a", "all_proxy": "b"], "a"),
            ("https", ["all_proxy": "a", "ALL_PROXY": "b"], "a"), ("https", [:], nil),
        ] as [(String, [String: String], String?)])
    func variablesNameAProxy(
        _ scheme: String, _ variables: [String: String], _ proxy: String?
    ) {
        #expect(route("\(scheme)://speech.example:8080/asr?x=1", variables) == proxy)
    }

    @Test(
        .spec("CURLOPT_NOPROXY(3)"),
        arguments: [
            ("h.example", "*", true), ("h.example", "x,*", false), ("h.example", "", false),
            ("h.example", "h.example", true), ("H.Example.", "h.eXample", true),
            ("h.example", "example", true), ("h.example", ".example", true),
            ("example", ".example", true), ("h.example", "example.", true),
            ("nonexample", "example", false), ("h.example", "a.h.example", false),
            ("h.example", "x, y ,example", true), ("h.example", "x example", true),
            ("h.example", ",,.,", false), ("h.example", "ple", false),
            ("10.1.2.3", "10.1.2.3", true), ("10.1.2.3", "10.0.0.0/8", true),
            ("11.1.2.3", "10.0.0.0/8", false), ("10.1.2.3", "10.1.2.0/31", false),
            ("10.1.2.3", "10.1.2.2/31", true), ("10.1.2.3", "2.3", false),
            ("10.1.2.3", "10.1.2.3/0", true), ("10.1.2.3", "10.1.2.3/33", false),
            ("[::1]", "::1", true), ("[fd00::5]", "fd00::/8", true), ("[::1]", "127.0.0.1", false),
        ] as [(String, String, Bool)])
    func exceptionsAreReachedWithoutIt(_ host: String, _ list: String, _ isExcepted: Bool) {
        let url = "http://\(host):8080/asr"
        for name in ["no_proxy", "NO_PROXY"] {
            let found = route(url, ["all_proxy": "a", name: list])
            #expect((found == nil) == isExcepted)
        }
        let found = route(url, ["no_proxy": "*"]) {
            // No proxy has this URL, which is passed on as it is.
            ($0.proxy, $0.proxyExceptions) = (.url("b"), [list])
        }
        #expect((found == nil) == isExcepted)
    }

    @Test func settingsCountBeforeVariables() {
        let variables = ["http_proxy": "a", "no_proxy": "h.example"]
        #expect(route("http://h.example/", variables) { $0.proxyExceptions = [] } == "a")
        #expect(route("http://h.example/", variables) { $0.proxy = .url("b") } == nil)
        #expect(route("http://x.example/", variables) { $0.proxy = .url("b") } == "b")
        #expect(route("http://x.example/", variables) { $0.proxy = Proxy.none } == nil)
    }
}
