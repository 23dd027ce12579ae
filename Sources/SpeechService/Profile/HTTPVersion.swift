// SPDX-License-Identifier: Apache-2.0

/// The newest version of HTTP that a request may speak.
public enum HTTPVersion: String, Sendable, CaseIterable {
    /// HTTP/1.1 (RFC 9112).
    case one = "1.1"
    /// HTTP/2 (RFC 9113) where TLS is spoken and the service offers it, otherwise HTTP/1.1.
    case two = "2"
}
