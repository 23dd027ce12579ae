// SPDX-License-Identifier: Apache-2.0

/// How one sample is stored in a WAV file; little-endian throughout.
package enum SampleFormat: Sendable, Hashable, CaseIterable {
    /// Unsigned 8-bit PCM; silence is 128.
    case uint8
    case int16
    /// Signed 24-bit PCM in three bytes.
    case int24
    case int32
    /// IEEE 754 single precision; full scale is ±1.
    case float32
    /// IEEE 754 double precision; full scale is ±1.
    case float64

    package var byteCount: Int {
        switch self {
        case .uint8: 1
        case .int16: 2
        case .int24: 3
        case .int32, .float32: 4
        case .float64: 8
        }
    }

    /// Appends the samples in `bytes` to `samples` as signed 16-bit PCM.
    ///
    /// Wider samples are rounded to the nearest 16-bit value and clipped; NaN is silence. An
    /// incomplete sample at the end of `bytes` is left out. Allocates only when `samples` has
    /// no room.
    package func decode(_ bytes: Span<UInt8>, into samples: inout [Int16]) {
        let count = bytes.count / byteCount
        guard self != .int16 else {
            return Self.copy(bytes.extracting(first: 2 * count), to: &samples)
        }
        for index in 0..<count {
            samples.append(sample(at: index * byteCount, in: bytes))
        }
    }

    /// Appends samples that are in memory as in the file: all machines that we run on are little-endian.
    private static func copy(_ bytes: Span<UInt8>, to samples: inout [Int16]) {
        samples.append(addingCapacity: bytes.count / 2) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, count in
                unsafe bytes.withUnsafeBytes {
                    unsafe UnsafeMutableRawBufferPointer(buffer).copyMemory(from: $0)
                }
                count = bytes.count / 2
            }
        }
    }

    private func sample(at offset: Int, in bytes: Span<UInt8>) -> Int16 {
        switch self {
        case .uint8:
            Int16(Int(bytes[offset]) - 128) << 8
        case .int16: Int16(truncatingIfNeeded: bytes.littleEndian(at: offset, byteCount: 2))
        case .int24:
            // Moved to the top of 32 bits, so that the sign is where it belongs.
            Self.rounded(
                Int32(truncatingIfNeeded: bytes.littleEndian(at: offset, byteCount: 3) << 8))
        case .int32: Self.rounded(Int32(bitPattern: bytes.word(at: offset)))
        case .float32: Self.rounded(Double(Float(bitPattern: bytes.word(at: offset))))
        case .float64:
            Self.rounded(Double(bitPattern: bytes.littleEndian(at: offset, byteCount: 8)))
        }
    }

    /// The nearest 16-bit value; halves go up, which is what sox does.
    private static func rounded(_ value: Int32) -> Int16 {
        Int16(clamping: (Int(value) + 0x8000) >> 16)
    }

    private static func rounded(_ value: Double) -> Int16 {
        guard !value.isNaN else { return 0 }
        let scaled = (value * 32_768).rounded()
        return Int16(min(max(scaled, -32_768), 32_767))
    }
}

extension Span<UInt8> {
    func littleEndian(at offset: Int, byteCount: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<byteCount {
            value |= UInt64(self[offset + index]) << UInt64(8 * index)
        }
        return value
    }

    fileprivate func word(at offset: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: littleEndian(at: offset, byteCount: 4))
    }
}

/// The rate and layout of interleaved signed 16-bit PCM.
public struct StreamFormat: Sendable, Hashable {
    /// Frames per second, in Hz; greater than zero.
    public var sampleRate: Int

    /// Samples per frame; greater than zero.
    public var channelCount: Int

    /// Creates a format.
    public init(sampleRate: Int, channelCount: Int) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }

    /// The format of every encoder and recogniser: 16 kHz mono.
    public static let speech = StreamFormat(sampleRate: 16_000, channelCount: 1)

    /// Frames in one period of 20 ms, the unit in which the sound card wakes us.
    package var framesPerPeriod: Int { sampleRate / 50 }

    /// Rounded down to a nanosecond.
    package func duration(ofFrames frames: Int) -> Duration {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: sampleRate)
        return .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / sampleRate)
    }

    package func frames(in duration: Duration) -> Int {
        let parts = duration.components
        let rate = Int128(sampleRate)
        let rest = Int128(parts.attoseconds) * rate / 1_000_000_000_000_000_000
        return Int(clamping: Int128(parts.seconds) * rate + rest)
    }
}
