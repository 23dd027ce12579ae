// SPDX-License-Identifier: Apache-2.0

/// The members of a JSON object that says what follows it.
package struct JSONHead {
    private let value: JSONValue

    /// - Returns: nil when the bytes are no object of JSON.
    package init?(_ bytes: [UInt8]) {
        // The caller reports the mistake.
        guard let value = try? JSONParser.parse(bytes), case .object = value else { return nil }
        self.value = value
    }

    package func text(_ name: String) -> String? { value[name]?.string }

    /// The whole number that a member is; nil for none and for others.
    package func count(_ name: String) -> Int? { value[name]?.number.flatMap(Int.init(exactly:)) }
}
