// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
package import Utter

/// Copies the audio of a take to a file that players open.
package enum TakeExport {
    private static let foreign = [
        ".mp3", ".m4a", ".mp4", ".aac", ".webm", ".aiff", ".aif", ".wma", ".amr", ".raw", ".pcm",
    ]

    /// Writes the audio to a new file: in the form that the name's ending stands for, and as it is
    /// when it stands for none.
    package static func write(
        _ take: TakeFolder, _ manifest: TakeManifest, to path: String
    ) throws(CommandFailure) {
        try checkName(path, of: manifest)
        let bytes: [UInt8]
        let damageReport: String?
        // Lossy audio is copied rather than encoded twice; the header of any other can say more now.
        let codec = AudioCodec(fileName: path)
        if let codec, codec.isLossless || codec.name != manifest.format {
            var samples = try TakeSamples(of: take, manifest)
            damageReport = samples.damageReport
            bytes = try file(of: &samples, codec)
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
        guard let ending = foreign.first(where: { path.lowercased().hasSuffix($0) }) else { return }
        let form = AudioCodec(rawValue: manifest.format)?.title ?? AudioCodec.pcm.title
        let isRaw = ending == ".raw" || ending == ".pcm"
        let known = AudioCodec.allCases.dropFirst().map { ".\($0.fileExtension)" }
        throw CommandFailure(
            "'\(path)' would hold \(form), despite its name",
            hint: "name it with \(known.joined(separator: ", ")), or convert it: "
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

    /// A file whose header says how long it is, where its form can say that.
    private static func file(
        of samples: inout TakeSamples, _ codec: AudioCodec
    ) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var some: [Int16] = []
        do {
            let encoder = try codec.makeEncoder()
            try encoder.begin(into: &bytes)
            while try samples.next(into: &some) { try encoder.encode(some.span, into: &bytes) }
            try encoder.finish(into: &bytes)
            if let header = encoder.settledHeader {
                bytes.replaceSubrange(..<header.count, with: header)
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(
                "the \(codec.title) file failed: \(error)", status: .internalError)
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
