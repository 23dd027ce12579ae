// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where the numbers of a program are told: `127.0.0.1:9464`, `[::1]:9464` or `unix:/run/x.sock`.
package enum MetricsPlace: Sendable, Equatable {
    case port(String, UInt16)
    case path(String)

    /// Reads a place; nil when it is none.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard path.hasPrefix("/") else { return nil }
            self = .path(path)
            return
        }
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        var address = text[..<colon]
        if address.hasPrefix("[") {
            guard address.hasSuffix("]") else { return nil }
            address = address.dropFirst().dropLast()
        } else if address.contains(":") {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 16)
        let family = address.contains(":") ? AF_INET6 : AF_INET
        guard unsafe inet_pton(family, String(address), &bytes) == 1 else { return nil }
        self = .port(String(address), port)
    }

    /// Whether other machines can reach it.
    package var isOpen: Bool {
        if case .port(let address, _) = self {
            !address.hasPrefix("127.") && address != "::1"
        } else {
            false
        }
    }
}
