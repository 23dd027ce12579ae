// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// How long takes that wait for nothing any more stay on the disk.
///
/// What waits for its answer is never deleted, whatever its age.
public struct Retention: Sendable, Equatable {
    /// How long the transcript of an answered take is kept.
    public var answered: Duration
    /// How long a cancelled take can be brought back.
    public var cancelled: Duration
    /// How long the audio of an answered take is kept once its transcript was handed over, so that
    /// a wrong text can be had once more.
    public var audio: Duration
    /// As many bytes of such audio are kept; the oldest goes first.
    public var audioBytes: Int
    /// As many takes have such audio; the oldest goes first.
    ///
    /// They never keep a new one from the disk.
    public var audioTakes: Int

    /// Creates a retention.
    public init(
        answered: Duration, cancelled: Duration, audio: Duration = .zero, audioBytes: Int = .max,
        audioTakes: Int = .max
    ) {
        self.answered = answered
        self.cancelled = cancelled
        self.audio = audio
        self.audioBytes = audioBytes
        self.audioTakes = audioTakes
    }

    /// 30 days for transcripts, 7 days for what was cancelled, a day for the audio of answered
    /// takes, of which at most 200 with 1 GiB.
    public static let standard = Retention(
        answered: .seconds(30 * 86_400), cancelled: .seconds(7 * 86_400), audio: .seconds(86_400),
        audioBytes: 1 << 30, audioTakes: 200)

    /// How long a take that a person has removed can be brought back: a day.
    package static let removed = Duration.seconds(86_400)

    /// Deletes for good what was removed more than a day ago.
    ///
    /// Blocks on the disk.
    package static func sweepRemoved(_ store: TakeStore, now: Date = Date()) {
        sweepRemoved(store, by: SpoolAge(in: store, now: now, isNoted: true))
    }

    private static func sweepRemoved(_ store: TakeStore, by clock: SpoolAge) {
        store.destroyRemoved { clock.age(since: $0.date) >= removed }
    }

    /// Deletes what is over its time.
    ///
    /// Blocks on the disk. What is in use, or cannot be read or removed, stays.
    ///
    /// A take is as old as the youngest of three times that are not in the future: its name, the
    /// last change of its manifest, and when the clock was last seen to jump. So nothing
    /// goes early when the clock jumps, at worst late.
    ///
    /// - Parameters:
    ///   - store: the takes.
    ///   - now: the time by which takes are old.
    /// - Returns: what was deleted, oldest first.
    @discardableResult
    package func sweep(_ store: TakeStore, now: Date = Date()) -> [TakeID] {
        let clock = SpoolAge(in: store, now: now, isNoted: true)
        Self.sweepRemoved(store, by: clock)
        var removed: [TakeID] = []
        var (bytesLeft, takesLeft) = (audioBytes, audioTakes)
        let youngest = min(answered, cancelled)
        // A folder that cannot be read has nothing to delete. The newest come first, so that the
        // oldest audio is what exceeds its bytes.
        let takes = clock.isNewHour ? (try? store.ids()) ?? [] : store.audioTakes
        for id in takes.reversed() {
            // Cheap questions first: most takes are young, and have no audio any more; what is
            // older is looked at once an hour.
            guard
                !clock.isNewHour || clock.age(since: id.date) >= youngest
                    || store.audioByteCount(of: id) != nil,
                let take = try? store.take(id),  // Not to be opened, not to be deleted.
                let manifest = try? take.manifest()  // Not to be read, not to be deleted.
            else { continue }
            let age = clock.age(since: id.date, take.changed)
            if isOver(manifest, age: age) {
                // What is in use is left for the next time.
                if (try? store.remove(take)) != nil { removed.append(id) }
            } else if manifest.state == .answered, manifest.isReleased == true,
                // Without audio, there is nothing to do.
                let size = try? take.audioByteCount(fileName: manifest.audio)
            {
                bytesLeft -= min(bytesLeft, size)
                takesLeft -= min(takesLeft, 1)
                let time = manifest.keepsAudioFor.map { .seconds($0) } ?? audio
                guard age >= time || bytesLeft == 0 || takesLeft == 0 else { continue }
                // It is tried again next time.
                try? take.removeAudio(fileName: manifest.audio)
            }
        }
        store.measure(anew: clock.isNewHour)
        return removed.reversed()
    }

    /// Deletes the audio of one answered take whose transcript was handed over.
    ///
    /// Blocks on the disk. A failure leaves the audio to the next sweep.
    ///
    /// - Returns: whether it is gone.
    @discardableResult
    package static func removeReleasedAudio(of id: TakeID, in store: TakeStore) -> Bool {
        guard store.audioByteCount(of: id) != nil,
            let take = try? store.take(id),  // It is gone already.
            let manifest = try? take.manifest(),  // Not to be read, not to be deleted.
            manifest.state == .answered, manifest.isReleased == true
        else { return false }
        return (try? take.removeAudio(fileName: manifest.audio)) != nil  // As above.
    }

    /// Says which limit a new take would pass, after giving back the audio of answered takes as far
    /// as that helps.
    ///
    /// Blocks on the disk only when a limit is near.
    package static func shortage(in store: TakeStore, by limits: SpoolLimits) -> SpoolShortage? {
        guard var shortage = store.shortage(by: limits) else { return nil }
        for id in store.audioTakes where removeReleasedAudio(of: id, in: store) {
            guard let next = store.shortage(by: limits) else { return nil }
            shortage = next
        }
        return shortage
    }

    /// Whether a take of this age has outlived its use.
    package func isOver(_ manifest: TakeManifest, age: Duration) -> Bool {
        switch manifest.state {
        case .answered: age >= answered
        case .cancelled: age >= cancelled
        case .recording, .sealed, .sending, .kept: false
        }
    }
}

extension TakeFolder {
    /// When the manifest was written last; nil without one.
    fileprivate var changed: Date? {
        manifestTime.map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }
}
