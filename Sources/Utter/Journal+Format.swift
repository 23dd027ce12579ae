// SPDX-License-Identifier: Apache-2.0

internal import AudioEncoding
internal import LinuxPlatform
internal import TakeStore

extension Journal {
    /// The same recording in another form, in memory.
    ///
    /// Blocks on the disk and for the codec. PCM and WAV are one file, which is returned as it is.
    /// What does not fit into the memory of one take cannot be converted.
    ///
    /// - Throws: `JournalSamples.Failure`, `EncodingError` or `SystemError`.
    func converted(from old: AudioFormat, to new: AudioFormat) throws -> Journal {
        guard old.fileExtension != new.fileExtension else { return self }
        let encoder = try new.makeEncoder()
        var source = JournalSamples(self, format: old)
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
