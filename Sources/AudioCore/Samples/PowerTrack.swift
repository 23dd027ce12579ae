// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// How loud a recording is, for each 20 ms; its capture thread writes it, and any thread reads it.
///
/// It takes 180 kB for an hour, in which it allocates nothing.
package final class PowerTrack: Sendable {
    fileprivate struct State {
        /// In half decibels above one step of a sample.
        var units: [UInt8] = []
        /// The unit that is not whole.
        var (sum, count) = (Int64(0), 0)
    }

    fileprivate static let unitFrames = 320

    private let state = Mutex(State())

    package init() { state.withLock { $0.units.reserveCapacity(180_000) } }

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
        for index in samples.indices {
            let sample = Int64(samples[index])
            sum &+= sample * sample
        }
        count += samples.count
        guard count == PowerTrack.unitFrames else { return }
        units.append(UInt8((20 * log10(Double(sum) / Double(count) + 1)).rounded()))
        (sum, count) = (0, 0)
    }
}
