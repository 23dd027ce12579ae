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

    /// The bound in bytes of the body a second, at least 1.
    func bytesPerSecond(of format: AudioCodec) -> Int {
        switch self {
        case .bytes(let perSecond): max(1, perSecond)
        case .times(let factor):
            Int(max(1, min(factor * Double(format.nominalByteRate), 1e12).rounded()))
        }
    }
}
