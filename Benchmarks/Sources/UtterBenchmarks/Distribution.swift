// SPDX-License-Identifier: Apache-2.0

/// Measured values, in order.
struct Distribution {
    private let sorted: [Double]

    /// Takes values in any order.
    init(_ values: [Double]) { sorted = values.sorted() }

    /// How many there are.
    var count: Int { sorted.count }
    /// The smallest value; 0 when there is none.
    var minimum: Double { sorted.first ?? 0 }
    /// The largest value; 0 when there is none.
    var maximum: Double { sorted.last ?? 0 }
    /// The value that half of them do not exceed.
    var median: Double { percentile(50) }

    /// Its median and spread, named with a unit.
    func figures(_ unit: String) -> [(name: String, value: Double)] {
        [(unit, median), ("least", minimum), ("most", maximum)]
    }

    /// The value that `percent` of them do not exceed; 0 when there is none.
    func percentile(_ percent: Double) -> Double {
        guard !sorted.isEmpty else { return 0 }
        let rank = Int((Double(sorted.count) * percent / 100).rounded(.up)) - 1
        return sorted[min(max(rank, 0), sorted.count - 1)]
    }
}
