// SPDX-License-Identifier: Apache-2.0

/// Reads an absolute URL from left to right.
struct URLReader {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    func url() throws(ServiceError) -> ServiceURL {
        try checkCharacters()
        guard let scheme = ServiceURL.scheme(of: text[...])?.lowercased() else {
            throw invalid("it has no scheme such as https://")
        }
        guard scheme == "http" || scheme == "https" else {
            throw invalid("the scheme must be http or https")
        }
        let rest = text.dropFirst(scheme.count + 1)
        guard rest.hasPrefix("//") else { throw invalid("'//' must follow the scheme") }
        let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else {
            throw .userInfoInURL(text: ServiceURL.shown(text))
        }
        let (host, port) = try hostAndPort(authority)
        let origin = Origin(
            scheme: scheme, host: host, port: port ?? Origin.defaultPort(of: scheme))
        return ServiceURL(origin: origin, target: target(text[authority.endIndex...]))
    }

    /// Refuses what may not stand in a URL (RFC 3986 §2).
    func checkCharacters() throws(ServiceError) {
        let punctuation = Set("-._~:/?#[]@!$&'()*+,;=".utf8)
        let bytes = Array(text.utf8)
        for (offset, byte) in bytes.enumerated() {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: continue
            case UInt8(ascii: "%"):
                let digits = bytes[(offset + 1)...].prefix(2)
                guard digits.count == 2, digits.allSatisfy(Self.isHexDigit) else {
                    throw invalid("'%' without two hexadecimal digits at byte \(offset)")
                }
            case _ where punctuation.contains(byte): continue
            case 0x00...0x1F, 0x7F: throw invalid("control character at byte \(offset)")
            case 0x20: throw invalid("there is a space at byte \(offset)")
            case 0x80...:
                throw invalid(
                    "byte \(offset) is not ASCII; percent-encode it, or write the host as xn--…")
            default:
                let character = Character(Unicode.Scalar(byte))
                throw invalid("'\(character)' at byte \(offset); percent-encode it")
            }
        }
    }

    private func target(_ rest: Substring) -> String {
        let target = rest.prefix { $0 != "#" }
        let path = target.prefix { $0 != "?" }
        return "\(path.isEmpty ? "/" : ServiceURL.withoutDots(path))\(target[path.endIndex...])"
    }

    private func hostAndPort(_ authority: Substring) throws(ServiceError) -> (String, Int?) {
        let host: String
        let rest: Substring
        if authority.hasPrefix("[") {
            let inner = authority.dropFirst().prefix { $0 != "]" }
            guard inner.endIndex < authority.endIndex, let address = IPv6Address(inner) else {
                throw invalid("the address in brackets is not IPv6")
            }
            host = "[\(address)]"
            rest = authority[inner.endIndex...].dropFirst()
        } else {
            let name = authority.prefix { $0 != ":" }
            try checkName(name)
            host = name.lowercased()
            rest = authority[name.endIndex...]
        }
        guard !rest.isEmpty else { return (host, nil) }
        guard rest.first == ":" else { throw invalid("a port or a path must follow the host") }
        let digits = rest.dropFirst()
        // RFC 3986 §3.2.3: an empty port means the default.
        guard !digits.isEmpty else { return (host, nil) }
        guard digits.allSatisfy({ ("0"..."9").contains($0) }), let port = Int(digits),
            (1...65535).contains(port)
        else { throw invalid("the port must be a number from 1 to 65535") }
        return (host, port)
    }

    private func checkName(_ name: Substring) throws(ServiceError) {
        guard !name.isEmpty else { throw invalid("it has no host") }
        guard name.utf8.count <= 253 else { throw invalid("the host is longer than 253 bytes") }
        let allowed = name.allSatisfy { character in
            character.isLetter || character.isNumber || "-._~".contains(character)
        }
        guard allowed else { throw invalid("the host may hold letters, digits, '-' and '.' only") }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        Character(Unicode.Scalar(byte)).isHexDigit
    }

    private func invalid(_ reason: String) -> ServiceError { ServiceURL.invalid(text, reason) }
}
