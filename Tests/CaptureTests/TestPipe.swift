// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

@testable import LinuxPlatform

/// A pipe whose writing end a test holds; what is written must fit into the kernel's 64 KiB.
final class TestPipe {
    let readEnd: Int32
    private var writeEnd: Int32

    init() throws {
        (readEnd, writeEnd) = try makePipe()
        // A test that writes too much fails instead of hanging.
        _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
    }

    convenience init(_ bytes: [UInt8]) throws {
        try self.init()
        try write(bytes)
        closeWriteEnd()
    }

    deinit {
        closeWriteEnd()
        close(readEnd)
    }

    func write(_ bytes: [UInt8]) throws {
        let count = try retryingInterrupts("write") { Glibc.write(writeEnd, bytes, bytes.count) }
        guard count == bytes.count else { throw SystemError(call: "write", code: ENOSPC) }
    }

    /// Returns when a reader sees the end of the pipe: a program that another test starts has a copy
    /// of the writing end between its fork and its exec.
    func closeWriteEnd() {
        guard writeEnd >= 0 else { return }
        close(writeEnd)
        writeEnd = -1
        var ends = pollfd(fd: readEnd, events: 0, revents: 0)
        poll(&ends, 1, Int32(Duration.patience.components.seconds) * 1_000)
    }
}
