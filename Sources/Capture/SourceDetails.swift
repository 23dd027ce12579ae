// SPDX-License-Identifier: Apache-2.0

public import AudioCore

/// What was agreed on with a device.
public struct SourceDetails: Sendable, Equatable {
    /// The sound card behind the device; nil when a sound server stands before it.
    public var card: String?
    /// How it writes a sample, by ALSA's name, such as "S16_LE".
    public var sampleFormat: String
    /// The rate and number of channels that it delivers.
    public var format: StreamFormat
    /// Frames between two wake-ups.
    public var periodFrames: Int
    /// Frames that its ring holds.
    public var bufferFrames: Int

    package init(
        card: String? = nil, sampleFormat: String, format: StreamFormat, periodFrames: Int,
        bufferFrames: Int
    ) {
        self.card = card
        self.sampleFormat = sampleFormat
        self.format = format
        self.periodFrames = periodFrames
        self.bufferFrames = bufferFrames
    }
}
