// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
package import Utter

/// The samples of a take that is on the disk, read a little at a time.
package struct TakeSamples {
    private let journal: Journal
    /// What of the audio is silent because it was altered or damaged; nil when nothing is.
    package let damageReport: String?
    /// Nil when the samples stand in the journal as they are.
    private let decoder: OggOpusDecoder?
    private var offset: Int
    private var buffer = [UInt8](repeating: 0, count: 4_096)

    /// Begins at the first sample of a complete take.
    ///
    /// - Throws: `CommandFailure` when the take is not complete, or its audio is gone.
    package init(
        of take: TakeFolder, _ manifest: TakeManifest
    ) throws(CommandFailure) {
        (journal, damageReport) = try Self.open(take, manifest)
        let isOpus = manifest.format == AudioFormat.oggOpus.rawValue
        decoder = isOpus ? OggOpusDecoder() : nil
        offset = isOpus ? 0 : WAVEncoder.headerByteCount
    }

    /// Opens the audio of a complete take as it was sent.
    ///
    /// - Returns: the audio, and what of it is silent because it was altered or damaged.
    /// - Throws: `CommandFailure` when the take is not complete, or its audio is gone.
    static func open(
        _ take: TakeFolder, _ manifest: TakeManifest
    ) throws(CommandFailure) -> (Journal, damageReport: String?) {
        guard let stated = manifest.byteCount else {
            throw CommandFailure(
                "take \(manifest.id.text) is still being recorded", status: .notDelivered)
        }
        do throws(TakeStoreError) {
            let audio = try take.openAudio(of: manifest)
            // A take whose end the disk refused ends before the length that was recorded.
            return (audio.journal(byteCount: stated), audio.damageReport)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Replaces `samples` with the next ones, 16 kHz mono.
    ///
    /// Blocks on the disk.
    ///
    /// - Returns: false at the end.
    /// - Throws: `CommandFailure` when the disk fails, or the audio is damaged.
    package mutating func next(into samples: inout [Int16]) throws(CommandFailure) -> Bool {
        samples.removeAll(keepingCapacity: true)
        do {
            // A page may hold no whole sample; an odd byte at the end is no sample.
            while samples.isEmpty {
                let found = try unsafe buffer.withUnsafeMutableBytes { bytes in
                    try unsafe journal.read(at: offset, into: bytes)
                }
                guard case .bytes(let count) = found, decoder != nil || count > 1 else {
                    return false
                }
                let taken = decoder == nil ? count & ~1 : count
                offset += taken
                let bytes = buffer.span.extracting(first: taken)
                if let decoder {
                    try decoder.decode(bytes, into: &samples)
                } else {
                    SampleFormat.int16.decode(bytes, into: &samples)
                }
            }
            return true
        } catch let error as SystemError {
            throw CommandFailure("reading the take failed: \(error.reason)", status: .localIO)
        } catch let error as OggOpusError {
            throw CommandFailure(
                "the take is damaged: \(error.description)", status: .unusableAudio)
        } catch {
            throw CommandFailure("reading the take failed: \(error)", status: .internalError)
        }
    }
}
