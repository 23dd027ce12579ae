// SPDX-License-Identifier: Apache-2.0

package import AudioCodecs

/// How fast a service is given what was recorded before it could be sent.
///
/// It bounds the whole body, so that it must be more than speech needs.
public enum CatchUpRate: Sendable, Hashable {
    /// Bytes of the body a second.
    case bytes(perSecond: Int)
    /// So many times as fast as it was spoken.
    case times(Double)

    /// Of the body; at least 1; Base64 takes four bytes for three.
    package func bytesPerSecond(of format: AudioCodec, inBase64 isBase64: Bool) -> Int {
        switch self {
        case .bytes(let perSecond): max(1, perSecond)
        case .times(let factor):
            Int(
                max(1, min(factor * Double(format.nominalByteRate), 1e12).rounded())
                    * (isBase64 ? 4 / 3 : 1))
        }
    }

    /// Reads `4x`, or bytes a second such as `64000`, `64k` or `1M`.
    package init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let number = Double(digits), number.isFinite, number > 0 else { return nil }
        let unit = text.dropFirst(digits.count)
        if unit == "x" {
            // A voice that is sent more slowly than it speaks never arrives.
            guard (1.1...10_000).contains(number) else { return nil }
            self = .times(number)
            return
        }
        guard let factor = ["": 1.0, "k": 1_000, "M": 1_000_000][String(unit)],
            (1...1e12).contains(number * factor)
        else { return nil }
        self = .bytes(perSecond: Int(number * factor))
    }
}
