// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import LinuxPlatform
internal import TakeStore

extension Journal {
    /// The same recording in another form, in memory; the same bytes each time for a take.
    ///
    /// Blocks on the disk and for the codec. PCM and WAV share one file, which is returned. A
    /// recording that is too large for one take's memory cannot be converted.
    ///
    /// - Throws: `TakeSamples.Failure`, `EncodingError` or `SystemError`.
    func converted(
        from old: AudioCodec, to new: AudioCodec, of take: TakeID
    ) throws -> Journal {
        guard !old.isKept(like: new) else { return self }
        // A service that has seen a body under the take's id wants the same one again.
        let encoder = try new.makeEncoder(serialNumber: FNV.hash(take.text.utf8))
        var source = TakeSamples(self, codec: old)
        var samples: [Int16] = []
        var hasBegun = false
        return try Journal.inMemory { bytes in
            if !hasBegun {
                hasBegun = true
                try encoder.begin(into: &bytes)
                return true
            }
            if try source.next(into: &samples) {
                try encoder.encode(samples.span, into: &bytes)
                return true
            }
            try encoder.finish(into: &bytes)
            return false
        }
    }
}
