// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization
internal import Utter
internal import UtterSettings

extension Environment {
    static var secrets: Set<String> { KnownConfiguration.current.secretVariables.withLock { $0 } }

    /// The secret that a variable holds, or nil; programs that we run do not get the variable.
    static func secret(_ name: String) -> String? {
        KnownConfiguration.current.secretVariables.withLock { _ = $0.insert(name) }
        if let value = self[filled: name] { return value }
        // A flaw of the file is told when the secret is read.
        return try? SharedCredentials.value(of: name)
    }

    /// Where takes are kept: `$XDG_STATE_HOME/utter`, or `~/.local/state/utter`.
    package static var stateFolder: String {
        folder("XDG_STATE_HOME", orBelowHome: "/.local/state")
    }
}

/// The environment's word on the service: `UTTER_URL`, and `UTTER_TOKEN`, which belongs to it.
enum ServiceVariables {
    static let urlName = "UTTER_URL"
    static let tokenName = "UTTER_TOKEN"
    /// The name and the password for the proxy, with a colon between them.
    static let proxyLoginName = "UTTER_PROXY_LOGIN"

    /// The URL as it is written; nil when it is not set, or empty, or a preset names the service.
    static var url: String? {
        // An unreadable file is told where it is used.
        let isChosen = (try? Configuration.current())?["service"]?.isOfPreset == true
        return isChosen ? nil : Environment[filled: urlName]
    }

    /// Where the token of the environment may go: to the origin of the URL beside it.
    static var claim: SecretOffers.Claim {
        guard let url else { return .anywhere }
        // An unreadable URL is told of where it is used.
        return (try? ServiceURL(TokenMark(in: url).url).origin).map { .only($0) } ?? .nowhere
    }

    /// The value in the URL's query under the name of a secret; nil: none.
    static func parameter(at place: Credential.Place) -> String? {
        guard case .query(let name) = place else { return nil }
        // An unreadable URL has none.
        let url = url.flatMap { try? ServiceURL(TokenMark(in: $0).url) }
        return url?.parameter(name).flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The mark `{token}` as the value of a parameter in a URL's query.
struct TokenMark {
    private static let mark = "={token}"

    /// The URL without the mark: the parameter has no value.
    let url: String
    /// The name of the parameter; nil without a mark.
    let parameter: String?

    init(in text: String) {
        guard let query = text.firstIndex(of: "?") else {
            (url, parameter) = (text, nil)
            return
        }
        var found: String?
        let parameters = text[text.index(after: query)...]
            .split(separator: "&", omittingEmptySubsequences: false).map { parameter in
                guard found == nil, parameter.hasSuffix(Self.mark) else { return parameter }
                let name = parameter.dropLast(Self.mark.count)
                found = String(name)
                return parameter[..<parameter.index(after: name.endIndex)]
            }
        (url, parameter) = (text[...query] + parameters.joined(separator: "&"), found)
    }
}

/// The variable of the environment that names the proxy for a service, unless an option or the
/// person's file does.
struct ProxyVariable {
    let name: String
    private let value: String

    /// Finds the variable that names a proxy; nil: none.
    init?(for origin: String) {
        let named = ProxyRoute.variables(for: origin).lazy.compactMap { name in
            Environment[filled: name].map { (name, $0) }
        }
        guard let first = named.first else { return nil }
        (name, value) = first
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
