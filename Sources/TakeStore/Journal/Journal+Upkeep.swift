// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxPlatform
internal import Synchronization

// The sync thread's work on a journal, turn by turn.
extension Journal {
    /// Disk space is reserved this far ahead, so that a nearly full disk is noticed early: 32 s of
    /// PCM.
    static let reserveStep = 1 << 20
    /// The most that one turn writes, so that other takes have theirs.
    static let sliceLimit = 8 << 20
    static let retryInterval = Duration.seconds(1)

    struct Upkeep {
        var reservedEnd = 0
        var canReserve = true
        var reservesAt = ContinuousClock.now
        /// The file that receives what memory holds, and how much of the take it has.
        var target: (file: any JournalFile, byteCount: Int)?
        var triesAt = ContinuousClock.now
        var isTrimmed = false
        var isAbandoned = false
    }

    /// No sync will ever be needed again; from any thread.
    package var isSettled: Bool {
        guard isSealed else { return false }
        return state.withLock { state in
            if state.path == nil || state.upkeep.isAbandoned { return true }
            return state.memory == nil && state.isTrusted
                && durable.load(ordering: .relaxed) == byteCount
        }
    }

    /// The audio is not wanted on the disk any more; from any thread.
    package func abandon() { state.withLock { $0.upkeep.isAbandoned = true } }

    /// Makes the file durable, and after the seal writes what memory holds; blocks the sync thread.
    func sync(at instant: ContinuousClock.Instant = .now) {
        if let due = prepareSync(at: instant) {
            do throws(SystemError) {
                try due.file.sync()
                noteSync(of: due, nil)
            } catch {
                noteSync(of: due, error)
            }
        }
        bringBack(at: instant)
    }

    struct DueSync {
        let file: any JournalFile
        let byteCount: Int
    }

    /// Looks after the room ahead of the file; nil with nothing to sync; blocks the sync thread.
    func prepareSync(at instant: ContinuousClock.Instant) -> DueSync? {
        // Asked first: what is sealed has all its bytes, and nothing is carried any more.
        let isFinal = isSealed
        // Asked before the state: memory is there before its bytes are counted.
        let count = writtenByteCount
        let present = state.withLock { $0 }
        guard present.path != nil, !present.upkeep.isAbandoned, present.isTrusted else {
            return nil
        }
        let end = min(count, present.memory?.start ?? count)
        do throws(SystemError) {
            if !present.upkeep.isTrimmed {
                if try present.file.isGone() {
                    throw SystemError(call: "the take's file was removed", code: ENOENT)
                }
                if present.memory == nil {
                    if isFinal {
                        trim(present.file)
                        // All sound may be durable by now, but not the end of an encrypted file.
                        return DueSync(file: present.file, byteCount: end)
                    }
                    reserve(present, end, at: instant)
                }
            }
            let known = present.memory == nil ? durable.load(ordering: .relaxed) : durableByteCount
            return end > known ? DueSync(file: present.file, byteCount: end) : nil
        } catch {
            note(error, ofSync: true)
            return nil
        }
    }

    /// How a sync ended; on the sync thread.
    func noteSync(of due: DueSync, _ error: SystemError?) {
        if let error { return note(error, ofSync: true) }
        durable.store(due.byteCount, ordering: .relaxed)
    }

    /// Writes what memory holds of a sealed take, when it is time to try; blocks on the disk.
    func bringBack(at instant: ContinuousClock.Instant) {
        guard isSealed else { return }
        var present = state.withLock { $0 }
        guard present.path != nil, !present.upkeep.isAbandoned,
            !present.isTrusted || present.memory != nil
        else { return }
        present.memory = present.memory ?? leaveDisk(from: durableByteCount)
        guard instant >= present.upkeep.triesAt else { return }
        do throws(SystemError) {
            try writeRest(present)
        } catch {
            note(error)
            state.withLock { state in
                state.upkeep.target = nil
                state.upkeep.triesAt = instant + Self.retryInterval
            }
        }
    }

    /// Makes as much durable as the disk takes now; blocks the sync thread.
    package func finish() {
        state.withLock { $0.upkeep.triesAt = .now }
        repeat {
            let instant = ContinuousClock.now
            sync(at: instant)
            let hasFailed = state.withLock { $0.upkeep.triesAt > instant }
            if hasFailed { return }
        } while isSealed && !isSettled
    }

    /// Bytes have waited for the disk much longer than promised; the first call counts.
    package func note(slow wait: Duration) {
        state.withLock { state in
            guard state.path != nil, state.condition.slowSync == nil else { return }
            state.condition.slowSync = wait
        }
    }

    // MARK: - A disk that works

    private func reserve(_ present: State, _ count: Int, at instant: ContinuousClock.Instant) {
        let upkeep = present.upkeep
        guard upkeep.canReserve, instant >= upkeep.reservesAt,
            count + Self.reserveStep / 2 > upkeep.reservedEnd
        else { return }
        do throws(SystemError) {
            try present.file.reserve(Self.reserveStep)
            state.withLock { state in
                state.upkeep.reservedEnd = count + Self.reserveStep
                state.condition.shortage = nil
                state.condition.reservedByteCount = count + Self.reserveStep
            }
        } catch {
            let free = error.isRefusal ? present.path.flatMap { freeByteCount(at: $0) } : nil
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

    /// Writes what memory holds: to the same file when the disk was only full, and to a new one in
    /// its place when the file is not trusted.
    private func writeRest(_ present: State) throws(SystemError) {
        let (file, start) = try target(present)
        let end = min(byteCount, start + Self.sliceLimit)
        try copy(to: file, from: start, to: end)
        state.withLock { $0.upkeep.target = (file, end) }
        // The next turn goes on.
        guard end == byteCount else { return }
        trim(file)
        do throws(SystemError) {
            try file.sync()
            if !present.isTrusted { try present.home?.replaceAudio() }
        } catch {
            // Neither is a file trusted again whose first sync failed.
            state.withLock { $0.isTrusted = false }
            throw error
        }
        state.withLock { state in
            state.file = file
            state.isTrusted = true
            state.memory = nil
            state.condition.failure = nil
            state.upkeep.target = nil
        }
        durable.store(end, ordering: .relaxed)
    }

    private func target(
        _ present: State
    ) throws(SystemError) -> (file: any JournalFile, byteCount: Int) {
        if let target = present.upkeep.target { return target }
        if present.isTrusted, let memory = present.memory { return (present.file, memory.start) }
        guard let home = present.home else {
            abandon()
            throw SystemError(call: "replace the audio", code: ENOENT)
        }
        return (try home.makeFile(), 0)
    }
}
