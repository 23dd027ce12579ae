// SPDX-License-Identifier: Apache-2.0

internal import CLinux
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
    /// The kernel tells only a caller that blocks for a lock: a thread of its own does. A
    /// thread that has waited in vain stays until the lock is free, and gives it back.
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
        return await outcome.value(by: deadline, or: false)
    }
}

extension Folder {
    /// Opens a file of a process that has ended, for reading and writing.
    ///
    /// - Returns: nil when a process that lives has it locked, or has removed it by now.
    package func lockFile(_ name: String) throws(SystemError) -> OwnedDescriptor? {
        let file = try openFileForBoth(name)
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0, !(try isRemoved(file.number)) else {
            return nil
        }
        return file
    }
}

/// A file that one process at a time has locked, until this value is destroyed (`flock(2)`).
package struct FileLock: ~Copyable {
    let file: OwnedDescriptor

    /// How often a lock is asked for again that another process holds, in milliseconds.
    private static let interval: Int32 = 5

    /// Locks the file at `path`, which is made when it is missing.
    ///
    /// For what takes a moment: blocks while another process holds it.
    ///
    /// - Throws: `SystemError`; `EWOULDBLOCK` when it was held until `deadline`.
    package init(path: String, until deadline: ContinuousClock.Instant) throws(SystemError) {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
        let file = try OwnedDescriptor(of: "open \(path)") {
            unsafe utter_openat(AT_FDCWD, path.cPath, flags, 0o600)
        }
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, deadline > .now else {
                throw SystemError.last("lock \(path)")
            }
            _ = poll(nil, 0, Self.interval)
        }
        self.file = file
    }

    /// As `Folder` does, for the same reason.
    deinit { _ = flock(file.number, LOCK_UN) }
}
