// SPDX-License-Identifier: Apache-2.0

/// The method of a request that carries a recording (RFC 9110 §9.3).
public enum RequestMethod: String, Sendable, Codable, CaseIterable {
    /// The recording is processed by what is at the URL.
    case post = "POST"
    /// The recording becomes what is at the URL.
    case put = "PUT"
}
