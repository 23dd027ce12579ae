// SPDX-License-Identifier: Apache-2.0

@testable import AudioCodecs

extension AudioEncoder {
    /// The whole file that `samples` make, fed in `pieces`.
    func file(of samples: [Int16], in pieces: [Range<Int>]) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try begin(into: &bytes)
        for piece in pieces {
            try encode(samples.span.extracting(piece), into: &bytes)
        }
        try finish(into: &bytes)
        return bytes
    }

    /// The whole file that `samples` make, fed at once.
    func file(of samples: [Int16]) throws -> [UInt8] {
        try file(of: samples, in: [samples.indices])
    }
}
