// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

/// The rules of a spool: when the disk takes no more takes, and what of them goes when.
///
/// Takes that wait for an answer never go.
package struct SpoolRules: Sendable {
    /// Takes that have waited for longer are sent only on request: 30 days.
    package static let longestWait = Duration.seconds(30 * 86_400)

    package let limits: SpoolLimits
    /// How long takes stay on the disk that nothing waits for.
    package let retention: Retention

    package init(_ limits: SpoolLimits = .standard, retention: Retention = .standard) {
        (self.limits, self.retention) = (limits, retention)
    }

    // MARK: - When a take is refused

    /// Says which limit a new take would pass; nil when there is room, or will be once `spares` are
    /// deleted.
    ///
    /// Changes nothing. Audio whose text was handed over does not count.
    ///
    /// Nearly free unless a limit is near: it counts names, those of answered takes too, reads the
    /// size in the note of the takes with audio, and asks the file system once. Only when one of
    /// them is over its limit are takes looked at: those that wait, up to the limit. Each process
    /// reads once the takes that the note does not know, so that no wrong note costs a take.
    /// `recording` is the bytes of a take that is being recorded, which is in no note yet.
    package func shortage(of store: TakeStore, recording: Int = 0) -> SpoolShortage? {
        if let free = store.takes.freeByteCount, free < limits.free,
            free + store.spareByteCount < limits.free
        {
            return .free(free, limit: limits.free)
        }
        // A failure to count is no reason to refuse; making the take's folder will tell.
        let names = (try? store.takes.entryCount(upTo: limits.takes)) ?? 0
        let note = store.note(.audio)
        let grown = store.growth.withLock { $0 }
        let notedBytes = AudioNote.byteCount(in: note) ?? 0
        let estimate = notedBytes + recording + grown.bytes(behind: notedBytes)
        guard names >= limits.takes || estimate >= limits.bytes else { return nil }
        let noted = AudioNote(note)
        let released = store.released(by: noted)
        var (count, bytes) = (0, 0)
        // A failure to list is no reason, either.
        for name in ((try? store.takes.names()) ?? [])
        where noted.mayHaveAudio(name) && !released.contains(name) {
            guard let id = TakeID(name), let size = store.audioByteCount(of: id) else { continue }
            (count, bytes) = (count + 1, bytes + size)
            guard count >= limits.takes else { continue }
            return store.readUnknown(in: noted, upTo: count)
                ? shortage(of: store, recording: recording) : .takes(limit: count)
        }
        // Audio that was deleted meanwhile is known now.
        store.growth.withLock { $0.note(bytes, behind: notedBytes, at: grown.total) }
        guard bytes >= limits.bytes else { return nil }
        return store.readUnknown(in: noted, upTo: limits.takes)
            ? shortage(of: store, recording: recording) : .bytes(bytes, limit: limits.bytes)
    }

    /// Says of which limit nine tenths are in use; like `shortage`.
    package func nearness(of store: TakeStore, recording: Int = 0) -> SpoolShortage? {
        let nearly = SpoolLimits(
            takes: limits.takes - limits.takes / 10, bytes: limits.bytes - limits.bytes / 10,
            free: 0)
        return switch SpoolRules(nearly).shortage(of: store, recording: recording) {
        case .takes where nearly.takes < limits.takes: .takes(limit: limits.takes)
        case .bytes(let count, _): .bytes(count, limit: limits.bytes)
        default: nil
        }
    }

    package func isDiskShort(for store: TakeStore) -> Bool {
        store.takes.freeByteCount.map { $0 < limits.free } ?? false
    }

    /// Deletes what can be spared while the disk is short, on the sync thread.
    package func makeRoom(in store: TakeStore, on sync: SyncLoop) {
        guard isDiskShort(for: store) else { return }
        sync.perform {
            sync.carryOn(store.spares[...]) { spares in
                guard isDiskShort(for: store), let spare = spares.popFirst() else { return false }
                if spare.isRemoved {
                    store.destroyRemoved { $0.id == spare.id }
                } else {
                    Self.removeReleasedAudio(of: spare.id, in: store)
                }
                return true
            }
        }
    }

    /// Whether one more take fits into a queue; looks at each that is there.
    package func hasRoom(in queue: TakeStore) throws(TakeStoreError) -> Bool {
        let sizes = try queue.ids().compactMap { queue.audioByteCount(of: $0) }
        return sizes.count < limits.takes && sizes.reduce(0, +) < limits.bytes
    }

    // MARK: - What goes when

    private static let removed = Duration.seconds(86_400)

    /// Deletes for good what was removed more than a day ago.
    package static func sweepRemoved(_ store: TakeStore, by clock: SpoolAge? = nil) {
        let clock = clock ?? SpoolAge(in: store, isNoted: true)
        store.destroyRemoved { clock.age(since: $0.date) >= removed }
    }

    /// Deletes what is over its time, on the sync thread, and names what the archive is to get.
    package func sweep(
        _ store: TakeStore, on sync: SyncLoop,
        end: @escaping @Sendable (_ unarchived: [TakeID]) -> Void
    ) {
        sync.carryOn(Sweep(of: store, by: self)) { sweep in
            if sweep.step() { return true }
            end(sweep.unarchived)
            return false
        }
    }

    /// Deletes what is over its time, and returns that, oldest first.
    @discardableResult
    func sweep(_ store: TakeStore, at time: ClockReading = .now) -> [TakeID] {
        var sweep = Sweep(of: store, by: self, at: time)
        while sweep.step() {}
        return sweep.removed.reversed()
    }

    /// Deletes the audio of one answered take whose transcript was handed over; blocks on the disk.
    package static func removeReleasedAudio(of id: TakeID, in store: TakeStore) {
        guard store.audioByteCount(of: id) != nil,
            let take = try? store.take(id),  // It is gone already.
            let manifest = try? take.manifest(),  // Not to be read, not to be deleted.
            manifest.isReleasedAnswer
        else { return }
        try? take.removeAudio(fileName: manifest.audio)  // Left to the next sweep.
    }
}

/// When the disk takes no more takes.
///
/// A take that waits for its answer is never dropped to make room: a new take is not kept then.
public struct SpoolLimits: Sendable, Equatable {
    /// The most takes that may wait for an answer with their audio.
    package let takes: Int
    /// The most bytes of audio that are kept; the take that passes this is still kept whole.
    package let bytes: Int
    /// The bytes of the file system that stay free.
    package let free: Int

    /// Creates limits.
    public init(takes: Int, bytes: Int, free: Int) {
        (self.takes, self.bytes, self.free) = (takes, bytes, free)
    }

    /// 1,000 takes, 4 GiB, and 64 MiB free.
    public static let standard = SpoolLimits(takes: 1_000, bytes: 4 << 30, free: 64 << 20)
}

/// How long takes that wait for nothing any more stay on the disk.
///
/// A take that waits for its answer is never deleted, whatever its age.
public struct Retention: Sendable, Equatable {
    /// How long the transcript of an answered take is kept.
    package var answered: Duration
    /// How long a cancelled take can be brought back.
    package var cancelled: Duration
    /// How long the audio of an answered take is kept once its transcript was handed over, so that
    /// a wrong text can be had once more.
    package var audio: Duration
    /// The most bytes of such audio; the oldest goes first.
    package var audioBytes: Int
    /// The most takes with such audio, which keep no new one from the disk; the oldest goes first.
    var audioTakes: Int

    /// Creates a retention.
    public init(
        answered: Duration, cancelled: Duration, audio: Duration = .zero, audioBytes: Int = .max,
        audioTakes: Int = .max
    ) {
        (self.answered, self.cancelled, self.audio) = (answered, cancelled, audio)
        (self.audioBytes, self.audioTakes) = (audioBytes, audioTakes)
    }

    /// 30 days for transcripts, 7 days for what was cancelled, a day for the audio of answered
    /// takes, of which at most 200 with 1 GiB.
    public static let standard = Retention(
        answered: .seconds(30 * 86_400), cancelled: .seconds(7 * 86_400), audio: .seconds(86_400),
        audioBytes: 1 << 30, audioTakes: 200)

    func isOver(_ manifest: TakeManifest, age: Duration) -> Bool {
        switch manifest.state {
        case .answered: age >= answered && !manifest.isUnarchived
        case .cancelled: age >= cancelled
        case .recording, .sealed, .sending, .kept: false
        }
    }
}

package enum SpoolShortage: Sendable, Equatable, CustomStringConvertible {
    case takes(limit: Int)
    case bytes(Int, limit: Int)
    case free(Int, limit: Int)

    package var description: String {
        switch self {
        case .takes(let limit): "too many recordings wait already: \(limit) is the limit"
        case .bytes(let count, let limit):
            "takes fill \(DiskSpace.text(count)) already, and \(DiskSpace.text(ofLimit: limit)) is the limit"
        case .free(let count, let limit): DiskSpace.shortage(count, limit: limit)
        }
    }

    /// For while the limit is near.
    package var warning: String {
        switch self {
        case .takes(let limit): "the limit of \(limit) waiting recordings is nearly reached"
        case .bytes(_, let limit):
            "takes fill nearly \(DiskSpace.text(ofLimit: limit)), which is the limit"
        case .free: description
        }
    }
}
