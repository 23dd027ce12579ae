// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import LinuxPlatform

/// The address of a host at a port, which no name server is asked for.
public struct HostResolution: Sendable, Hashable, CustomStringConvertible {
    /// The text `HOST:PORT:ADDRESS`, from which it can be read again.
    public let description: String

    /// Reads `HOST:PORT:ADDRESS`; several addresses stand with commas between them.
    ///
    /// - Throws: `ServiceError.invalidConnection`.
    public init(_ text: String) throws(ServiceError) {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        func invalid(_ reason: String) -> ServiceError {
            .invalidConnection(what: "the address '\(TerminalText.shown(text))'", reason: reason)
        }
        guard parts.count == 3, !parts[0].isEmpty else {
            throw invalid("it is a host, a port and an address, with colons between them")
        }
        guard (try? ServiceURL("http://\(parts[0]):\(parts[1])/")) != nil else {
            // Its reason would speak of a URL.
            throw invalid("it has no usable host and port")
        }
        let addresses = parts[2].split(separator: ",", omittingEmptySubsequences: false)
        for address in addresses where !Self.isAddress(address) {
            throw invalid("'\(address)' is not an internet address")
        }
        description = text
    }

    private static func isAddress(_ text: Substring) -> Bool {
        let isInBrackets = text.hasPrefix("[") && text.hasSuffix("]")
        let bare = String(isInBrackets ? text.dropFirst().dropLast() : text)
        var room = in6_addr()
        return unsafe inet_pton(AF_INET6, bare, &room) == 1
            || !isInBrackets && inet_pton(AF_INET, bare, &room) == 1
    }
}

/// The SHA-256 of a public key (of its SubjectPublicKeyInfo, RFC 7469 §2.4) that a service must have.
public struct PinnedKey: Sendable, Hashable, CustomStringConvertible {
    /// The text `sha256//` and the digest in base64.
    public let description: String

    private static let scheme = "sha256//"

    /// Reads `sha256//…`.
    ///
    /// - Throws: `ServiceError.invalidConnection`.
    public init(_ text: String) throws(ServiceError) {
        guard text.hasPrefix(Self.scheme),
            Data(base64Encoded: String(text.dropFirst(Self.scheme.count)))?.count == 32
        else {
            throw .invalidConnection(
                what: "the key '\(TerminalText.cut(TerminalText.singleLine(text)))'",
                reason: "it is sha256// and a SHA-256 in base64")
        }
        description = text
    }
}
