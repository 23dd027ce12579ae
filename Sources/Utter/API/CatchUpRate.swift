// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs

/// How fast a service is given what was recorded before it could be sent.
///
/// It bounds the whole body, so that it must be more than speech needs.
public enum CatchUpRate: Sendable, Hashable {
    /// Bytes of the body a second.
    case bytes(perSecond: Int)
    /// So many times as fast as it was spoken.
    case times(Double)

    /// The bound in bytes of the body a second, at least 1; base64 takes four for three.
    func bytesPerSecond(of format: AudioCodec, inBase64 isBase64: Bool) -> Int {
        switch self {
        case .bytes(let perSecond): max(1, perSecond)
        case .times(let factor):
            Int(
                max(1, min(factor * Double(format.nominalByteRate), 1e12).rounded())
                    * (isBase64 ? 4 / 3 : 1))
        }
    }
}
