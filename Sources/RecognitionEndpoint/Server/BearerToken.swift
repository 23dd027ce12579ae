// SPDX-License-Identifier: Apache-2.0

/// A secret that clients show in `Authorization: Bearer …` (RFC 6750).
///
/// It never appears in a description.
public struct BearerToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let bytes: [UInt8]

    /// Takes a secret.
    ///
    /// - Returns: nil when it is empty, or has characters that no header field can carry.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        bytes = Array(text.utf8)
    }

    /// The word "redacted".
    public var description: String { "redacted" }

    /// The word "redacted".
    public var debugDescription: String { description }

    /// Nothing, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Whether a header field's value shows this secret.
    ///
    /// Takes the same time for every wrong secret, so that none can be guessed byte by byte.
    func isShown(by authorization: String?) -> Bool {
        let field = Array((authorization ?? "").utf8)
        let scheme = Array("bearer ".utf8)
        guard field.count > scheme.count,
            // RFC 9110 §11.1: the scheme's case does not matter.
            zip(field, scheme).allSatisfy({ $0 | 0x20 == $1 })
        else { return false }
        let shown = field[scheme.count...].drop { $0 == 0x20 }
        var difference = shown.count ^ bytes.count
        for (index, byte) in bytes.enumerated() {
            let place = shown.startIndex + index
            difference |= Int(byte ^ (place < shown.endIndex ? shown[place] : 0))
        }
        return difference == 0
    }
}
