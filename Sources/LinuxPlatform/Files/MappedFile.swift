// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Memory that is a file's: what is stored there outlives this process as the file does.
///
/// The file is open, and locked (`flock(2)`), until the last reference goes.
@safe package final class MappedFile: Sendable {
    /// Zeros at first.
    package nonisolated(unsafe) let base: UnsafeMutableRawPointer
    private let byteCount: Int
    private let file: OwnedDescriptor

    /// Gives an empty file its size, and maps it.
    ///
    /// The file system keeps the room: a store into memory without it would end the process.
    ///
    /// - Throws: `SystemError`; `ENOSPC` without room, `EWOULDBLOCK` when another process has the lock.
    package init(_ file: consuming OwnedDescriptor, byteCount: Int) throws(SystemError) {
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else { throw SystemError.last("flock") }
        var failure = EINTR
        while failure == EINTR { failure = posix_fallocate(file.number, 0, off_t(byteCount)) }
        guard failure == 0 else { throw SystemError(call: "posix_fallocate", code: failure) }
        let base = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
        guard let base = unsafe base, unsafe base != MAP_FAILED else {
            throw SystemError.last("mmap")
        }
        unsafe (self.base, self.byteCount) = (base, byteCount)
        self.file = file
    }

    deinit { _ = unsafe munmap(base, byteCount) }
}
