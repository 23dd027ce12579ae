// SPDX-License-Identifier: Apache-2.0

/// What a virtual sound card offers.
public struct VirtualCard: Sendable {
    /// What each frame says.
    public enum Content: Sendable {
        /// A different value at each frame and channel; see `VirtualMicrophone.sample(at:)`.
        case numbered
        /// The frames of a file of raw signed 16-bit mono, on every channel, then silence.
        case file(path: String)
        /// The same, over and over.
        case loop(path: String)
    }

    /// Rates on offer, in Hz.
    public var rates: [Int] = [16_000, 44_100, 48_000]
    /// Numbers of channels on offer.
    public var channels: [Int] = [1, 2]
    /// ALSA's names of the sample formats on offer.
    public var formats: [String] = ["S16_LE"]
    /// How many periods the ring may have.
    public var periods: ClosedRange<Int> = 2...1_024
    /// How many bytes a period may have.
    public var periodBytes: ClosedRange<Int> = 64...65_536
    /// How many bytes the ring may have.
    public var bufferBytes: ClosedRange<Int> = 256...4_000_000
    /// Whether it stops at an overrun even when told not to, as some plug-ins do.
    public var alwaysStops = false
    /// By how many frames its position moves at a time; a sound server's moves by its quantum.
    public var chunk = 1
    /// What it captures.
    public var content = Content.numbered

    /// Creates a card like a USB headset: many rates, a ring of seconds.
    public init() {}

    /// A card like those on a main board: stereo only, 44.1 and 48 kHz, a ring of 64 KiB in at
    /// most 32 periods.
    public static var builtIn: VirtualCard {
        var card = VirtualCard()
        card.rates = [44_100, 48_000]
        card.channels = [2]
        card.periods = 2...32
        card.periodBytes = 128...32_768
        card.bufferBytes = 256...65_536
        return card
    }

    /// A card whose ring is short enough to overrun it in a test.
    public static func withRing(ofFrames frames: Int, rate: Int = 16_000) -> VirtualCard {
        var card = VirtualCard()
        card.rates = [rate]
        card.channels = [1]
        card.bufferBytes = frames * 2...frames * 2
        return card
    }

    /// The properties as the plug-in reads them.
    var lines: String {
        func list(_ values: [Int]) -> String { values.map(String.init).joined(separator: " ") }
        func range(_ values: ClosedRange<Int>) -> String {
            "\(values.lowerBound) \(values.upperBound)"
        }
        var lines = [
            "rates \(list(rates))", "channels \(list(channels))",
            "formats \(formats.joined(separator: " "))", "periods \(range(periods))",
            "period_bytes \(range(periodBytes))", "buffer_bytes \(range(bufferBytes))",
            "always_stops \(alwaysStops ? 1 : 0)", "chunk \(chunk > 1 ? chunk : 0)",
        ]
        switch content {
        case .numbered: break
        case .file(let path): lines.append("content \(path)")
        case .loop(let path): lines += ["loop 1", "content \(path)"]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
