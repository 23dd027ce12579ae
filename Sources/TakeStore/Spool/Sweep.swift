// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform
internal import Synchronization

/// Deletes takes and audio that are over their time, in small steps, so that other work has
/// its turn.
///
/// A take that is in use, or cannot be read or removed, stays. A take is as old as the youngest of
/// three times that are not in the future: its name, the last change of its manifest, and when the
/// clock was last seen to jump. So nothing goes early when the clock jumps, at worst late.
///
/// Once an hour all takes are looked at that are old enough or have audio. In between these have
/// their manifest read: takes with audio that waits for nothing, and those that are new to the note.
struct Sweep: Sendable {
    private struct Audio {
        let id: TakeID
        let byteCount: Int
        let isOver: Bool
    }

    /// How many takes one step looks at, in a few milliseconds.
    private static let looks = 64

    private(set) var removed: [TakeID] = []
    /// Takes that the archive is to get, and that are in no queue.
    private(set) var unarchived: [TakeID] = []
    private let store: TakeStore
    private let rules: SpoolRules
    private let clock: SpoolAge
    private let noted: AudioNote
    private let names: [String]
    /// The count of `SpoolGrowth` before the takes were listed.
    private let total: Int
    /// Takes to look at, the newest at the end.
    private var ids: [TakeID]
    private var waiting: [TakeID] = []
    private var waitingBytes = 0
    /// Audio that waits for nothing, newest first.
    private var released: [Audio] = []
    /// The audio among it that goes; nil before all takes were looked at.
    private var excess: [Audio]?

    /// Lists the takes; blocks on the disk, as the steps do.
    init(of store: TakeStore, by rules: SpoolRules, at time: ClockReading = .now) {
        (self.store, self.rules) = (store, rules)
        let clock = SpoolAge(in: store, at: time, isNoted: true)
        let noted = clock.isNewHour ? AudioNote() : store.noted
        (self.clock, self.noted) = (clock, noted)
        SpoolRules.sweepRemoved(store, by: clock)
        total = store.growth.withLock { $0.total }
        // A folder that cannot be read has nothing to delete.
        names = (try? store.takes.names()) ?? []
        ids = names.filter(noted.mayHaveAudio).compactMap { TakeID($0) }
    }

    /// Looks at some takes, or deletes the audio of one, and waits for the disk; false at the end.
    mutating func step() -> Bool {
        if !ids.isEmpty {
            for id in ids.suffix(Self.looks).reversed() { look(at: id) }
            ids.removeLast(min(ids.count, Self.looks))
        } else if excess == nil {
            excess = chooseExcess()
        } else if let audio = excess?.popLast() {
            // It is tried again next time.
            SpoolRules.removeReleasedAudio(of: audio.id, in: store)
        } else {
            note()
            return false
        }
        return true
    }

    private mutating func look(at id: TakeID) {
        let size = store.audioByteCount(of: id)
        // Cheap questions first: most takes are young, and have no audio any more.
        let mayBeOver =
            clock.isNewHour
            && clock.age(since: id.date) >= min(rules.retention.answered, rules.retention.cancelled)
        guard size != nil || mayBeOver else { return store.forgetRelease(of: id) }
        if !noted.isWaiting(id.text) || store.isReleased(id),
            let take = try? store.take(id),  // Not to be opened, not to be deleted.
            let manifest = try? take.manifest()  // Not to be read, not to be deleted.
        {
            let written = take.manifestTime.map { Date(timeIntervalSince1970: TimeInterval($0)) }
            let age = clock.age(since: id.date, written)
            if manifest.isUnarchived { unarchived.append(id) }
            // A service that has a part of it is to drop that first; the audio goes all the same.
            if rules.retention.isOver(manifest, age: age), manifest.progress?.isAtService == true,
                age < rules.retention.answered
            {
                try? take.removeAudio(fileName: manifest.audio)  // Left to the next sweep.
                return
            }
            // A take in use is left for the next time.
            if rules.retention.isOver(manifest, age: age), (try? store.remove(take)) != nil {
                return removed.append(id)
            }
            if manifest.isReleasedAnswer, let size {
                let time = manifest.keepsAudioFor.map { .seconds($0) } ?? rules.retention.audio
                return released.append(Audio(id: id, byteCount: size, isOver: age >= time))
            }
        }
        guard let size else { return }
        waiting.append(id)
        waitingBytes += size
    }

    /// The audio that is over its time, and the oldest of the rest while there is too much of it, or
    /// too much together with what waits; newest first.
    ///
    /// Waiting takes may have reached the limit alone. Nothing goes then: it would not help.
    private func chooseExcess() -> [Audio] {
        let takes = rules.limits.takes - waiting.count
        let bytes = rules.limits.bytes - waitingBytes
        var (count, size) = (0, 0)
        return released.filter { audio in
            let isTooMuch =
                count >= rules.retention.audioTakes
                || size + audio.byteCount >= rules.retention.audioBytes
                || takes > 0 && count >= takes || bytes > 0 && size >= bytes
            (count, size) = (count + 1, size + audio.byteCount)
            return audio.isOver || isTooMuch
        }
    }

    private func note() {
        let gone = Set((released.map(\.id)).filter { store.audioByteCount(of: $0) == nil })
        for id in gone { store.forgetRelease(of: id) }
        let found = AudioNote(
            names: names, waiting: waiting,
            released: released.map(\.id).filter { !gone.contains($0) }, byteCount: waitingBytes)
        if found != store.noted { store.note(found.bytes, as: .audio) }
        store.growth.withLock { $0.noteSweep(at: total) }
    }
}
