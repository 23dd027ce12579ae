// SPDX-License-Identifier: Apache-2.0

/// What a virtual card says of itself; the words of its file `state`.
public struct VirtualCardAccount: Sendable {
    private let words: [UInt64]

    init(words: [UInt64]) { self.words = words }

    /// The words, in the order of `enum word` in pcm_uttermic.c.
    private enum Word: Int {
        case opens, starts, firstFrame, rate, channels, period, buffer, availMin, captured, stops
        case lost, stale, unpluggedAt, lastStart, closes, format, interrupts
    }

    private subscript(word: Word) -> Int { Int(words[word.rawValue]) }

    /// How often the card was opened.
    public var opens: Int { self[.opens] }
    /// How often the card was closed.
    public var closes: Int { self[.closes] }
    /// How often it was started.
    public var starts: Int { self[.starts] }
    /// The start of frame 0 by `CLOCK_MONOTONIC`, in ns.
    public var firstFrameAt: Int { self[.firstFrame] }
    /// The rate agreed on, in Hz.
    public var rate: Int { self[.rate] }
    /// The number of channels agreed on.
    public var channels: Int { self[.channels] }
    /// The period agreed on, in frames.
    public var period: Int { self[.period] }
    /// The length of the ring agreed on, in frames.
    public var buffer: Int { self[.buffer] }
    /// Frames that must wait before it calls its reader.
    public var availMin: Int { self[.availMin] }
    /// Frames since the first start that its driver has seen.
    public var captured: Int { self[.captured] }
    /// Overruns that stopped it.
    public var stops: Int { self[.stops] }
    /// Frames lost by overruns that stopped it, and by suspending it, until it was started again.
    public var lost: Int { self[.lost] }
    /// Frames that were read after newer ones had overwritten them.
    public var stale: Int { self[.stale] }
    /// Frames since the first start when it was unplugged.
    public var unpluggedAt: Int { self[.unpluggedAt] }
    /// The frame at which it was started last.
    public var lastStart: Int { self[.lastStart] }
    /// Times that it called its reader.
    public var interrupts: Int { self[.interrupts] }
}
