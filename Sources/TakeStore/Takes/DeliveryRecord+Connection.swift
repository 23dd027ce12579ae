// SPDX-License-Identifier: Apache-2.0

extension DeliveryRecord {
    /// How connections are made, beside what stands in the record itself; what is nil is as usual.
    package struct Connection: Sendable, Codable, Equatable {
        /// The proxy's URL, or `none`.
        package var proxy: String?
        /// Hosts that are reached without it.
        package var proxyExceptions: [String]?
        /// The file whose first line is the proxy's name and password.
        package var proxyLoginFile: String?
        /// The environment variable that holds them.
        package var proxyLoginVariable: String?
        /// Whether they were typed or piped, and must be given again.
        package var proxyLoginIsGiven: Bool?
        /// A file with the client's certificate, an absolute path.
        package var clientCertificate: String?
        /// The file with its private key, an absolute path.
        package var clientKey: String?
        /// The oldest version of TLS, such as `1.3`.
        package var minimumTLS: String?
        /// The public keys of which the service must have one.
        package var pinnedKeys: [String]?
        /// The kind of address, `4` or `6`.
        package var addresses: String?
        /// Addresses of hosts, as `HOST:PORT:ADDRESS`.
        package var resolutions: [String]?

        /// All as usual.
        package init() {}
    }
}
