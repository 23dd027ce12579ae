// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Which proxy carries a request, if one does.
///
/// The rules are libcurl's own (`libcurl-env(3)`, `CURLOPT_NOPROXY(3)`). It is told what comes of them,
/// so that the check of an address and the connection never differ about the way. Pure.
package enum ProxyRoute {
    /// The proxy's URL, perhaps with a login, by a connection's settings and, where those say nothing,
    /// by the variables of the environment; nil for none.
    package static func proxy(
        to url: String, by connection: ConnectionSettings, _ variable: (String) -> String?
    ) -> String? {
        let exceptions =
            connection.proxyExceptions?.joined(separator: ",")
            ?? variable("no_proxy") ?? variable("NO_PROXY")
        if isExcepted(host(in: url), by: exceptions ?? "") { return nil }
        return switch connection.proxy {
        case .some(.none): nil
        case .url(let url): url
        case nil: variables(for: url).lazy.compactMap(variable).first
        }
    }

    /// The variables that name a proxy for a URL, of which the first that is set counts.
    ///
    /// `HTTP_PROXY` is none of them: in a server's CGI its client sets that.
    package static func variables(for url: String) -> [String] {
        let own = url.hasPrefix("https:") ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        return own + ["all_proxy", "ALL_PROXY"]
    }

    /// The host of a URL as `ServiceURL` writes it, without the brackets of IPv6; empty for none.
    package static func host(in url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 2)
        guard parts.count > 1 else { return "" }
        let isSix = parts[1].hasPrefix("[")
        return String(
            isSix ? parts[1].dropFirst().prefix { $0 != "]" } : parts[1].prefix { $0 != ":" })
    }

    /// 4 or 16 bytes, in the order of the network; nil for a name.
    package static func address(_ host: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let isSix = host.contains(":")
        guard unsafe inet_pton(isSix ? AF_INET6 : AF_INET, host, &bytes) == 1 else { return nil }
        return Array(bytes.prefix(isSix ? 16 : 4))
    }

    /// A list of names, each with all names below it, addresses, and networks such as `10.0.0.0/8`; or
    /// `*` for every host.
    static func isExcepted(_ host: String, by list: String) -> Bool {
        let own = address(host)
        let name = host.lowercased().withoutDot
        return list == "*"
            || list.split { ", \t".contains($0) }.contains { entry in
                if let own { return contains(entry, own) }
                var entry = entry.lowercased().withoutDot
                if entry.hasPrefix(".") { entry.removeFirst() }
                return !entry.isEmpty && (name == entry || name.hasSuffix("." + entry))
            }
    }

    private static func contains(_ network: Substring, _ own: [UInt8]) -> Bool {
        let parts = network.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let other = address(String(parts[0])), other.count == own.count else { return false }
        // No number, and 0, stand for the address alone.
        let bits = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        return bits == 0
            ? own == other
            : 1...8 * own.count ~= bits
                && (0..<bits).allSatisfy { (own[$0 / 8] ^ other[$0 / 8]) & (0x80 >> ($0 % 8)) == 0 }
    }
}

extension String {
    /// Without the dot at the end of a name (RFC 1034 §3.1).
    fileprivate var withoutDot: String { hasSuffix(".") ? String(dropLast()) : self }
}
