// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
package import Utter

/// Copies the audio of a take to a file that players open.
package enum TakeExport {
    /// Writes the audio to a new file: as WAV with its true length when the name ends in `.wav`,
    /// as it is otherwise.
    ///
    /// - Throws: `CommandFailure` when the audio is gone or the file cannot be written.
    package static func write(
        _ take: TakeFolder, _ manifest: TakeManifest, to path: String
    ) throws(CommandFailure) {
        guard let byteCount = manifest.byteCount else {
            throw CommandFailure(
                "take \(manifest.id.text) is still being recorded", status: .notDelivered)
        }
        do {
            let audio = try take.openAudio(of: manifest)
            var bytes = try audio.journal(byteCount: byteCount).contents()
            if path.hasSuffix(".wav") {
                bytes = try wav(of: try samples(of: bytes, manifest))
            }
            try write(bytes, to: path)
            if let report = audio.damageReport { StandardError.line("warning: \(report)") }
        } catch let error as TakeStoreError {
            throw CommandFailure(error)
        } catch let error as SystemError {
            let what =
                error.code == ENOENT && !error.call.hasPrefix("open \(path)")
                ? "its audio has been deleted" : error.description
            throw CommandFailure("take \(manifest.id.text): \(what)", status: .localIO)
        } catch {
            throw CommandFailure("take \(manifest.id.text): \(error)", status: .localIO)
        }
    }

    private static func samples(of bytes: [UInt8], _ manifest: TakeManifest) throws -> [Int16] {
        var samples: [Int16] = []
        if manifest.format == AudioFormat.oggOpus.rawValue {
            let decoder = OggOpusDecoder()
            try decoder.decode(bytes.span, into: &samples)
            try decoder.finish()
        } else {
            let audio = bytes.dropFirst(WAVEncoder.headerByteCount)
            SampleFormat.int16.decode(Array(audio).span, into: &samples)
        }
        return samples
    }

    /// A WAV file with true lengths.
    private static func wav(of samples: [Int16]) throws -> [UInt8] {
        let encoder = WAVEncoder()
        var bytes: [UInt8] = []
        try encoder.begin(into: &bytes)
        try encoder.encode(samples.span, into: &bytes)
        try encoder.finish(into: &bytes)
        // The two lengths that a stream cannot know: RIFF at byte 4, data at byte 40.
        for (offset, length) in [(4, bytes.count - 8), (40, 2 * samples.count)] {
            for index in 0..<4 { bytes[offset + index] = UInt8(length >> (8 * index) & 0xFF) }
        }
        return bytes
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        guard path != "-" else {
            var written = 0
            while written < bytes.count {
                written += try retryingInterrupts("write") {
                    unsafe bytes.withUnsafeBytes {
                        unsafe Glibc.write(
                            STDOUT_FILENO, $0.baseAddress.map { unsafe $0 + written },
                            bytes.count - written)
                    }
                }
            }
            return
        }
        let number = try retryingInterrupts("open \(path)") {
            unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        }
        let file = OwnedDescriptor(taking: number)
        try writeAll(bytes.span, to: file.number, at: 0)
        try retryingInterrupts("fsync \(path)") { fsync(file.number) }
    }
}
