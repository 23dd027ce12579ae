// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// How loud a recording is, for each 20 ms; one thread writes it, and any thread reads it.
///
/// It takes 180 kB for an hour, in which it allocates nothing.
package final class PowerTrack: Sendable {
    fileprivate struct State {
        /// In half decibels above one step of a sample.
        var units: [UInt8] = []
        /// The unit that is not whole.
        var (sum, count) = (Int64(0), 0)

        var end: Int { units.count * PowerTrack.unitFrames + count }
    }

    fileprivate static let unitFrames = 320
    /// Units of a step of the summary, 100 ms.
    private static let stepUnits = 5

    /// The capture thread adds what is encoded; otherwise who reads the recording adds what it measures.
    package let isLive: Bool
    private let state = Mutex(State())

    package init() {
        isLive = true
        state.withLock { $0.units.reserveCapacity(180_000) }
    }

    /// Begins where an earlier track of the same recording ended.
    package init(summary: some Sequence<UInt8>) {
        isLive = false
        let units = summary.flatMap { repeatElement($0, count: Self.stepUnits) }
        state.withLock { $0.units = units }
    }

    /// The loudest 20 ms of each 100, in half decibels above one step of a sample.
    package var summary: [UInt8] {
        let units = state.withLock { $0.units }
        return stride(from: Self.stepUnits, through: units.count, by: Self.stepUnits).map {
            units[($0 - Self.stepUnits)..<$0].reduce(0, max)
        }
    }

    /// The frames whose loudness is known.
    package var end: Int { state.withLock { $0.end } }

    package func add(_ samples: Span<Int16>) {
        state.withLock { state in
            var rest = samples
            while !rest.isEmpty {
                let piece = rest.extracting(first: Self.unitFrames - state.count)
                rest = rest.extracting(droppingFirst: piece.count)
                state.add(piece)
            }
        }
    }

    /// The frames from the end up to this one are as loud.
    package func add(_ power: Double, upTo frame: Int) {
        state.withLock { state in
            while state.end < frame {
                let count = min(Self.unitFrames - state.count, frame - state.end)
                state.add(Int64(power * Double(count)), of: count)
            }
        }
    }

    /// The mean of the squares of the samples around this frame; 0 behind the last one.
    package func power(at frame: Int) -> Double {
        state.withLock { state in
            let index = frame / Self.unitFrames
            guard index < state.units.count else { return 0 }
            return pow(10, Double(state.units[index]) / 20) - 1
        }
    }
}

extension PowerTrack.State {
    /// Adds samples of the unit that is not whole yet.
    fileprivate mutating func add(_ samples: Span<Int16>) {
        var squares: Int64 = 0
        for index in samples.indices {
            let sample = Int64(samples[index])
            squares &+= sample * sample
        }
        add(squares, of: samples.count)
    }

    /// Adds the sum of the squares of so many.
    fileprivate mutating func add(_ squares: Int64, of frames: Int) {
        (sum, count) = (sum + squares, count + frames)
        guard count == PowerTrack.unitFrames else { return }
        units.append(UInt8((20 * log10(Double(sum) / Double(count) + 1)).rounded()))
        (sum, count) = (0, 0)
    }
}
