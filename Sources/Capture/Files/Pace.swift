// SPDX-License-Identifier: Apache-2.0

/// How fast a recording is replayed.
public enum Pace: Sendable, Hashable {
    /// As it was spoken: a frame is delivered when it would have come from a microphone.
    case realTime
    /// This many times as fast; greater than zero. Any other value is `unpaced`.
    case times(Double)
    /// As fast as it is read.
    case unpaced

    /// How many times as fast as spoken, or `nil` when nothing holds it back.
    var speed: Double? {
        switch self {
        case .realTime: 1
        case .times(let factor): factor > 0 && factor.isFinite ? factor : nil
        case .unpaced: nil
        }
    }
}
