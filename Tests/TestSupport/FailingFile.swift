// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LinuxPlatform
import Synchronization

/// A plain file whose calls fail when a test says so.
package final class FailingFile: JournalFile {
    package struct Faults: Sendable {
        /// What every sync fails with, or nil.
        package var syncError: Int32?
        /// What a reservation fails with, or nil.
        package var reserveError: Int32?
        /// What a write fails with that would lead beyond `room`.
        package var writeError = ENOSPC
        /// The most that the file holds.
        package var room = Int.max
        /// Bytes from here on cannot be read.
        package var readableByteCount = Int.max
        package var onSync: (@Sendable () -> Void)?
        /// What stands for the file in a sync of many.
        package var descriptor: Int32?

        package init() {}
    }

    private struct State {
        var faults = Faults()
        var syncCount = 0
        var writeCount = 0
        var reserveCount = 0
    }

    private let file: any JournalFile
    private let state = Mutex(State())

    package init(_ file: consuming OwnedDescriptor, _ faults: Faults = Faults()) {
        self.file = makePlainFile(file)
        self.faults = faults
    }

    package var faults: Faults {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    package var syncCount: Int { state.withLock { $0.syncCount } }

    package var writeCount: Int { state.withLock { $0.writeCount } }

    package var reserveCount: Int { state.withLock { $0.reserveCount } }

    package func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError) {
        let faults = state.withLock { state in
            state.writeCount += 1
            return state.faults
        }
        guard offset + bytes.count > faults.room else { return try file.write(bytes, at: offset) }
        // As the system does: what fits is written.
        if offset < faults.room {
            try file.write(bytes.extracting(first: faults.room - offset), at: offset)
        }
        throw SystemError(call: "write", code: faults.writeError)
    }

    package func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        guard offset < faults.readableByteCount else { throw SystemError(call: "read", code: EIO) }
        return try file.read(at: offset, into: buffer)
    }

    package func sync() throws(SystemError) {
        let faults = state.withLock { state in
            state.syncCount += 1
            return state.faults
        }
        faults.onSync?()
        if let error = faults.syncError { throw SystemError(call: "fdatasync", code: error) }
        try file.sync()
    }

    package var descriptor: Int32? { faults.descriptor }

    package func reserve(_ byteCount: Int) throws(SystemError) {
        let error = state.withLock { state in
            state.reserveCount += 1
            return state.faults.reserveError
        }
        if let error { throw SystemError(call: "fallocate", code: error) }
        try file.reserve(byteCount)
    }

    package func trim() throws(SystemError) { try file.trim() }

    package func isGone() throws(SystemError) -> Bool { try file.isGone() }
}
