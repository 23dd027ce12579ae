// SPDX-License-Identifier: Apache-2.0

/// The newest samples of a source, as many as fit; older ones give way.
struct RecentSamples {
    private var samples: [Int16]
    /// Where the oldest stands.
    private var start = 0
    private(set) var count = 0

    /// Has room for so many samples, at least one.
    init(capacity: Int) { samples = [Int16](repeating: 0, count: max(1, capacity)) }

    mutating func removeAll() { (start, count) = (0, 0) }

    mutating func append(_ new: Span<Int16>) {
        for index in new.indices {
            samples[(start + count) % samples.count] = new[index]
            if count < samples.count { count += 1 } else { start = (start + 1) % samples.count }
        }
    }

    /// Takes the oldest out.
    ///
    /// - Returns: how many, at most as many as fit; a multiple of `grain`.
    mutating func remove(into room: inout MutableSpan<Int16>, inMultiplesOf grain: Int) -> Int {
        let taken = min(count, room.count) / grain * grain
        for index in 0..<taken { room[index] = samples[(start + index) % samples.count] }
        start = (start + taken) % samples.count
        count -= taken
        return taken
    }
}
