// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import Cryptography
internal import Glibc
internal import LinuxPlatform
internal import TakeStore

/// How the audio of takes leaves a spool. All calls block on the disk.
extension Spool {
    /// Reads the samples of a take, 16 kHz mono, from the first one on.
    ///
    /// - Throws: `TakeStoreError` when the take is still being recorded, or its audio cannot be opened.
    public func samples(of take: KeptTake) throws(TakeStoreError) -> TakeSamples {
        // The decoder finds what is missing.
        let (journal, codec, report) = try journal(of: take, looksForEnd: false)
        return TakeSamples(journal, codec: codec, damageReport: report)
    }

    /// Copies the audio of a take to a new file that its owner alone can read.
    ///
    /// The file has the form that its name's ending stands for, and otherwise that of the take. WAV of
    /// more than 4 GiB becomes RF64.
    ///
    /// - Returns: what of the audio is missing, or silent because it was altered or damaged; nil when
    ///   nothing is.
    /// - Throws: `TakeStoreError` as for `samples`, or when the name stands for a form that cannot be
    ///   written; `TakeSamples.Failure`; `EncodingError`; `SystemError` with `EEXIST` when there is
    ///   such a file, and with other codes when the disk refuses. An incomplete file is removed.
    @discardableResult
    public func export(_ take: KeptTake, to path: String) throws -> String? {
        let (journal, old, report) = try journal(of: take)
        let frames = try take.manifest.get().frames ?? 0
        try write(journal, old, frames: frames, of: take.id, to: path)
        return report
    }

    /// Copies an encrypted file of an archive in the clear, as `export` does with a take's audio; the
    /// key is this spool's.
    ///
    /// - Parameters:
    ///   - file: its path, with the take's name in it, and the ending that it had there, such as
    ///     `wav.encrypted`, `txt.encrypted` or `json.encrypted`; or the body of a request that was
    ///     encrypted, under any name.
    ///   - path: the new file.
    /// - Returns: what of the audio is silent because it was altered or damaged; nil when nothing is.
    /// - Throws: as `export`; `TakeStoreError` when the key is missing, or does not open it.
    @discardableResult
    public func export(archived file: String, to path: String) throws -> String? {
        let (journal, codec, report) = try archived(file)
        guard let codec else {
            _ = try journal.export(to: path)
            return nil
        }
        try write(journal, codec, frames: 0, of: TakeID(in: file), to: path)
        return report
    }

    /// Hands over an encrypted file of an archive in the clear, piece by piece; the rest is as above.
    package func copy(
        archived file: String, _ write: (Span<UInt8>) throws -> Void
    ) throws -> String? {
        let (journal, _, report) = try archived(file)
        try copy(journal, write)
        return report
    }

    /// Opens a file of an archive; a text has no codec.
    private func archived(
        _ file: String
    ) throws -> (Journal, AudioCodec?, damageReport: String?) {
        let descriptor: OwnedDescriptor
        do throws(SystemError) {
            descriptor = OwnedDescriptor(
                taking: try retryingInterrupts("open \(file)") {
                    unsafe open(file.cPath, O_RDONLY | O_CLOEXEC)
                })
        } catch {
            throw TakeStoreError.unreadable(take: file, reason: error.reason)
        }
        if let body = try body(in: descriptor.number, file) { return body }
        guard let id = TakeID(in: file), file.hasSuffix(TakeFolder.encryptedSuffix) else {
            throw TakeStoreError.unreadable(
                take: file,
                reason: "a file of an archive has the take's id in its name, and ends "
                    + "in \(TakeFolder.encryptedSuffix)")
        }
        guard let key = try store().key else { throw TakeStoreError.keyMissing(take: id.text) }
        let name = String(file.dropLast(TakeFolder.encryptedSuffix.count))
        if let kind = ["txt", "json"].first(where: { name.hasSuffix("." + $0) }) {
            let bytes = try readAll(descriptor.number, limit: 1 << 27)
            let text: [UInt8]
            do throws(EncryptionError) {
                text = try key.open(bytes, for: Array("archive \(id.text) \(kind)".utf8))
            } catch {
                throw Self.refusal(error == .wrongKey, id)
            }
            let journal = try Journal.inMemory { bytes in
                bytes = text
                return false
            }
            return (journal, nil, nil)
        }
        let size = Int(lseek(descriptor.number, 0, SEEK_END))
        do throws(SystemError) {
            let audio = try TakeAudio(
                encrypted: descriptor, size: size, path: file, key: key, of: id)
            return (
                audio.journal(byteCount: audio.byteCount), AudioCodec(fileName: name) ?? .wav,
                audio.damageReport
                    ?? (audio.hasEnd ? nil : "the end of its audio is missing")
            )
        } catch {
            guard error.code == EKEYREJECTED || error.code == EKEYREVOKED else { throw error }
            throw Self.refusal(error.code == EKEYREJECTED, id)
        }
    }

    /// The encrypted body of a request, which has no codec unless it is a recording; nil when the
    /// file is not one.
    private func body(
        in descriptor: Int32, _ file: String
    ) throws -> (Journal, AudioCodec?, damageReport: String?)? {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        func read(at offset: Int) throws(SystemError) -> Int {
            Int(
                try retryingInterrupts("read \(file)") {
                    unsafe pread(descriptor, &piece, piece.count, off_t(offset))
                })
        }
        let count = try read(at: 0)
        guard EncryptedFileHeader.isOfBody(Array(piece.prefix(count))) else { return nil }
        guard let key = try store().key else { throw TakeStoreError.keyMissing(take: file) }
        var reader = SealedBodyReader(key: key)
        var offset = 0
        var codec: AudioCodec?
        let journal = try Journal.inMemory { bytes in
            let count = try read(at: offset)
            offset += count
            do throws(EncryptionError) {
                try reader.read(piece.span.extracting(first: count), into: &bytes)
                if codec == nil, let type = reader.head?.contentType {
                    codec = AudioCodec(mediaType: type)
                    // Samples alone are a file with a header here.
                    if codec == .pcm { bytes = AudioCodec.pcm.header + bytes }
                }
            } catch {
                throw error == .wrongKey
                    ? TakeStoreError.keyWrong(take: file)
                    : .damaged(take: file, reason: "it was altered")
            }
            return count > 0
        }
        return (journal, codec, reader.isWhole ? nil : "the end of it is missing")
    }

    private static func refusal(_ isOfOtherKey: Bool, _ id: TakeID) -> TakeStoreError {
        isOfOtherKey
            ? .keyWrong(take: id.text)
            : .damaged(take: id.text, reason: "its file in the archive was altered")
    }

    /// Writes audio to a new file, in the form that the name stands for.
    private func write(
        _ journal: Journal, _ old: AudioCodec, frames: Int, of id: TakeID?, to path: String
    ) throws {
        // A name that says what the file is not would mislead every program that goes by it.
        if Self.foreign.contains(where: path.lowercased().hasSuffix) {
            throw TakeStoreError.misnamed(take: id?.text ?? "", file: path, holds: old.title)
        }
        let number = try retryingInterrupts("open \(path)") {
            unsafe open(path.cPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        }
        let file = OwnedDescriptor(taking: number)
        do {
            // Lossy audio is copied rather than encoded twice; the header of any other can say more.
            if let codec = AudioCodec(fileName: path), codec.isLossless || codec != old {
                let encoder = try codec.makeEncoder(frames: frames)
                try encode(TakeSamples(journal, codec: old), by: encoder, to: file.number)
            } else {
                var end = 0
                try copy(journal) { piece in
                    try writeAll(piece, to: file.number, at: end)
                    end += piece.count
                }
            }
            try retryingInterrupts("fsync \(path)") { fsync(file.number) }
        } catch {
            // Half a file is only in the way.
            _ = unsafe unlink(path.cPath)
            throw error
        }
    }

    /// Hands over the audio of a take as it is, piece by piece.
    ///
    /// - Returns: what of it is missing, or silent because it was altered or damaged; nil when nothing is.
    /// - Throws: what `write` throws; `TakeStoreError` as for `samples`; `TakeSamples.Failure`.
    package func copyAudio(
        of take: KeptTake, _ write: (Span<UInt8>) throws -> Void
    ) throws -> String? {
        let (journal, _, report) = try journal(of: take)
        try copy(journal, write)
        return report
    }

    /// Forms that a name may promise, and that no file of ours has.
    private static let foreign = [
        ".mp3", ".m4a", ".mp4", ".aac", ".webm", ".aiff", ".aif", ".wma", ".amr", ".raw", ".pcm",
    ]

    private func copy(_ journal: Journal, _ write: (Span<UInt8>) throws -> Void) throws {
        var (piece, offset) = ([UInt8](repeating: 0, count: 1 << 16), 0)
        while true {
            let count = try piece.readTake(from: journal, at: offset)
            guard count > 0 else { return }
            try write(piece.span.extracting(first: count))
            offset += count
        }
    }

    private func encode(
        _ source: consuming TakeSamples, by encoder: any AudioEncoder, to file: Int32
    ) throws {
        var (bytes, some): ([UInt8], [Int16]) = ([], [])
        var end = 0
        func put() throws(SystemError) {
            try writeAll(bytes.span, to: file, at: end)
            end += bytes.count
            bytes.removeAll(keepingCapacity: true)
        }
        try encoder.begin(into: &bytes)
        while try source.next(into: &some) {
            try encoder.encode(some.span, into: &bytes)
            if bytes.count >= 1 << 16 { try put() }
        }
        try encoder.finish(into: &bytes)
        try put()
        // A header that says how long the file is, where its form can say that.
        if let header = encoder.settledHeader { try writeAll(header.span, to: file, at: 0) }
    }

    /// Opens the audio of a complete take as it was sent; `looksForEnd`: it is refused where nothing of it
    /// is there, and told where the end is missing.
    private func journal(
        of take: KeptTake, looksForEnd: Bool = true
    ) throws(TakeStoreError) -> (Journal, AudioCodec, damageReport: String?) {
        var manifest = try take.manifest.get()
        guard let stated = manifest.byteCount else {
            throw .inUse(take: take.id.text, by: manifest.holder)
        }
        let (folder, codec) = (
            try store().take(take.id), AudioCodec(rawValue: manifest.format) ?? .pcm
        )
        let audio = try folder.openAudio(of: manifest)
        // A take whose end the disk refused ends before the length that was recorded.
        let shortfall =
            looksForEnd ? try folder.noteShortfall(of: audio, in: &manifest, codec) : nil
        let reports = [audio.damageReport, shortfall].compactMap(\.self)
        return (
            audio.journal(byteCount: manifest.byteCount ?? stated), codec,
            reports.isEmpty ? nil : reports.joined(separator: "; ")
        )
    }
}
