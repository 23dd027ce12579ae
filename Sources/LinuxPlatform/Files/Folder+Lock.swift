// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

extension Folder {
    /// Locks this folder against every other process that asks, for as long as it is held open.
    ///
    /// - Returns: false when another process holds the lock.
    package func lock() throws(SystemError) -> Bool {
        guard flock(descriptor.number, LOCK_EX | LOCK_NB) != 0 else {
            isLocked.store(true, ordering: .relaxed)
            return true
        }
        guard errno == EWOULDBLOCK else { throw SystemError.last("lock \(path)") }
        return false
    }

    /// Locks this folder for what takes a moment, while another process may do the same.
    ///
    /// - Returns: false when another process holds the lock until `deadline`.
    package func lock(until deadline: ContinuousClock.Instant) throws(SystemError) -> Bool {
        while try !lock() {
            guard deadline > .now else { return false }
            _ = poll(nil, 0, 5)
        }
        return true
    }

    /// Gives the lock back, which closing the folder does too.
    package func unlock() {
        // It cannot fail on a descriptor that is open.
        _ = flock(descriptor.number, LOCK_UN)
        isLocked.store(false, ordering: .relaxed)
    }

    /// Waits until the lock is free, which another process may take at once; no longer than
    /// until `deadline`.
    ///
    /// The kernel tells only a caller that blocks for a lock: a thread of its own does. One
    /// that has waited in vain stays until the lock is free, and gives it back.
    ///
    /// - Returns: whether it was free before the deadline.
    package func waitForLock(
        until deadline: ContinuousClock.Instant
    ) async throws(SystemError) -> Bool {
        // The lock belongs to the open folder, not to the process.
        let other = try openFolder(".")
        let outcome = Settlement<Bool>()
        _ = try NamedThread(name: "lock") {
            let isFree = flock(other.descriptor.number, LOCK_EX) == 0
            other.unlock()
            outcome.settle(isFree)
        }
        let alarm = Task {
            // One that is cancelled comes too late to matter.
            try? await Task.sleep(until: deadline)
            outcome.settle(false)
        }
        defer { alarm.cancel() }
        return await outcome.value
    }
}
