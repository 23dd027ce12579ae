// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
package import Utter

/// The samples of a take that is on the disk, read a little at a time.
package struct TakeSamples {
    private var samples: JournalSamples
    /// What of the audio is silent because it was altered or damaged; nil when nothing is.
    package let damageReport: String?

    /// Begins at the first sample of a complete take.
    package init(
        of take: TakeFolder, _ manifest: TakeManifest
    ) throws(CommandFailure) {
        let journal: Journal
        (journal, damageReport) = try Self.open(take, manifest)
        samples = JournalSamples(journal, codec: AudioCodec(rawValue: manifest.format) ?? .pcm)
    }

    /// Opens the audio of a complete take as it was sent.
    ///
    /// - Returns: the audio, and what of it is silent because it was altered or damaged.
    static func open(
        _ take: TakeFolder, _ manifest: TakeManifest
    ) throws(CommandFailure) -> (Journal, damageReport: String?) {
        guard let stated = manifest.byteCount else {
            throw CommandFailure(
                "take \(manifest.id.text) is still being recorded", status: .notDelivered)
        }
        let audio = try ofTakes { () throws(TakeStoreError) in try take.openAudio(of: manifest) }
        // A take whose end the disk refused ends before the length that was recorded.
        return (audio.journal(byteCount: stated), audio.damageReport)
    }

    /// Replaces `samples` with the next ones, 16 kHz mono.
    ///
    /// Blocks on the disk.
    package mutating func next(into samples: inout [Int16]) throws(CommandFailure) -> Bool {
        do throws(JournalSamples.Failure) {
            return try self.samples.next(into: &samples)
        } catch {
            let isDamaged = if case .damaged = error { true } else { false }
            throw CommandFailure(
                error.description, status: isDamaged ? .unusableAudio : .localIO)
        }
    }
}
