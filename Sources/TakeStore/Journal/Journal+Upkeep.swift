// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization

// What the sync thread does for a journal, turn by turn.
extension Journal {
    /// The disk keeps this much ahead of what is written, so that it is known to be nearly full
    /// before it is: 32 s of PCM.
    static let reserveStep = 1 << 20
    /// The most that one turn brings back, so that other takes have theirs.
    static let sliceLimit = 8 << 20
    /// The pause after a try that failed.
    static let retryInterval = Duration.seconds(1)
    /// How long after the seal the disk is still tried.
    static let patience = Duration.seconds(600)

    /// What the sync thread remembers from turn to turn.
    struct Upkeep {
        /// Up to where the disk has promised room.
        var reservedEnd = 0
        var canReserve = true
        var reservesAt = ContinuousClock.now
        /// The new file of a take whose old one is not trusted, and how much it holds.
        var replacement: (file: any JournalFile, byteCount: Int)?
        /// When to try again to bring back what memory holds.
        var triesAt = ContinuousClock.now
        var givesUpAt: ContinuousClock.Instant?
        /// Whether the surplus of the sealed file was given back.
        var isTrimmed = false
        var isAbandoned = false
    }

    /// Whether no sync will ever be needed again.
    ///
    /// From any thread.
    package var isSettled: Bool {
        guard isSealed else { return false }
        return state.withLock { state in
            if path == nil || state.upkeep.isAbandoned { return true }
            return state.memory == nil && state.isTrusted && durableByteCount == byteCount
        }
    }

    /// Says that nobody wants the audio on the disk any more.
    ///
    /// From any thread.
    package func abandon() { state.withLock { $0.upkeep.isAbandoned = true } }

    /// Makes durable what the disk holds, and brings back to it what memory holds.
    ///
    /// Called on the sync thread; blocks on the disk.
    func sync(at instant: ContinuousClock.Instant = .now) {
        // Asked first: what is sealed has all its bytes, and the journal thread is through.
        let isFinal = isSealed
        // Asked before the state: memory is there before its bytes are counted.
        let count = byteCount
        var present = state.withLock { $0 }
        guard path != nil, !present.upkeep.isAbandoned else { return }
        if present.isTrusted {
            tendFile(present, count, isFinal: isFinal, at: instant)
            present = state.withLock { $0 }
        }
        guard isFinal || present.pen == .syncThread else { return }
        do throws(SystemError) {
            if present.memory == nil && !present.isTrusted {
                try leaveDisk(from: durableByteCount)
                present = state.withLock { $0 }
            }
            guard present.memory != nil, instant >= present.upkeep.triesAt else { return }
            try bringBack(present, isFinal: isFinal)
        } catch {
            put(off: error, at: instant, isFinal: isFinal)
        }
    }

    /// Makes as much durable as the disk takes now.
    ///
    /// Called on the sync thread; blocks on the disk.
    package func finish() {
        state.withLock { $0.upkeep.triesAt = .now }
        repeat {
            let instant = ContinuousClock.now
            sync(at: instant)
            let hasFailed = state.withLock { $0.upkeep.triesAt > instant }
            if hasFailed { return }
        } while isSealed && !isSettled
    }

    /// Says that bytes waited for the disk much longer than promised; the first time counts.
    ///
    /// What was never meant for the disk does not wait for it.
    func note(slow wait: Duration) {
        guard path != nil else { return }
        state.withLock { state in
            if state.condition.slowSync == nil { state.condition.slowSync = wait }
        }
    }

    // MARK: - A disk that works

    private func tendFile(
        _ present: State, _ count: Int, isFinal: Bool, at instant: ContinuousClock.Instant
    ) {
        let count = present.memory == nil ? count : min(count, present.fileByteCount)
        do throws(SystemError) {
            if !present.upkeep.isTrimmed {
                if try present.file.isGone() {
                    throw SystemError(call: "the take's file was removed", code: Self.noEntryError)
                }
                if isFinal { trim(present.file) } else { reserve(present, count, at: instant) }
            }
            guard count > durableByteCount else { return }
            try present.file.sync()
            durable.store(count, ordering: .relaxed)
        } catch {
            state.withLock { state in
                if state.condition.failure == nil { state.condition.failure = error }
                state.isTrusted = false
            }
        }
    }

    /// Finds out early that the disk is nearly full.
    private func reserve(_ present: State, _ count: Int, at instant: ContinuousClock.Instant) {
        let upkeep = present.upkeep
        guard upkeep.canReserve, instant >= upkeep.reservesAt, present.memory == nil,
            count + Self.reserveStep / 2 > upkeep.reservedEnd
        else { return }
        do throws(SystemError) {
            try present.file.reserve(Self.reserveStep)
            state.withLock { state in
                state.upkeep.reservedEnd = count + Self.reserveStep
                state.condition.shortage = nil
            }
        } catch {
            let free = error.isRefusal ? path.flatMap { freeByteCount(at: $0) } : nil
            state.withLock { state in
                state.upkeep.canReserve = error.isRefusal
                state.upkeep.reservesAt = instant + Self.retryInterval
                guard error.isRefusal, state.condition.shortage == nil else { return }
                state.condition.shortage = JournalCondition.Shortage(
                    error: error, freeByteCount: free)
            }
        }
    }

    private func trim(_ file: any JournalFile) {
        // A surplus that stays costs room and nothing else.
        try? file.trim()
        state.withLock { $0.upkeep.isTrimmed = true }
    }

    // MARK: - A disk that works again

    /// Brings what memory holds back to the disk: to the same file when it was only full, to a
    /// new one in its place when it is not trusted.
    ///
    /// The journal thread goes on in that file with its next bytes.
    private func bringBack(_ present: State, isFinal: Bool) throws(SystemError) {
        let (file, start) = try target(present)
        let goal = byteCount
        let end = min(goal, start + Self.sliceLimit)
        try copy(to: file, from: start, to: end)
        state.withLock { state in
            if state.isTrusted {
                state.fileByteCount = end
            } else {
                state.upkeep.replacement = (file, end)
            }
        }
        // The next turn goes on.
        guard goal - end <= (isFinal ? 0 : Self.catchUpLimit / 2) else { return }
        if isFinal { trim(file) }
        do throws(SystemError) {
            try file.sync()
            if !present.isTrusted { try home?.replaceAudio() }
        } catch {
            // Neither is a file trusted again whose first sync failed.
            state.withLock { state in
                state.isTrusted = false
                state.upkeep.replacement = nil
            }
            throw error
        }
        state.withLock { state in
            state.file = file
            state.isTrusted = true
            state.fileByteCount = end
            state.upkeep.replacement = nil
            state.upkeep.reservedEnd = 0
            state.pen = .journalThread
            guard isFinal else { return }
            state.memory = nil
            state.condition.failure = nil
        }
        durable.store(end, ordering: .relaxed)
    }

    private func target(
        _ present: State
    ) throws(SystemError) -> (file: any JournalFile, start: Int) {
        if present.isTrusted { return (present.file, present.fileByteCount) }
        if let new = present.upkeep.replacement { return (new.file, new.byteCount) }
        guard let home else {
            abandon()
            throw SystemError(call: "replace the audio", code: Self.noEntryError)
        }
        return (try home.makeFile(), 0)
    }

    private func put(
        off error: SystemError, at instant: ContinuousClock.Instant, isFinal: Bool
    ) {
        note(error)
        state.withLock { state in
            state.upkeep.triesAt = instant + Self.retryInterval
            guard isFinal else { return }
            let end = state.upkeep.givesUpAt ?? instant + Self.patience
            state.upkeep.givesUpAt = end
            if instant >= end { state.upkeep.isAbandoned = true }
        }
    }
}
