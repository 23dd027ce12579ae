// SPDX-License-Identifier: Apache-2.0

/// Makes one channel of several, such that no voice disappears.
///
/// It decides anew for each window of 20 ms. A frame becomes the mean of its channels, unless the
/// window's mean is more than 12 dB below its loudest channel: channels that cancel each other out, or
/// a voice in one of many. Then it becomes a sample of that channel alone, from this window on. The
/// channel gives way to another one that is 6 dB louder, and to the mean after a second of sound of
/// which the mean is at most 9 dB below the loudest channel. Silence decides nothing. The same samples
/// are mixed alike however they are cut.
///
/// After its first window it allocates only when the output grows.
struct ChannelMixer {
    /// Ratios of energies: 12, 9 and 6 dB.
    private static let (lost, present, louder) = (15.85, 7.94, 3.98)

    /// The mean square of a window's loudest channel, -70 dBFS, below which it is silence.
    private static let silence = 100.0

    /// Windows of a second.
    private static let release = 50

    private let channelCount: Int
    private let windowFrames: Int
    /// Interleaved, less than a window.
    private var window: [Int16] = []
    private var energies: [Double]
    /// The channel that is taken alone; nil: the mean of all.
    private var channel: Int?
    private var presentWindows = 0

    /// Whether a channel alone was taken at any time.
    private(set) var hasChosen = false

    init(_ format: StreamFormat) {
        channelCount = format.channelCount
        windowFrames = max(1, format.framesPerPeriod)
        energies = Array(repeating: 0, count: channelCount)
        window.reserveCapacity(windowFrames * channelCount)
    }

    /// Takes interleaved samples in, and hands over the frames of each window that is whole: a sum,
    /// and of how many samples it is.
    mutating func mix<Failure: Error>(
        _ samples: Span<Int16>, _ take: (_ sum: Int, _ count: Int) throws(Failure) -> Void
    ) throws(Failure) {
        for index in samples.indices {
            window.append(samples[index])
            if window.count == windowFrames * channelCount { try finish(take) }
        }
    }

    /// Hands over what is left, without an incomplete last frame.
    mutating func finish<Failure: Error>(
        _ take: (_ sum: Int, _ count: Int) throws(Failure) -> Void
    ) throws(Failure) {
        let frames = window.count / channelCount
        if frames > 0 { choose(frames) }
        for frame in 0..<frames {
            let start = frame * channelCount
            if let channel {
                try take(Int(window[start + channel]), 1)
            } else {
                try take(sum(at: start), channelCount)
            }
        }
        window.removeAll(keepingCapacity: true)
    }

    private func sum(at start: Int) -> Int {
        var sum = 0
        for index in start..<start + channelCount { sum += Int(window[index]) }
        return sum
    }

    private mutating func choose(_ frames: Int) {
        var meanEnergy = 0.0
        for index in energies.indices { energies[index] = 0 }
        for frame in 0..<frames {
            let start = frame * channelCount
            for index in 0..<channelCount {
                let sample = Double(window[start + index])
                energies[index] += sample * sample
            }
            let mean = Double(sum(at: start)) / Double(channelCount)
            meanEnergy += mean * mean
        }
        var loudest = 0
        for index in energies.indices where energies[index] > energies[loudest] { loudest = index }
        let energy = energies[loudest]
        guard energy >= Self.silence * Double(frames) else { return }
        if meanEnergy * Self.lost < energy {
            (channel, presentWindows, hasChosen) = (channel ?? loudest, 0, true)
        } else if channel != nil {
            presentWindows = meanEnergy * Self.present < energy ? 0 : presentWindows + 1
            if presentWindows == Self.release { channel = nil }
        }
        if let now = channel, energies[now] * Self.louder < energy { channel = loudest }
    }
}
