// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
package import Utter

/// Copies the audio of a take to a file that players open.
package enum TakeExport {
    /// Endings that promise what is not written here.
    private static let foreign = [
        ".mp3", ".m4a", ".mp4", ".aac", ".flac", ".webm", ".aiff", ".aif", ".wma", ".amr", ".raw",
        ".pcm",
    ]

    /// Writes the audio to a new file: as WAV with its true length when the name ends in `.wav`,
    /// as it is otherwise.
    ///
    /// - Throws: `CommandFailure` when the audio is gone, the file cannot be written, or its name
    ///   promises another form.
    package static func write(
        _ take: TakeFolder, _ manifest: TakeManifest, to path: String
    ) throws(CommandFailure) {
        try checkName(path, of: manifest)
        let bytes: [UInt8]
        let damageReport: String?
        if path.hasSuffix(".wav") {
            var samples = try TakeSamples(of: take, manifest)
            damageReport = samples.damageReport
            bytes = try wav(of: &samples)
        } else {
            let journal: Journal
            (journal, damageReport) = try TakeSamples.open(take, manifest)
            bytes = try contents(of: journal)
        }
        do throws(SystemError) {
            try write(bytes, to: path)
        } catch {
            guard error.code != EEXIST else {
                throw CommandFailure(
                    "'\(path)' exists already", hint: "choose another name", status: .localIO)
            }
            throw CommandFailure(
                "cannot write '\(path)': \(error.reason)", status: .localIO)
        }
        if let damageReport { StandardError.line("warning: \(damageReport)") }
    }

    /// A name that says what the file is not would mislead every program that goes by it.
    private static func checkName(
        _ path: String, of manifest: TakeManifest
    ) throws(CommandFailure) {
        let isOpus = manifest.format == AudioFormat.oggOpus.rawValue
        let endings = foreign + (isOpus ? [] : [".ogg", ".opus", ".oga"])
        guard let ending = endings.first(where: { path.lowercased().hasSuffix($0) }) else { return }
        let form = isOpus ? "Ogg Opus" : "WAV"
        let isRaw = ending == ".raw" || ending == ".pcm"
        throw CommandFailure(
            "'\(path)' would hold \(form), despite its name",
            hint: "name it with \(isOpus ? ".ogg or .wav" : ".wav"), or convert it: "
                + "utter export \(manifest.id.text) - | ffmpeg -i - \(isRaw ? "-f s16le " : "")OUT\(ending)",
            status: .usage)
    }

    private static func contents(of journal: Journal) throws(CommandFailure) -> [UInt8] {
        do throws(SystemError) {
            return try journal.contents()
        } catch {
            throw CommandFailure("reading the take failed: \(error.reason)", status: .localIO)
        }
    }

    /// A WAV file with true lengths.
    private static func wav(of samples: inout TakeSamples) throws(CommandFailure) -> [UInt8] {
        let encoder = WAVEncoder()
        var bytes: [UInt8] = []
        var some: [Int16] = []
        do {
            try encoder.begin(into: &bytes)
            while try samples.next(into: &some) { try encoder.encode(some.span, into: &bytes) }
            try encoder.finish(into: &bytes)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("the WAV file failed: \(error)", status: .internalError)
        }
        // The two lengths that a stream cannot know: RIFF at byte 4, data at byte 40.
        let audioLength = bytes.count - WAVEncoder.headerByteCount
        for (offset, length) in [(4, bytes.count - 8), (40, audioLength)] {
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
