// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Utter

/// How loud a recording is, in parts of equal length.
struct Waveform {
    /// The highest sample of each part, from 0 to 1.
    private(set) var peaks: [Float]
    /// The parts in which the signal is cut off at full scale.
    private(set) var clipped: [Int] = []
    /// In seconds.
    let length: Double

    /// Reads the whole recording; blocks on the disk, and decodes.
    init(
        _ samples: consuming TakeSamples, frames: Int, parts: Int
    ) throws(TakeSamples.Failure) {
        peaks = [Float](repeating: 0, count: max(1, parts))
        length = Double(frames) / 16_000
        var (some, place) = ([Int16](), 0)
        while try samples.next(into: &some) {
            for sample in some where place < frames {
                let part = place * peaks.count / frames
                let level = Float(sample.magnitude) / 32_768
                if level > peaks[part] { peaks[part] = level }
                if sample.magnitude >= 32_767, clipped.last != part { clipped.append(part) }
                place += 1
            }
        }
    }

    /// The height of a part, from 0 at -54 dBFS to 1 at full scale.
    func height(of part: Int) -> Float {
        // A sample has 32,768 steps.
        let decibels = 20 * log10(max(peaks[part], 1 / 32_768))
        return max(0, 1 + decibels / 54)
    }

    private static let blocks = Array("▁▂▃▄▅▆▇█")

    /// A row of blocks for a terminal, a part each.
    var row: String {
        String(
            peaks.indices.map { part in
                let index = Int(height(of: part) * Float(Self.blocks.count))
                return height(of: part) == 0 ? " " : Self.blocks[min(index, Self.blocks.count - 1)]
            })
    }
}
