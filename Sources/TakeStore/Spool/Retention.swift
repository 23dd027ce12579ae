// SPDX-License-Identifier: Apache-2.0

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

    static let removed = Duration.seconds(86_400)

    /// Deletes for good what was removed more than a day ago.
    package static func sweepRemoved(_ store: TakeStore, by clock: SpoolAge? = nil) {
        let clock = clock ?? SpoolAge(in: store, isNoted: true)
        store.destroyRemoved { clock.age(since: $0.date) >= removed }
    }

    /// Deletes what is over its time, on the sync thread, and names what the archive is to get.
    package func sweep(
        _ store: TakeStore, by limits: SpoolLimits, on sync: SyncLoop,
        end: @escaping @Sendable (_ unarchived: [TakeID]) -> Void
    ) {
        sync.carryOn(Sweep(of: store, self, by: limits)) { sweep in
            if sweep.step() { return true }
            end(sweep.unarchived)
            return false
        }
    }

    /// Deletes what is over its time, and returns that, oldest first.
    @discardableResult
    func sweep(
        _ store: TakeStore, by limits: SpoolLimits = .standard, at time: ClockReading = .now
    ) -> [TakeID] {
        var sweep = Sweep(of: store, self, by: limits, at: time)
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

    func isOver(_ manifest: TakeManifest, age: Duration) -> Bool {
        switch manifest.state {
        case .answered: age >= answered && !manifest.isUnarchived
        case .cancelled: age >= cancelled
        case .recording, .sealed, .sending, .kept: false
        }
    }
}
