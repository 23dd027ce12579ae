// SPDX-License-Identifier: Apache-2.0

import LinuxPlatform
import Synchronization

@testable import TakeStore

/// A plain file whose calls fail when a test says so.
final class FailingFile: JournalFile {
    private struct State {
        var syncError: Int32?
        var syncCount = 0
    }

    private let file: PlainFile
    private let state = Mutex(State())

    init(_ file: consuming OwnedDescriptor) { self.file = PlainFile(file) }

    /// What every sync fails with, or nil.
    var syncError: Int32? {
        get { state.withLock { $0.syncError } }
        set { state.withLock { $0.syncError = newValue } }
    }

    /// How often a sync was asked for.
    var syncCount: Int { state.withLock { $0.syncCount } }

    func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError) {
        try file.write(bytes, at: offset)
    }

    func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        try file.read(at: offset, into: buffer)
    }

    func sync() throws(SystemError) {
        let error = state.withLock { state in
            state.syncCount += 1
            return state.syncError
        }
        if let error { throw SystemError(call: "fdatasync", code: error) }
        try file.sync()
    }
}
