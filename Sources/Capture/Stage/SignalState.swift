// SPDX-License-Identifier: Apache-2.0

/// What a microphone's signal is like.
public enum SignalState: String, Sendable, CaseIterable {
    /// As it should be, or nothing is known against it.
    case good
    /// No frame has come for a second.
    case absent = "no-frames"
    /// Every sample has been zero for a second, or for 30 s after anything else: a microphone that
    /// is muted, or not connected.
    case zero = "digital-silence"
    /// No sample has been more than the last bit for two seconds, or for 30 s after anything else:
    /// an input without a microphone.
    case dead = "dead-input"
    /// Nothing has come above -46 dBFS in the first three seconds.
    case faint = "very-quiet"
    /// The signal is cut off at full scale.
    case clipped = "clipping"
}
