// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform

/// Brings takes to an end whose program died while it recorded them.
///
/// Idempotent, and may itself be killed anywhere: the audio is cut first, then the manifest is
/// replaced; until then the take is found again by the next recovery.
public enum Recovery {
    /// Recovers every take that nobody records or sends any more.
    ///
    /// Reads their audio: blocks on the disk.
    ///
    /// One take that cannot be recovered never keeps the others from it.
    ///
    /// - Returns: the takes that were recovered, oldest first.
    /// - Throws: `TakeStoreError.folderUnusable`.
    @discardableResult
    public static func recoverAll(in store: TakeStore) throws(TakeStoreError) -> [TakeID] {
        try store.ids().filter { id in
            do {
                return try recover(store.take(id))
            } catch {
                // The list shows what cannot be read, with the reason.
                return false
            }
        }
    }

    private static func recover(_ folder: TakeFolder) throws -> Bool {
        var manifest: TakeManifest
        do throws(TakeStoreError) {
            manifest = try folder.manifest()
            guard manifest.state == .recording else { return false }
        } catch {
            guard let found = try manifestOfUnnamed(folder, error) else { return false }
            manifest = found
        }
        guard try folder.lock(), let format = AudioFormat(rawValue: manifest.format) else {
            return false
        }
        // Somebody else may have been quicker before we had the lock.
        if let now = try? folder.manifest(), now.state != .recording { return false }
        let size = try folder.audioByteCount(fileName: manifest.audio)
        let (byteCount, frames) = try measure(folder, manifest, format, size)
        try folder.cutAudio(fileName: manifest.audio, to: byteCount)
        let journal = try folder.openJournal(fileName: manifest.audio, byteCount: byteCount)
        manifest.byteCount = byteCount
        manifest.frames = frames
        manifest.sha256 = try journal.sha256()
        manifest.state = .kept
        manifest.reason = "the program ended while it was recording"
        try folder.save(manifest)
        return true
    }

    /// The manifest of a take that died before its first manifest was written.
    private static func manifestOfUnnamed(
        _ folder: TakeFolder, _ error: TakeStoreError
    ) throws -> TakeManifest? {
        let names = try folder.fileNames()
        guard !names.contains("take.json"),
            let audio = names.first(where: { $0 == "audio.wav" || $0 == "audio.ogg" })
        else { throw error }
        let format: AudioFormat = audio.hasSuffix("ogg") ? .oggOpus : .pcm
        return TakeManifest(
            id: folder.id, created: Date(), audio: audio, format: format.rawValue,
            source: "unknown", url: "")
    }

    private static func measure(
        _ folder: TakeFolder, _ manifest: TakeManifest, _ format: AudioFormat, _ size: Int
    ) throws -> (byteCount: Int, frames: Int) {
        let journal = try folder.openJournal(fileName: manifest.audio, byteCount: size)
        var intact = IntactAudio(format: format)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var offset = 0
        while offset < size {
            let found = try unsafe buffer.withUnsafeMutableBytes { bytes in
                try unsafe journal.read(at: offset, into: bytes)
            }
            guard case .bytes(let count) = found else { break }
            intact.append(buffer.span.extracting(first: count))
            offset += count
        }
        return (intact.byteCount, intact.frames)
    }
}
