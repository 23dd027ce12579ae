// SPDX-License-Identifier: Apache-2.0

/// What a virtual sound card offers; one like a USB headset has many rates and a ring of seconds.
package struct VirtualCard: Sendable {
    /// What each frame says.
    package enum Content: Sendable {
        /// A different value at each frame and channel; see `VirtualMicrophone.sample(at:)`.
        case numbered
        /// The frames of a file of raw signed 16-bit mono, on every channel, then silence.
        case file(path: String)
        /// The same, over and over.
        case loop(path: String)
    }

    package var rates: [Int] = [16_000, 44_100, 48_000]
    package var channels: [Int] = [1, 2]
    package var formats: [String] = ["S16_LE"]
    package var periods: ClosedRange<Int> = 2...1_024
    package var periodBytes: ClosedRange<Int> = 64...65_536
    package var bufferBytes: ClosedRange<Int> = 256...4_000_000
    /// Whether it stops at an overrun even when told not to, as some plug-ins do.
    package var alwaysStops = false
    /// By how many frames its position moves at a time; a sound server's moves by its quantum.
    package var chunk = 1
    package var content = Content.numbered

    package init() {}

    /// A card like those on a main board: stereo only, 44.1 and 48 kHz, a ring of 64 KiB in at
    /// most 32 periods.
    package static var builtIn: VirtualCard {
        var card = VirtualCard()
        card.rates = [44_100, 48_000]
        card.channels = [2]
        card.periods = 2...32
        card.periodBytes = 128...32_768
        card.bufferBytes = 256...65_536
        return card
    }

    /// A card whose ring is short enough to overrun it in a test.
    package static func withRing(ofFrames frames: Int, rate: Int = 16_000) -> VirtualCard {
        var card = VirtualCard()
        card.rates = [rate]
        card.channels = [1]
        card.bufferBytes = frames * 2...frames * 2
        return card
    }

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

/// What a virtual card says of itself; the words of its file `state`.
package struct VirtualCardAccount: Sendable {
    private let words: [UInt64]

    init(words: [UInt64]) { self.words = words }

    /// The words, in the order of `enum word` in pcm_uttermic.c.
    private enum Word: Int {
        case opens, starts, firstFrame, rate, channels, period, buffer, availMin, captured, stops
        case lost, stale, unpluggedAt, lastStart, closes
    }

    private subscript(word: Word) -> Int { Int(words[word.rawValue]) }

    package var opens: Int { self[.opens] }
    package var closes: Int { self[.closes] }
    package var starts: Int { self[.starts] }
    /// The start of frame 0 by `CLOCK_MONOTONIC`, in ns.
    package var firstFrameAt: Int { self[.firstFrame] }
    package var rate: Int { self[.rate] }
    /// What was agreed on, in frames.
    package var period: Int { self[.period] }
    package var buffer: Int { self[.buffer] }
    /// Frames since the first start that its driver has seen.
    package var captured: Int { self[.captured] }
    package var stops: Int { self[.stops] }
    /// Frames lost by overruns that stopped it, and by suspending it, until it was started again.
    package var lost: Int { self[.lost] }
    /// Frames that were read after newer ones had overwritten them.
    package var stale: Int { self[.stale] }
    /// Frames since the first start when it was unplugged.
    package var unpluggedAt: Int { self[.unpluggedAt] }
    /// The frame at which it was started last.
    package var lastStart: Int { self[.lastStart] }
}
