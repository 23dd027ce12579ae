// SPDX-License-Identifier: Apache-2.0

/// A field of a head, in the file one line: `Content-Type: audio/wav`.
package struct CassetteField: Sendable, Equatable, Codable {
    /// The name as it was written.
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    package init(from decoder: any Decoder) throws {
        let line = try decoder.singleValueContainer().decode(String.self)
        guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
            throw CassetteError.unreadable(reason: "a header has no ':' behind its name")
        }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        self.init(String(line[..<colon]), String(value))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(name): \(value)")
    }

    /// Whether the field has this name; fields have no case.
    package func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }
}

extension [CassetteField] {
    /// The value of the first field of that name, or nil.
    package func value(of name: String) -> String? { first { $0.isNamed(name) }?.value }
}
