// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import Glibc
internal import LinuxPlatform
public import TakeStore

/// How takes leave a spool, and what they leave. All calls block on the disk.
extension Spool {
    /// Removes a take, at once for every process that looks.
    ///
    /// For a day it can be brought back, unless it is removed for good or the disk is short.
    ///
    /// - Returns: whether it can be brought back.
    /// - Throws: `TakeStoreError` when there is no such take, another process holds it, or the disk
    ///   refuses.
    @discardableResult
    public func remove(_ id: TakeID, forGood: Bool = false) throws(TakeStoreError) -> Bool {
        let store = try store()
        // What is removed from a full disk is removed for its room.
        guard forGood || removesForGood else { return try store.setAside(try store.take(id)) }
        if forGood, store.removed.contains(where: { $0.id == id }) {
            store.destroyRemoved { $0.id == id }
        } else {
            try store.remove(try store.take(id))
        }
        return false
    }

    /// Whether the disk is short, so that nothing that is removed can be brought back.
    package var removesForGood: Bool {
        // Without a store there is nothing to remove.
        (try? existing())?.isDiskShort(by: limits) ?? false
    }

    /// The takes that can be brought back, the one removed last at the end; what was removed more
    /// than a day ago is deleted.
    ///
    /// - Throws: `TakeStoreError` when the folder cannot be used.
    public func removedTakes() throws(TakeStoreError) -> [RemovedTake] {
        guard let store = try existing() else { return [] }
        Retention.sweepRemoved(store)
        return store.removed
    }

    /// Finds a removed take by a part of its id; `last` is the one removed last.
    ///
    /// - Throws: `TakeStoreError` when there is no such take, or there are several.
    package func removedTake(_ name: String = "last") throws(TakeStoreError) -> TakeID {
        let removed = try removedTakes().map(\.id)
        guard let last = removed.last else { throw .notRemoved(nil) }
        guard name != "last" else { return last }
        let found = TakeNames(removed).matches(name)
        guard let id = found.first else { throw .notRemoved(name) }
        guard found.count == 1 else { throw .ambiguous(name, found) }
        return id
    }

    /// Brings a removed take back.
    ///
    /// - Parameter name: a part of its id; `last` is the one removed last.
    /// - Returns: the take as it was.
    /// - Throws: `TakeStoreError` when there is no such take, or there are several.
    @discardableResult
    public func undoRemove(_ name: String = "last") throws(TakeStoreError) -> KeptTake {
        let id = try removedTake(name)
        let store = try store()
        return KeptTake(try store.restore(id).id, in: store, by: SpoolAge(in: store))
    }

    /// Reads the samples of a take, 16 kHz mono, from the first one on.
    ///
    /// - Throws: `TakeStoreError` when the take is still being recorded, or its audio cannot be opened.
    public func samples(of take: KeptTake) throws(TakeStoreError) -> TakeSamples {
        let (journal, codec, report) = try journal(of: take)
        return TakeSamples(journal, codec: codec, damageReport: report)
    }

    /// Copies the audio of a take to a new file that its owner alone can read.
    ///
    /// The file has the form that its name's ending stands for, and otherwise that of the take.
    ///
    /// - Returns: what of the audio is silent because it was altered or damaged; nil when nothing is.
    /// - Throws: `TakeStoreError` as for `samples`, or when the name stands for a form that cannot be
    ///   written; `TakeSamples.Failure`; `EncodingError`; `SystemError` with `EEXIST` when there is
    ///   such a file, and with other codes when the disk refuses.
    @discardableResult
    public func export(_ take: KeptTake, to path: String) throws -> String? {
        let (bytes, report) = try audioFile(of: take, named: path)
        let number = try retryingInterrupts("open \(path)") {
            unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        }
        let file = OwnedDescriptor(taking: number)
        try writeAll(bytes.span, to: file.number, at: 0)
        try retryingInterrupts("fsync \(path)") { fsync(file.number) }
        return report
    }

    /// Forms that a name may promise, and that no file of ours has.
    private static let foreign = [
        ".mp3", ".m4a", ".mp4", ".aac", ".webm", ".aiff", ".aif", ".wma", ".amr", ".raw", ".pcm",
    ]

    package func audioFile(
        of take: KeptTake, named name: String
    ) throws -> (bytes: [UInt8], damageReport: String?) {
        let (journal, old, report) = try journal(of: take)
        // A name that says what the file is not would mislead every program that goes by it.
        if Self.foreign.contains(where: name.lowercased().hasSuffix) {
            throw TakeStoreError.misnamed(take: take.id.text, file: name, holds: old.title)
        }
        // Lossy audio is copied rather than encoded twice; the header of any other can say more now.
        guard let codec = AudioCodec(fileName: name), codec.isLossless || codec != old else {
            do throws(SystemError) {
                return (try journal.contents(), report)
            } catch {
                throw TakeSamples.Failure.unreadable(error)
            }
        }
        var samples = TakeSamples(journal, codec: old)
        var (bytes, some): ([UInt8], [Int16]) = ([], [])
        let encoder = try codec.makeEncoder()
        try encoder.begin(into: &bytes)
        while try samples.next(into: &some) { try encoder.encode(some.span, into: &bytes) }
        try encoder.finish(into: &bytes)
        // A header that says how long the file is, where its form can say that.
        if let header = encoder.settledHeader {
            bytes.replaceSubrange(..<header.count, with: header)
        }
        return (bytes, report)
    }

    /// Opens the audio of a complete take as it was sent.
    private func journal(
        of take: KeptTake
    ) throws(TakeStoreError) -> (Journal, AudioCodec, damageReport: String?) {
        let manifest = try take.manifest.get()
        guard let stated = manifest.byteCount else {
            throw .inUse(take: take.id.text, by: manifest.holder)
        }
        let audio = try store().take(take.id).openAudio(of: manifest)
        // A take whose end the disk refused ends before the length that was recorded.
        return (
            audio.journal(byteCount: stated), AudioCodec(rawValue: manifest.format) ?? .pcm,
            audio.damageReport
        )
    }
}
