// SPDX-License-Identifier: Apache-2.0

package struct TransferRoute: Sendable, Equatable {
    /// Our address and port, such as `192.0.2.7:41234` or `[::1]:41234`.
    package var local: String?
    /// The address and port at the other end: the service's, or the proxy's.
    package var remote: String?
    package var isByProxy = false
    /// The version of TLS, such as `TLSv1.3`; nil without TLS.
    package var tls: String?
    /// The cipher, as OpenSSL calls it; nil without TLS.
    package var cipher: String?

    init() {}

    /// Takes note of a head that was sent: a proxy is asked for the whole URL (RFC 9112 §3.2.2), or
    /// to connect.
    mutating func note(requestHead: String) {
        let line = requestHead.prefix { !$0.isNewline }.split(separator: " ")
        guard line.count > 1 else { return }
        if line[0] == "CONNECT" || line[1].hasPrefix("http://") { isByProxy = true }
    }

    /// An address with its port; an IPv6 address in brackets.
    static func place(_ address: String?, _ port: Int) -> String? {
        guard let address, !address.isEmpty, port > 0 else { return nil }
        return address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}
