// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform

/// The variable of the environment that names the proxy for a service, unless an option or the
/// person's file does (`libcurl-env(3)`).
struct ProxyVariable {
    let name: String
    private let value: String

    /// The variable for a service; nil when none names a proxy.
    init?(for origin: String) {
        // Upper case is another program's to set, in a server's CGI.
        let own = origin.hasPrefix("https:") ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        for name in own + ["all_proxy", "ALL_PROXY"] {
            guard let value = Environment[name], !value.isEmpty else { continue }
            (self.name, self.value) = (name, value)
            return
        }
        return nil
    }

    /// Whether it is about this proxy why a service was not reached: it cannot be used, or is named.
    func isMeant(by reason: String) -> Bool {
        if reason.hasPrefix("the proxy's URL") { return true }
        // "Could not resolve proxy: HOST"; "HOST port NUMBER: …" of a host that is not the service's.
        let words = reason.split(separator: " ")
        if reason.contains("resolve proxy: ") { return words.last.map(value.contains) ?? false }
        return words.count > 2 && words[1] == "port" && value.contains(words[0])
    }
}
