// SPDX-License-Identifier: Apache-2.0

struct OpusSettings: Sendable, Hashable, Codable {
    /// The bit rates that the codec takes, in bits per second.
    static let bitrates = 6_000...510_000

    static let complexities = 0...10

    /// The page intervals that the encoder takes, in steps of 20 ms.
    static let pageIntervals = Duration.milliseconds(20)...Duration.milliseconds(100)

    /// The mean bit rate that the codec aims at, in bits per second.
    var bitrate: Int

    /// How hard the codec tries; 5 costs 17 s of CPU per hour of audio, 10 costs 33 s.
    var complexity: Int

    /// How much audio is collected before a page is written.
    ///
    /// Audio waits for its page, so this is delay, and what a killed program loses; a page costs
    /// 28 bytes, so 20 ms pages cost 11 kbit/s and 100 ms pages 2.6 kbit/s.
    var pageInterval: Duration

    /// Creates settings; they are checked when an encoder is made of them.
    init(
        bitrate: Int = 32_000, complexity: Int = 5, pageInterval: Duration = .milliseconds(20)
    ) {
        self.bitrate = bitrate
        self.complexity = complexity
        self.pageInterval = pageInterval
    }

    /// Packets of 20 ms on one page.
    func packetsPerPage() throws(EncodingError) -> Int {
        guard Self.bitrates.contains(bitrate) else {
            throw .unsupportedSetting(
                detail: "an Opus bit rate of \(bitrate) bit/s is not between "
                    + "\(Self.bitrates.lowerBound) and \(Self.bitrates.upperBound)")
        }
        guard Self.complexities.contains(complexity) else {
            throw .unsupportedSetting(
                detail: "an Opus complexity of \(complexity) is not between "
                    + "\(Self.complexities.lowerBound) and \(Self.complexities.upperBound)")
        }
        let packets = Int(exactly: pageInterval / .milliseconds(20))
        guard let packets, Self.pageIntervals.contains(pageInterval) else {
            throw .unsupportedSetting(
                detail: "an Ogg page interval of \(pageInterval) is not 20, 40, 60, 80 or 100 ms")
        }
        return packets
    }
}
