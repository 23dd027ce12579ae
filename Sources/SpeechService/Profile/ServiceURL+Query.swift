// SPDX-License-Identifier: Apache-2.0

/// The parameters of a URL's query, as `name=value` between `&` (WHATWG URL §5.1).
extension ServiceURL {
    /// Takes the values of parameters whose names are those of secrets out of the query.
    ///
    /// - Returns: the URL, in which the names stay, and what was taken out, as it was written.
    func withoutSecrets() -> (url: ServiceURL, secrets: [(name: String, value: String)]) {
        var secrets: [(name: String, value: String)] = []
        let url = mappingParameters { name, value in
            guard !value.isEmpty, SecretName.isSecret(name) else { return nil }
            secrets.append((name: name, value: value))
            return ""
        }
        return (url, secrets)
    }

    /// The URL with this value, already fit for a query, in the parameters of this name.
    func settingParameter(_ name: String, to value: String) -> ServiceURL {
        mappingParameters { found, _ in found == name ? value : nil }
    }

    /// The URL with a parameter of this name, which has no value unless it is there already.
    func naming(_ name: String) -> ServiceURL {
        guard parameter(name) == nil else { return self }
        let sign = !target.contains("?") ? "?" : target.hasSuffix("?") ? "" : "&"
        return ServiceURL(origin: origin, target: "\(target)\(sign)\(name)=")
    }

    /// The value of the first parameter of this name as it is written, or nil.
    package func parameter(_ name: String) -> String? {
        var first: String?
        _ = mappingParameters { found, value in
            if found == name, first == nil { first = value }
            return nil
        }
        return first
    }

    /// The text with every byte percent-encoded that is not unreserved (RFC 3986 §2.3).
    package static func percentEncoded(_ text: String, keeping others: String = "") -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            case _ where others.utf8.contains(byte): bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Replaces values for which `change` gives another; those without `=` have none.
    private func mappingParameters(
        _ change: (_ name: String, _ value: String) -> String?
    ) -> ServiceURL {
        guard let mark = target.firstIndex(of: "?") else { return self }
        let query = target[target.index(after: mark)...]
        let parameters = query.split(separator: "&", omittingEmptySubsequences: false).map {
            parameter -> String in
            guard let sign = parameter.firstIndex(of: "=") else { return String(parameter) }
            let value = parameter[parameter.index(after: sign)...]
            guard let new = change(String(parameter[..<sign]), String(value)) else {
                return String(parameter)
            }
            return parameter[...sign] + new
        }
        return ServiceURL(
            origin: origin, target: target[...mark] + parameters.joined(separator: "&"))
    }
}
