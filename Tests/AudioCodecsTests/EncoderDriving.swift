// SPDX-License-Identifier: Apache-2.0

import TestSupport

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

/// What opusdec makes of Ogg Opus at 48 kHz.
func opusdec(_ bytes: [UInt8]) throws -> [Int16] {
    try ForeignTool("opusdec").run(["--quiet", "--rate", "48000", "-", "-"], input: bytes).samples
}

/// The same at 16 kHz, by sox.
func opusdecSpeech(_ bytes: [UInt8]) throws -> [Int16] {
    try ForeignTool("sox").run(
        [
            "-t", "raw", "-r", "48000", "-e", "signed", "-b", "16", "-c", "1", "-",
            "-t", "s16", "-r", "16000", "-",
        ], input: WAVBytes.pcm(opusdec(bytes))
    ).samples
}

/// What opusenc makes of a WAV file.
func opusenc(_ wav: [UInt8]) throws -> [UInt8] {
    try ForeignTool("opusenc").run(["--quiet", "-", "-"], input: wav).output
}

/// By how many samples `other` must be moved to be most like `one`, and how alike they are then.
func bestLag(_ one: [Int16], _ other: [Int16]) -> (lag: Int, likeness: Double) {
    var best = (lag: 0, likeness: -1.0)
    for lag in -40...40 {
        let likeness = TestSignal.correlation(
            Array(one.dropFirst(max(0, -lag)).prefix(20_000)),
            Array(other.dropFirst(max(0, lag)).prefix(20_000)))
        if likeness > best.likeness { best = (lag, likeness) }
    }
    return best
}
